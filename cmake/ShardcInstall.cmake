# What `cmake --install` leaves: the program with its schemas and texts; and for other C++ programs the planner, as the
# CMake package `shardc` (cmake/consumer uses it). In a wheel (pyproject.toml) only the program, beside Python's own.
if(SKBUILD)
    install(TARGETS shardc RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
    return()
endif()

install(TARGETS shardc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schemas/*.json)
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/shardc/schemas)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/shardc)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/shardc) # an #include is a path from there, as in the repository
set_target_properties(shard_plans PROPERTIES EXPORT_NAME plans)
set_target_properties(shard_planner PROPERTIES EXPORT_NAME planner)
install(TARGETS shard_plans shard_planner EXPORT shardc
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${headers})
install(EXPORT shardc NAMESPACE shardc:: DESTINATION ${package} FILE shardc-targets.cmake)
install(DIRECTORY plans planner DESTINATION ${headers} FILES_MATCHING PATTERN *.h)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/shard_plans/include/ DESTINATION ${headers})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shardc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/shardc-config.cmake ${PROJECT_BINARY_DIR}/shardc-config-version.cmake DESTINATION ${package})
