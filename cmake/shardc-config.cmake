# find_package(shardc) gives shardc::planner, model and layout to plan, and shardc::plans, what a plan is.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(ZLIB)
find_dependency(yaml-cpp)
find_dependency(Boost 1.74)
include(${CMAKE_CURRENT_LIST_DIR}/shardc-targets.cmake)
