# What is handed out (scripts/package): a Debian package, and a folder that brings its libraries. Both hold the component
# `program`.

# Libraries beside the program come first, and OpenBLAS, which is loaded while it runs, finds its own there too: that is
# what the older of the two tags does. The program has it from the beginning: in the place of a path that is set when it is
# installed CMake leaves an empty one, and the loader takes that for the folder that it is run in.
set_target_properties(shardc PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/shardc" BUILD_WITH_INSTALL_RPATH ON)
target_link_options(shardc PRIVATE LINKER:--disable-new-dtags)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME shardc)
set(CPACK_PACKAGE_CONTACT "the developers of shardc <shardc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "Plans how a model's arrays are split over a mesh of devices, which collectives that
takes and what they cost, checks plans in CI and proves them by running them.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas0-pthread) # loaded while it runs
include(CPack)
