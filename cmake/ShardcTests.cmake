# Tests, fuzz targets and benchmarks, all found by name:
#   tests/property/**/*_test.cpp  -> shard_property_tests   random cases, label `property`
#   tests/**/*_test.cpp           -> shard_tests            everything else, label `quick`
#   tests/fuzz/*_fuzz.cpp         -> one executable each    with SHARDC_FUZZ; otherwise they are compiled, and that is all
#   tests/schemas/form_check.cpp                          the readers and the JSON Schemas say the same of files
#   tests/**/*.cpp, any other     -> shard_test_support     helpers that tests share (builders, the interpreter, ...)
#   tests/mpi/*_test.py           -> under mpirun           label `mpi`
#   bench/*.cpp                   -> bench_<stem>           never run by ctest

function(shard_test_executable target label)
    add_executable(${target} tests/main.cpp ${ARGN})
    # Paths reach the tests through a generated header: as a -D they would keep ccache from sharing objects between
    # two checkouts.
    target_link_libraries(${target} PRIVATE shard_test_support)
    add_dependencies(${target} shardc)
    # A doctest filter that matches nothing exits 0, so a test whose name ctest cannot pass on would look green: the
    # expression turns "no case ran" into a failure.
    doctest_discover_tests(${target} PROPERTIES LABELS ${label} TIMEOUT 900 FAIL_REGULAR_EXPRESSION "test cases: +0 ")
endfunction()

if(SHARDC_TESTS)
    enable_testing()
    include(doctest)

    file(GLOB_RECURSE all CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/*.cpp)
    list(SORT all)
    list(REMOVE_ITEM all tests/main.cpp)
    set(support ${all})
    list(FILTER support EXCLUDE REGEX "_test\\.cpp$|^tests/fuzz/|^tests/schemas/")
    set(tests ${all})
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    set(property ${tests})
    list(FILTER property INCLUDE REGEX "^tests/property/")
    list(FILTER tests EXCLUDE REGEX "^tests/property/")
    if(SHARDC_TEST_FOLDERS)
        list(JOIN SHARDC_TEST_FOLDERS "|" folders)
        list(FILTER property INCLUDE REGEX "^tests/(${folders})/")
        list(FILTER tests INCLUDE REGEX "^tests/(${folders})/")
    endif()

    set(paths ${PROJECT_BINARY_DIR}/generated/tests)
    file(GENERATE OUTPUT ${paths}/$<CONFIG>/test_paths.h CONTENT
"// Generated: where tests find the source tree, the program, and a place for files they write.
#pragma once
#define SHARDC_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\"
#define SHARDC_EXECUTABLE \"$<TARGET_FILE:shardc>\"
#define SHARDC_TEST_DIR \"${PROJECT_BINARY_DIR}/test_files\"
")
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/test_files)
    file(CONFIGURE OUTPUT ${paths}/placeholder.cpp CONTENT "namespace shard {}\n")
    add_library(shard_test_support STATIC ${support} ${paths}/placeholder.cpp)
    target_include_directories(shard_test_support PUBLIC ${paths}/$<CONFIG>)
    target_link_libraries(shard_test_support PUBLIC shard_cli shardc_options doctest::doctest rapidcheck
                                                    nlohmann_json::nlohmann_json)

    # What a check takes to compile counts in hundreds of files. They are optimised as the program is: where both have an
    # inline function, the linker takes theirs for both.
    batches(sources shard_tests ${tests})
    shard_test_executable(shard_tests quick ${sources})
    target_compile_definitions(shard_tests PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
    if(property)
        shard_test_executable(shard_property_tests property ${property})
    endif()

    set(install_flags "")
    if(SHARDC_SANITIZE)
        set(install_flags -fsanitize=${SHARDC_SANITIZE}) # who links what was built with it
    endif()
    add_test(NAME "cmake --install gives a working shardc"
             COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DPREFIX=${PROJECT_BINARY_DIR}/test_files/install
                     -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER} -DFLAGS=${install_flags}
                     -P ${PROJECT_SOURCE_DIR}/cmake/CheckInstall.cmake)
    set_tests_properties("cmake --install gives a working shardc" PROPERTIES LABELS quick)

    # Every one defines the function that libFuzzer calls, so that they are in no program together.
    set(fuzz ${all})
    list(FILTER fuzz INCLUDE REGEX "^tests/fuzz/")
    add_library(fuzz_compiles OBJECT ${fuzz})
    target_link_libraries(fuzz_compiles PRIVATE shard_cli shardc_options)

    # Skipped, and said why, where no plugin was built or no mpirun is there.
    find_package(Python3 COMPONENTS Interpreter)
    if(Python3_FOUND)
        foreach(test documented faults options)
            add_test(NAME "mpi: ${test}" COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tests/mpi/${test}_test.py)
            # Alone: ranks that share few cores with other tests would take much longer.
            set_tests_properties("mpi: ${test}" PROPERTIES LABELS mpi ENVIRONMENT SHARDC=$<TARGET_FILE:shardc>
                                 SKIP_RETURN_CODE 77 TIMEOUT 3600 RUN_SERIAL ON)
        endforeach()
    endif()

    add_executable(form_check tests/schemas/form_check.cpp)
    target_link_libraries(form_check PRIVATE shard_cli shardc_options)
    if(Python3_FOUND)
        add_test(NAME "schemas and readers say the same of files"
                 COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/schemas/cross_check.py $<TARGET_FILE:form_check>)
        set_tests_properties("schemas and readers say the same of files"
                             PROPERTIES LABELS quick SKIP_RETURN_CODE 77 TIMEOUT 300)
        add_test(NAME "payloads fit their schemas"
                 COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/schemas/payloads_test.py $<TARGET_FILE:shardc>)
        set_tests_properties("payloads fit their schemas" PROPERTIES LABELS quick SKIP_RETURN_CODE 77)
        add_test(NAME "the Python module says what the program says"
                 COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tests/python/module_test.py)
        add_test(NAME "the action and the hooks check a repository"
                 COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tests/python/ci_kit_test.py)
        set_tests_properties("the Python module says what the program says" "the action and the hooks check a repository"
                             PROPERTIES LABELS quick ENVIRONMENT SHARDC=$<TARGET_FILE:shardc> SKIP_RETURN_CODE 77)
    else()
        message(STATUS "python3 was not found: its module and the schemas are not tested")
    endif()
endif()

if(SHARDC_FUZZ)
    # What the presets build: without libFuzzer the program does not link against objects that count their edges.
    add_custom_target(fuzzers)
    file(GLOB fuzz CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)
    foreach(file IN LISTS fuzz)
        get_filename_component(stem ${file} NAME_WLE)
        add_executable(${stem} ${file} tests/support/mutate_kernels.cpp tests/support/mutate_plan.cpp)
        target_link_libraries(${stem} PRIVATE shard_cli shardc_options shardc_allocator)
        target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
        add_dependencies(fuzzers ${stem})
    endforeach()
endif()

file(GLOB benches CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
if(SHARDC_BENCH AND benches AND benchmark_FOUND)
    foreach(file IN LISTS benches)
        get_filename_component(stem ${file} NAME_WLE)
        add_executable(bench_${stem} ${file})
        target_link_libraries(bench_${stem} PRIVATE shard_cli shardc_options shardc_openblas benchmark::benchmark)
    endforeach()
endif()
