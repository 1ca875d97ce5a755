# embed_text(<target> <symbol> <glob>)
#
# Adds to <target> a generated .cpp that defines, in namespace shard,
#     std::span<const EmbeddedText> <symbol>();
# with one entry {name, text} for every file that matches the glob, sorted by name. The name is the file's name without
# its last extension: planner/hardware/tpu-v5e.yaml is "tpu-v5e", schemas/model.schema.json is "model.schema". The type
# is in plans/base/embedded.h; a hand-written header of the folder declares the function. Texts are byte arrays, so they may
# be of any length and content, and they are followed by a zero byte that `text` does not count. No match gives an empty
# table. A changed, added or deleted file is picked up by the next build.
function(embed_text target symbol glob)
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${glob})
    list(SORT files)
    set(output ${PROJECT_BINARY_DIR}/generated/${target}/${symbol}.cpp)
    set(list ${PROJECT_BINARY_DIR}/generated/${target}/${symbol}.files)
    # The list is an input too: without it a deleted file would stay in the table. file(CONFIGURE) keeps its time stamp
    # when nothing changed.
    file(CONFIGURE OUTPUT ${list} CONTENT "${files}" @ONLY)
    add_custom_command(OUTPUT ${output}
                       COMMAND ${CMAKE_COMMAND} -DLIST=${list} -DOUTPUT=${output} -DSYMBOL=${symbol}
                               -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake
                       DEPENDS ${files} ${list} ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake
                       COMMENT "Embedding ${glob}" VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
