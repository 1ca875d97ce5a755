// Train steps that others measured, planned at their real sizes: docs/published-runs.md has a row for each, which must
// say what is predicted here.
#include "tests/support/memory_files.h"

#include "plans/base/units.h"
#include "plans/json/json_tree.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "test_paths.h"

using namespace shard;

namespace {

struct Run {
    std::string name;  // as in the document
    std::string files; // model and layout
    std::string set;   // --set, each
    double seconds;    // of a step, published
    double tolerance;  // the predicted step is at most so far from it
};

constexpr std::string_view gpt = "examples/published/gpt.yaml examples/published/layouts/fsdp.yaml";
constexpr std::string_view llama = "examples/published/llama.yaml examples/published/layouts/fsdp.yaml";
constexpr std::string_view megatron = "examples/published/gpt.yaml examples/published/layouts/megatron.yaml";

// llm-foundry publishes tokens a second, of sequences of 2,048.
Run mpt(const std::string& size, const std::string& gpu, int devices, int batch, int microbatches, double tokens,
        double tolerance, const std::string& dims, const std::string& remat = "none") {
    return {fmt::format("MPT {}, {} {}", size, devices, gpu), std::string(gpt),
            fmt::format("{} batch={} train.microbatches={} remat={} mesh.data={} hardware={}", dims, batch,
                        microbatches, remat, devices, gpu == "A100" ? "a100" : "h100"),
            batch * 2048.0 / tokens, tolerance};
}

const std::string mpt1 = "layers=24 embed=2048 heads=16", mpt3 = "layers=32 embed=2560 heads=20",
                  mpt7 = "layers=32 embed=4096 heads=32", mpt13 = "layers=40 embed=5120 heads=40",
                  mpt30 = "layers=48 embed=7168 heads=56", mpt70 = "layers=80 embed=8192 heads=64";

// MaxText publishes FLOP/s a chip, and counts FLOPs so: 6 a parameter of a matrix and token, 12 a pair of positions and
// element of the heads, also of pairs that do not see each other.
Run maxtext(const std::string& size, double embed, double layers, double batch, double flops_per_second) {
    const double heads = 64 * 256, tokens = batch * 2048;
    const double weights = layers * (4 * embed * heads + 3 * embed * 28672) + embed * 32000;
    const double flops = 6 * tokens * weights + 12 * tokens * 2048 * heads * layers;
    return {fmt::format("MaxText {}, 256 TPU v5e", size), std::string(llama),
            fmt::format("layers={} embed={} batch={} mesh.data=256 hardware=tpu-v5e", layers, embed, batch * 256),
            flops / flops_per_second, 0.15};
}

Run gpt22(const std::string& name, double seconds, const std::string& remat) {
    return {
        "Megatron-LM 22B, 8 A100, " + name, std::string(megatron),
        "layers=48 embed=6144 heads=64 kv=96 vocab=51200 batch=4 dropout=0.1 attention_dropout=0.1 drops=true remat=" +
            remat,
        seconds, 0.15};
}

std::vector<Run> runs() {
    return {
        mpt("1B", "A100", 8, 448, 4, 164109, 0.15, mpt1),
        mpt("3B", "A100", 8, 160, 2, 86491, 0.15, mpt3),
        mpt("7B", "A100", 8, 96, 2, 37130, 0.15, mpt7),
        mpt("13B", "A100", 8, 48, 3, 18097, 0.15, mpt13),
        mpt("70B", "A100", 64, 2048, 4, 26274, 0.15, mpt70, "full"),
        mpt("7B", "H100", 8, 48, 1, 85144, 0.15, mpt7),
        mpt("13B", "H100", 64, 128, 1, 307209, 0.25, mpt13),
        mpt("30B", "H100", 32, 1344, 3, 73860, 0.15, mpt30, "full"),
        mpt("70B", "H100", 64, 2048, 4, 66523, 0.15, mpt70, "full"),
        gpt22("full recompute", 1.42, "full"),
        gpt22("sequence parallel, selective recompute", 1.10, "none"),
        maxtext("16B", 4096, 32, 6, 120e12),
        maxtext("32B", 8192, 32, 4, 132e12),
        maxtext("64B", 8192, 64, 2, 118e12),
    };
}

double predicted_seconds(const Run& run) {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    std::string line = "shardc plan " + run.files + " --mode train --quick --format json";
    for (size_t at = 0; at < run.set.size();) {
        const size_t end = std::min(run.set.find(' ', at), run.set.size());
        line += " --set " + run.set.substr(at, end - at);
        at = end + 1;
    }
    const CommandResult result = run_command(files, line);
    REQUIRE_MESSAGE(result.code == 0, line, "\n", result.err);
    const JsonParse parsed = parse_json(result.out);
    REQUIRE(parsed.ok);
    const Json* const time = parsed.root.find("time");
    REQUIRE(time != nullptr);
    const Json* const seconds = time->find("step_seconds");
    REQUIRE(seconds != nullptr);
    return std::get<double>(seconds->value);
}

} // namespace

TEST_CASE("published train steps: what is predicted, and that the document says so") {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    std::string error;
    const std::string document = files.read("docs/published-runs.md", error).value_or("");
    for (const Run& run : runs()) {
        CAPTURE(run.name);
        const double seconds = predicted_seconds(run), ratio = seconds / run.seconds;
        const std::string row = fmt::format("| {} | {} | {} | {:.2f} |", run.name, human_seconds(run.seconds),
                                            human_seconds(seconds), ratio);
        CHECK_MESSAGE(document.find(row) != std::string::npos, "the document lacks: ", row);
        CHECK(std::abs(ratio - 1) <= run.tolerance);
    }
}
