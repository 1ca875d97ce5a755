# batches(<out> <name> <file>... [REGISTERED <kind>])
#
# Sets <out> to the sources to compile in place of the files: with SHARDC_BATCH=0 the files themselves, otherwise
# generated files that include SHARDC_BATCH of them each, so that a header is read once for them all. Most of the time
# that a small file takes to compile goes into its headers.
#
# Only for files that define nothing for others to link, such as tests: each is included in a namespace of its own, in
# which shard is found as everywhere, so files may use the same names for their own things. The headers of a batch are
# included before, outside these namespaces. With REGISTERED each file defines one function for others, of the name that
# one_file_registry gives it; it is handed out.
function(batches out name)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "REGISTERED" "")
    set(files ${arg_UNPARSED_ARGUMENTS})
    if(SHARDC_BATCH LESS 2)
        set(${out} ${files} PARENT_SCOPE)
        return()
    endif()
    set(script ${PROJECT_SOURCE_DIR}/cmake/BatchScript.cmake)
    set(sources "")
    set(batch "")
    list(LENGTH files left)
    foreach(file IN LISTS files)
        list(APPEND batch ${file})
        math(EXPR left "${left} - 1")
        list(LENGTH batch size)
        if(size EQUAL SHARDC_BATCH OR left EQUAL 0)
            list(LENGTH sources number)
            set(output ${PROJECT_BINARY_DIR}/generated/${name}/batch_${number}.cpp)
            set(list ${PROJECT_BINARY_DIR}/generated/${name}/batch_${number}.files)
            file(CONFIGURE OUTPUT ${list} CONTENT "${batch}" @ONLY)
            add_custom_command(OUTPUT ${output} COMMAND ${CMAKE_COMMAND} -DLIST=${list} -DROOT=${PROJECT_SOURCE_DIR}
                                                        -DOUTPUT=${output} -DKIND=${arg_REGISTERED} -P ${script}
                               DEPENDS ${batch} ${list} ${script} COMMENT "Batch ${number} of ${name}" VERBATIM)
            list(APPEND sources ${output})
            set(batch "")
        endif()
    endforeach()
    set(${out} ${sources} PARENT_SCOPE)
endfunction()
