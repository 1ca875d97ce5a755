# Third-party libraries, each found once. Which folder may include which is checked by tests/structure.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 REQUIRED)

# OpenBLAS, the pthread build and no other: the serial build answers wrongly when several threads call it, the OpenMP
# build starves under std::thread callers. All builds share one soname, so the loader would take whichever the
# machine's alternatives point to: executor/kernels/blas.cpp looks in the folder that is found here first.
find_path(SHARDC_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread openblas-pthread openblas
          PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} NO_CMAKE_SYSTEM_PATH)
find_library(SHARDC_OPENBLAS_LIBRARY openblas PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread NO_DEFAULT_PATH)
if(NOT SHARDC_OPENBLAS_LIBRARY)
    find_library(SHARDC_OPENBLAS_LIBRARY openblas)
endif()
if(NOT SHARDC_OPENBLAS_INCLUDE OR NOT SHARDC_OPENBLAS_LIBRARY)
    message(FATAL_ERROR "OpenBLAS (pthread build) was not found: run scripts/setup, or install libopenblas-pthread-dev")
endif()
mark_as_advanced(SHARDC_OPENBLAS_INCLUDE SHARDC_OPENBLAS_LIBRARY)
# For bench/ alone, which compares with it.
add_library(shardc_openblas UNKNOWN IMPORTED)
set_target_properties(shardc_openblas PROPERTIES IMPORTED_LOCATION ${SHARDC_OPENBLAS_LIBRARY}
                                                 INTERFACE_INCLUDE_DIRECTORIES ${SHARDC_OPENBLAS_INCLUDE})

# Planning allocates many small things: with jemalloc it takes about two thirds of the time that it takes with glibc's
# malloc. mimalloc is as fast, but Debian's ends the process where operator new has to throw. Linked into the program
# and the fuzz targets alone, and not with a sanitizer that has its own.
find_library(SHARDC_JEMALLOC NAMES libjemalloc_pic.a jemalloc)
mark_as_advanced(SHARDC_JEMALLOC)
add_library(shardc_allocator INTERFACE)
if(SHARDC_JEMALLOC AND NOT SHARDC_SANITIZE MATCHES "address|thread")
    target_link_libraries(shardc_allocator INTERFACE ${SHARDC_JEMALLOC} Threads::Threads ${CMAKE_DL_LIBS} m)
endif()

if(SHARDC_TESTS)
    find_package(doctest REQUIRED)
    find_package(rapidcheck REQUIRED)
endif()
if(SHARDC_BENCH)
    find_package(benchmark QUIET)
endif()
