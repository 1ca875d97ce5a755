# Installs the build into an empty folder, runs the installed program, and builds and runs a project over the installed
# package: run by ctest with BUILD, PREFIX, GENERATOR and COMPILER.
cmake_policy(VERSION 3.22)
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "installing failed")
endif()
execute_process(COMMAND ${PREFIX}/bin/shardc list ops OUTPUT_VARIABLE ops RESULT_VARIABLE failed)
if(failed OR NOT ops MATCHES "einsum")
    message(FATAL_ERROR "the installed shardc does not list its ops: ${ops}")
endif()
foreach(file share/shardc/schemas/plan.schema.json share/doc/shardc/LICENSE share/doc/shardc/README.md
             share/bash-completion/completions/shardc share/zsh/vendor-completions/_shardc
             share/fish/vendor_completions.d/shardc.fish share/man/man1/shardc.1 share/man/man1/shardc-plan.1)
    if(NOT EXISTS ${PREFIX}/${file})
        message(FATAL_ERROR "not installed: ${file}")
    endif()
endforeach()

set(consumer ${PREFIX}/consumer)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${consumer} -G ${GENERATOR}
                        -DCMAKE_PREFIX_PATH=${PREFIX} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS}
                OUTPUT_QUIET RESULT_VARIABLE failed)
if(NOT failed)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${consumer} OUTPUT_VARIABLE said RESULT_VARIABLE failed)
endif()
if(failed)
    message(FATAL_ERROR "a project that finds the package does not build: ${said}")
endif()
execute_process(COMMAND ${consumer}/consumer OUTPUT_VARIABLE sent)
# An all_reduce over 4 devices of 8 x 4 numbers of 4 bytes: 2 * 3/4 * 128.
if(NOT sent STREQUAL "y sends 192 B\n")
    message(FATAL_ERROR "the planner in another program says: ${sent}")
endif()
