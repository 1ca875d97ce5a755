# Compiler settings, carried by the interface target shardc_options that every target of the project links.

option(SHARDC_WERROR "Treat compiler warnings as errors" OFF)
option(SHARDC_TESTS "Build the tests" ON)
option(SHARDC_FUZZ "Build the fuzz targets (clang only)" OFF)
option(SHARDC_BENCH "Build the benchmarks when Google Benchmark is found" ON)
set(SHARDC_TEST_FOLDERS "" CACHE STRING "Build only the tests in these folders of tests/, e.g. planner/ops;whole; empty: all")
set(SHARDC_BATCH 0 CACHE STRING "How many small files to compile as one (see cmake/Batches.cmake); 0: each by itself")
set(SHARDC_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(SHARDC_CCACHE ccache)
mark_as_advanced(SHARDC_CCACHE)
if(SHARDC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${SHARDC_CCACHE})
endif()

add_library(shardc_options INTERFACE)
target_include_directories(shardc_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(shardc_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
# g++ 12 optimises its way to false alarms in library headers: gcc bug 105329 (-Wrestrict on assigning a short literal to
# a std::string; fixed in 13), fmt's issue 2989 (-Wstringop-overflow in fmt::detail::fill_t at -O3; gone in 13), and those of the
# family of gcc bug 80635 (-Wmaybe-uninitialized on the alternatives that a std::variant does not hold).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(shardc_options INTERFACE
                           "$<$<CONFIG:Release,RelWithDebInfo>:-Wno-restrict;-Wno-stringop-overflow;-Wno-maybe-uninitialized>")
endif()
if(SHARDC_WERROR)
    target_compile_options(shardc_options INTERFACE -Werror)
endif()
if(SHARDC_SANITIZE)
    target_compile_options(shardc_options INTERFACE -fsanitize=${SHARDC_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=all)
    target_link_options(shardc_options INTERFACE -fsanitize=${SHARDC_SANITIZE})
endif()
if(SHARDC_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "SHARDC_FUZZ needs clang: use the preset `fuzz`")
    endif()
    target_compile_options(shardc_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# shard_library(<target> <folder> [EXCLUDE <file>...]): a static library of every .cpp below the folder.
# A folder may still hold headers only: the generated file keeps the archive valid.
function(shard_library target folder)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EXCLUDE")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    if(arg_EXCLUDE)
        list(REMOVE_ITEM sources ${arg_EXCLUDE})
    endif()
    list(SORT sources)
    set(placeholder ${PROJECT_BINARY_DIR}/generated/${target}/placeholder.cpp)
    file(CONFIGURE OUTPUT ${placeholder} CONTENT "// Keeps a library of headers linkable.\nnamespace shard {}\n")
    add_library(${target} STATIC ${sources} ${placeholder})
    # Warnings and the include root are those of this build; who uses an installed library has its own.
    target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:shardc_options>)
    target_compile_features(${target} PUBLIC cxx_std_20)
endfunction()
