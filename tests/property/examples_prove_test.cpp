// Every example's plans equal one device and the independent interpreter, and do what they promise.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "test_paths.h"

using namespace shard;

namespace {

const std::filesystem::path root = std::filesystem::path(SHARDC_SOURCE_DIR) / "examples";

std::string text_of_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

struct Example {
    std::string model;
    std::vector<std::string> layouts;
    int steps = 0; // of training; 0: the forward plan
    bool interpreter = true;
};

const std::vector<Example> small = {
    {"dot_relu_dot/model.yaml",
     {"dot_relu_dot/layout.yaml", "dot_relu_dot/embed_model.yaml", "dot_relu_dot/data_only.yaml"}},
    {"matmul_bias/model.yaml", {"matmul_bias/layout.yaml"}},
    {"weight_gather/model.yaml", {"weight_gather/layout.yaml"}},
    {"logical_constraint/model.yaml", {"logical_constraint/layout.yaml"}},
    {"mlp/mesh_axes.yaml", {"mlp/mesh_only.yaml"}},
    {"mlp/logical_axes.yaml", {"mlp/rules.yaml"}},
    {"layouts/model.yaml", {"layouts/tensor.yaml", "layouts/fsdp.yaml", "layouts/embed_sharded.yaml"}},
};
const std::vector<Example> large = {{"gpt2/model.yaml", {"gpt2/layout.yaml"}}};
const std::vector<Example> manual = {
    {"manual/axis_index/model.yaml", {"manual/axis_index/layout.yaml"}},
    {"manual/data_parallel/automatic.yaml",
     {"manual/data_parallel/automatic_layout.yaml", "manual/fsdp/automatic.yaml"},
     1},
    {"manual/data_parallel/model.yaml", {"manual/data_parallel/layout.yaml"}},
    {"manual/fold_in/model.yaml", {"manual/fold_in/layout.yaml"}},
    {"manual/fsdp/model.yaml", {"manual/fsdp/layout.yaml"}},
    {"manual/matmul_bias/model.yaml", {"manual/matmul_bias/layout.yaml"}},
    // The deviation of two values that are near each other cancels in f32, and not in the interpreter's f64.
    {"manual/parallel_normalize/model.yaml", {"manual/parallel_normalize/layout.yaml"}, 0, false},
    {"manual/ppermute/model.yaml", {"manual/ppermute/layout.yaml"}},
    {"manual/psum_scatter/model.yaml", {"manual/psum_scatter/layout.yaml"}},
    {"manual/ring_matmul/model.yaml", {"manual/ring_matmul/layout.yaml"}},
    {"manual/tanh/model.yaml", {"manual/tanh/layout.yaml"}},
    {"manual/ulysses/model.yaml", {"manual/ulysses/layout.yaml"}},
    {"manual/weight_gather/model.yaml", {"manual/weight_gather/layout.yaml"}},
};
const std::vector<Example> training = {
    {"nnx_guide/model.yaml", {"nnx_guide/layout.yaml", "nnx_guide/data_only.yaml", "nnx_guide/one_device.yaml"}, 2},
    {"nnx_guide/as_printed.yaml", {"nnx_guide/layout.yaml"}, 1},
    {"linen_guide/model.yaml", {"linen_guide/layout.yaml"}, 1},
    {"linen_guide/scanned.yaml", {"linen_guide/scanned_layout.yaml"}, 1},
    {"dp_classifier/model.yaml", {"dp_classifier/layout.yaml", "fsdp_classifier/layout.yaml"}, 2},
    {"tiny_gpt/model.yaml",
     {"tiny_gpt/data.yaml", "tiny_gpt/model_only.yaml", "tiny_gpt/data_model.yaml", "tiny_gpt/fsdp.yaml",
      "tiny_gpt/fsdp_model.yaml"},
     2},
    {"long_context/small.yaml", {"long_context/ring.yaml"}, 1},
    {"zero/model.yaml", {"zero/dp.yaml", "zero/zero1.yaml", "zero/zero2.yaml", "zero/zero3.yaml"}, 2},
};
// Planned only: no machine that runs tests holds them. The READMEs of most make them small, and are proved.
const std::set<std::string> too_large = {"decode/model.yaml",   "deepseek_v3/model.yaml",  "gemma2/model.yaml",
                                         "llama3/model.yaml",   "long_context/model.yaml", "mamba/model.yaml",
                                         "mixtral/model.yaml",  "published/gpt.yaml",      "published/llama.yaml",
                                         "resnet50/model.yaml", "t5/model.yaml",           "vit/model.yaml"};

void check_examples(const std::vector<Example>& examples) {
    for (const Example& example : examples)
        for (const std::string& layout : example.layouts) {
            ProofOptions options;
            options.interpreter = example.interpreter;
            if (example.steps > 0) {
                options.mode = "train";
                options.steps = example.steps;
            }
            const std::vector<std::string> problems =
                prove(text_of_file(root / example.model), text_of_file(root / layout), options);
            CHECK_MESSAGE(problems.empty(),
                          example.model << " with " << layout << ": " << fmt::format("{}", fmt::join(problems, "; ")));
        }
}

} // namespace

TEST_CASE("small examples equal the interpreter on every layout") { check_examples(small); }

TEST_CASE("example gpt2 equals the interpreter at its full size") { check_examples(large); }

TEST_CASE("programs by hand equal the interpreter") { check_examples(manual); }

TEST_CASE("the train steps of the examples equal the interpreter on every layout") { check_examples(training); }

TEST_CASE("no example is left out") {
    std::set<std::string> known = too_large;
    for (const std::vector<Example>* list : {&small, &large, &manual, &training})
        for (const Example& example : *list) known.insert(example.model);
    for (const std::filesystem::directory_entry& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (entry.path().extension() != ".yaml" || text_of_file(entry.path()).find("\nmodel: ") == std::string::npos)
            continue;
        const std::string model = entry.path().lexically_relative(root).generic_string();
        CHECK_MESSAGE(known.count(model) == 1, model);
    }
}
