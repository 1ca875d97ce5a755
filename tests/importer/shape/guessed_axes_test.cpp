// Dims of arguments are called after their use, so that rules of a layout apply to an imported program.
#include "importer/program/import_program.h"
#include "plans/disk/file.h"

#include <doctest/doctest.h>

#include "test_paths.h"

using namespace shard;

namespace {

std::string recorded(const std::string& name) {
    std::string problem;
    Sources sources;
    const int file = sources.add(
        "program.mlir",
        read_file(SHARDC_SOURCE_DIR "/tests/importer/program/programs/" + name + ".mlir", problem).value_or(""));
    Diagnostics diagnostics;
    const ImportRequest request = {[](const std::string& path) { return path.starts_with("params."); }};
    const std::optional<ImportedProgram> program = import_program(sources, file, request, diagnostics);
    REQUIRE(program.has_value());
    return program->model;
}

} // namespace

TEST_CASE("a language model has batch, length, vocab, embed, heads, kv and mlp, scanned or not") {
    for (const std::string name : {"flax_gpt", "flax_scanned_gpt"}) {
        const std::string model = recorded(name);
        CAPTURE(model);
        for (const char* part :
             {"axes: {batch: 4, length: 4, vocab: 16, embed: 8, heads: 2, kv: 4, mlp: 32}\n",
              "batch_tokens: {axes: [batch, length], dtype: i32}", "Embed_0_embedding: {axes: [vocab, embed]}",
              "query_kernel: {axes: [embed, heads, kv]}", "out_kernel: {axes: [heads, kv, embed]}",
              "up_bias: {axes: [mlp]}", "down_kernel: {axes: [mlp, embed]}", "LayerNorm_0_scale: {axes: [embed]}"})
            CHECK_MESSAGE(model.find(part) != std::string::npos, part);
    }
}

TEST_CASE("a program that looks nothing up in a parameter has no names") {
    CHECK(recorded("mlp_loss").find("axes:") == std::string::npos);
    CHECK(recorded("order").find("axes:") == std::string::npos);
}
