# What `cmake --install` leaves: the program with its schemas and texts; and for other C++ programs the planner, as the
# CMake package `shardc` (cmake/consumer uses it). In a wheel (pyproject.toml) only the program, beside Python's own.
if(SKBUILD)
    install(TARGETS shardc RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
    return()
endif()

# The component `program` is what packages hold (ShardcPackage), the rest is for those who build on it.
install(TARGETS shardc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
if(SHARDC_MPI_PLUGINS)
    # Not in packages, which would depend on both libraries.
    install(TARGETS ${SHARDC_MPI_PLUGINS} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/shardc COMPONENT mpi)
endif()
file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schemas/*.json)
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/shardc/schemas COMPONENT program)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# Completions, where the shells of Debian look for them, and manual pages, as the program writes them.
foreach(completion bash:bash-completion/completions/shardc zsh:zsh/vendor-completions/_shardc
                   fish:fish/vendor_completions.d/shardc.fish)
    string(REPLACE ":" ";" completion ${completion})
    list(GET completion 0 shell)
    list(GET completion 1 file)
    install(CODE "set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${file}\")
get_filename_component(folder \"\${file}\" DIRECTORY)
file(MAKE_DIRECTORY \"\${folder}\")
execute_process(COMMAND \"$<TARGET_FILE:shardc>\" completion ${shell} OUTPUT_FILE \"\${file}\" RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR \"shardc completion ${shell}: \${failed}\")
endif()" COMPONENT program)
endforeach()
install(CODE "execute_process(COMMAND \"$<TARGET_FILE:shardc>\" man --folder
                \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\" RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR \"shardc man: \${failed}\")
endif()" COMPONENT program)

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
