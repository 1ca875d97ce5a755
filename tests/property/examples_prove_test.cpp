// The plans of the examples equal the independent interpreter too.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>

#include "test_paths.h"

using namespace shard;

namespace {

std::string example(const std::string& path) {
    std::ifstream file(std::string(SHARDC_SOURCE_DIR) + "/examples/" + path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void check_example(const std::string& model, const std::vector<std::string>& layouts) {
    for (const std::string& layout : layouts) {
        const std::vector<std::string> problems = prove(example(model), example(layout));
        CHECK_MESSAGE(problems.empty(),
                      model << " with " << layout << ": " << fmt::format("{}", fmt::join(problems, "; ")));
    }
}

} // namespace

TEST_CASE("example dot_relu_dot equals the interpreter on every layout") {
    check_example("dot_relu_dot/model.yaml",
                  {"dot_relu_dot/layout.yaml", "dot_relu_dot/embed_model.yaml", "dot_relu_dot/data_only.yaml"});
}

TEST_CASE("the notebook's and the guides' small examples equal the interpreter") {
    check_example("matmul_bias/model.yaml", {"matmul_bias/layout.yaml"});
    check_example("weight_gather/model.yaml", {"weight_gather/layout.yaml"});
    check_example("logical_constraint/model.yaml", {"logical_constraint/layout.yaml"});
}

TEST_CASE("example mlp equals the interpreter by mesh axes and by logical axes") {
    check_example("mlp/mesh_axes.yaml", {"mlp/mesh_only.yaml"});
    check_example("mlp/logical_axes.yaml", {"mlp/rules.yaml"});
}

TEST_CASE("example layouts equals the interpreter on every layout") {
    check_example("layouts/model.yaml", {"layouts/tensor.yaml", "layouts/fsdp.yaml", "layouts/embed_sharded.yaml"});
}

TEST_CASE("example gpt2 equals the interpreter at its full size") {
    check_example("gpt2/model.yaml", {"gpt2/layout.yaml"});
}
