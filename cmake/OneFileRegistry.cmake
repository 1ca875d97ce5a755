# one_file_registry(<target> <kind> <folder>)
#
# Generates <kind>_registry.inc, on the include path of <target> (and of what links it), with one line for every
# <folder>/*.cpp, sorted by name:
#     REGISTER(add)
#     REGISTER(dot)
# A file <stem>.cpp defines the function   const <Kind>Def& <kind>_<stem>();   and a hand-written file of
# another folder turns the list into a table:
#     #define REGISTER(stem) const OpDef& op_##stem();
#     #include "op_registry.inc"
#     #undef REGISTER
#     ...
#     #define REGISTER(stem) &op_##stem(),
#     static const OpDef* const table[] = {
#     #include "op_registry.inc"
#     };
#     #undef REGISTER
# A file whose function does not carry the file's name fails at link time. Every .cpp of the folder is registered, so
# helpers shared by several of them live in another (planner/ops_support, say). The folder may be missing or empty: the
# list is then empty. (Static initialisers are not used because a linker drops them from static libraries.)
#
# Where each file is a header, <folder>/*.h are listed in the same way, and <kind>_headers.inc includes them all.
function(one_file_registry target kind folder)
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp ${PROJECT_SOURCE_DIR}/${folder}/*.h)
    set(stems "")
    set(headers "// Generated from the files in ${folder}/.\n")
    foreach(file IN LISTS files)
        get_filename_component(stem ${file} NAME_WLE)
        list(APPEND stems ${stem})
        if(file MATCHES "\\.h$")
            string(APPEND headers "#include \"${folder}/${stem}.h\"\n")
        endif()
    endforeach()
    if(SHARDC_BATCH GREATER 1)
        set(sources ${files})
        list(FILTER sources INCLUDE REGEX "\\.cpp$")
        list(TRANSFORM sources REPLACE "^${PROJECT_SOURCE_DIR}/" "")
        set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
        batches(batched ${target}/${kind} ${sources} REGISTERED ${kind})
        target_sources(${target} PRIVATE ${batched})
    endif()
    list(SORT stems)
    set(text "// Generated from the files in ${folder}/.\n")
    foreach(stem IN LISTS stems)
        string(APPEND text "REGISTER(${stem})\n")
    endforeach()
    set(directory ${PROJECT_BINARY_DIR}/generated/${target}/include)
    file(CONFIGURE OUTPUT ${directory}/${kind}_registry.inc CONTENT "${text}" @ONLY)
    if(headers MATCHES "#include")
        file(CONFIGURE OUTPUT ${directory}/${kind}_headers.inc CONTENT "${headers}" @ONLY)
    endif()
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${directory}>)
endfunction()
