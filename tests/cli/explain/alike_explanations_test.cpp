// Layers that are written out, as those of a program whose names have numbers, are explained once.
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

// Of a model of `layers` layers, without `repeat`; the last has a constraint of its own.
std::string explained(int layers, const std::string& words) {
    std::string params, graph = "  - h: {dot: [x, Block_0_kernel]}\n";
    for (int i = 0; i < layers; ++i) params += fmt::format("  Block_{}_kernel: {{axes: [embed, out]}}\n", i);
    for (int i = 1; i < layers; ++i)
        graph +=
            fmt::format("  - h_{}: {{dot: [{}, Block_{}_kernel]}}\n", i + 1, i == 1 ? "h" : fmt::format("h_{}", i), i);
    MemoryFiles files;
    files.files["m.yaml"] = fmt::format("model: m\naxes: {{batch: 8, embed: 16, out: 16}}\ninputs:\n"
                                        "  x: {{axes: [batch, embed]}}\nparams:\n{}graph:\n{}outputs: [h_{}]\n",
                                        params, graph, layers);
    files.files["l.yaml"] = "mesh: {axis_0: 2, axis_1: 2}\nrules: [{batch: axis_0}, {out: axis_1}]\n"
                            "params: {Block_1_kernel: [~, axis_0]}\n";
    const CommandResult result = run_command(files, "explain m.yaml l.yaml " + words);
    CHECK(result.code == 0);
    return result.out;
}

size_t count(const std::string& text, const std::string& word) {
    size_t found = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
}

} // namespace

TEST_CASE("layers whose names have numbers are explained once, but for one that is cut otherwise") {
    const std::string text = explained(6, "Block_*_kernel");
    CHECK(count(text, "Why this sharding") == 2);
    CHECK(text.find("Block_0_kernel, Block_2_kernel, Block_3_kernel and 2 more  param") == 0);
    CHECK(text.find("  5 are alike; what follows is of Block_0_kernel\n") != std::string::npos);
    // Over the other axis, though that is called the same but for a number.
    CHECK(text.find("\nBlock_1_kernel  param  f32 (embed 16, out 16)  [- | axis_0]") != std::string::npos);
    const std::string both = explained(2, "Block_0_kernel Block_1_kernel");
    CHECK(count(both, "Why this sharding") == 2);
    CHECK(count(both, "alike") == 0);
}
