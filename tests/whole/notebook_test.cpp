// The notebook's shard_map examples: the numbers that it prints, and every plan proved.
#include "executor/formats/tensor.h"
#include "test_paths.h"
#include "tests/support/prove.h"

#include "plans/disk/file.h"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>

namespace shard {

namespace {

struct Example {
    Sources sources;
    PlanRequest request;
    Compilation compilation;
};

void read_example(const std::string& name, Example& example, bool interpreter = true) {
    const std::string folder = SHARDC_SOURCE_DIR "/examples/manual/" + name;
    std::string problem;
    const std::optional<std::string> model = read_file(folder + "/model.yaml", problem);
    const std::optional<std::string> layout = read_file(folder + "/layout.yaml", problem);
    REQUIRE(model.has_value());
    REQUIRE(layout.has_value());
    example.request.model_file = example.sources.add("model.yaml", *model);
    example.request.layout_file = example.sources.add("layout.yaml", *layout);
    example.compilation = compile(example.sources, example.request);
    INFO(text_of(example.sources, example.compilation.diagnostics));
    REQUIRE(example.compilation.plan.has_value());
    ProofOptions options;
    options.interpreter = interpreter;
    CHECK(prove(example.sources, example.request, example.compilation, options) == std::vector<std::string>{});
}

template<typename T>
std::vector<T> output_of(const Example& example, const std::string& output) {
    Diagnostics diagnostics;
    const std::optional<RunResult> result = run_plan(*example.compilation.plan, {}, diagnostics);
    REQUIRE(result.has_value());
    const Tensor& tensor = result->outputs.at(output);
    std::vector<T> values(static_cast<size_t>(tensor.type.elements()));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

std::vector<std::string> kinds_of(const Example& example) {
    std::vector<std::string> kinds;
    for (const CollectiveReport& collective : example.compilation.plan->report.collectives)
        kinds.emplace_back(collective.kind);
    return kinds;
}

using Kinds = std::vector<std::string>;

} // namespace

TEST_CASE("tanh of a sharded array is computed where its blocks are") {
    Example example;
    read_example("tanh", example);
    CHECK(kinds_of(example) == Kinds{});
    const std::vector<float> out = output_of<float>(example, "out");
    for (size_t n = 0; n < 8; ++n)
        CHECK(static_cast<double>(out[n]) == doctest::Approx(std::tanh(static_cast<double>(n))));
}

TEST_CASE("matmul and bias see local shapes and send nothing") {
    Example example;
    read_example("matmul_bias", example);
    CHECK(kinds_of(example) == Kinds{});
    const Graph& graph = *example.compilation.graph;
    CHECK(graph.value(*find_value(graph, "y.x")).type.shape == Shape{48, 64});
    CHECK(graph.value(*find_value(graph, "y.w")).type.shape == Shape{64, 64});
    CHECK(graph.value(*find_value(graph, "y.b")).type.shape == Shape{64});
    // as jax 0.10 computes it
    const std::vector<float> out = output_of<float>(example, "y");
    CHECK(static_cast<double>(out[0]) == doctest::Approx(-11.349659).epsilon(1e-6));
    CHECK(static_cast<double>(out[1]) == doctest::Approx(-7.143071).epsilon(1e-6));
    CHECK(static_cast<double>(out[2]) == doctest::Approx(-0.1303205).epsilon(1e-5));
}

TEST_CASE("parallel_normalize pairs columns over j: mean 0, deviation 1") {
    Example example;
    read_example("parallel_normalize", example, false); // f64 rounds otherwise where two numbers are nearly equal
    CHECK(kinds_of(example)[0] == "all_reduce");
    CHECK(kinds_of(example)[1] == "all_reduce");
    CHECK(std::abs(output_of<float>(example, "mean")[0]) < 1e-6F);
    CHECK(static_cast<double>(output_of<float>(example, "std")[0]) == doctest::Approx(1).epsilon(1e-6));
    // Of two numbers that are normalized together, one is 1 and the other -1.
    const std::vector<float> out = output_of<float>(example, "out");
    for (size_t column : {0, 5, 31})
        CHECK(static_cast<double>(out[column] + out[column + 32]) == doctest::Approx(0).epsilon(1e-3));
}

TEST_CASE("a weight is gathered before it is used") {
    Example example;
    read_example("weight_gather", example);
    CHECK(kinds_of(example) == Kinds{"all_gather"});
    const Graph& graph = *example.compilation.graph;
    CHECK(graph.value(*find_value(graph, "y.w")).type.shape == Shape{16, 128});
    CHECK(graph.value(*find_value(graph, "y.w_gathered")).type.shape == Shape{64, 128});
}

TEST_CASE("psum_scatter gives [22 20 12 17]") {
    Example example;
    read_example("psum_scatter", example);
    CHECK(kinds_of(example) == Kinds{"reduce_scatter"});
    CHECK(output_of<std::int32_t>(example, "out") == std::vector<std::int32_t>{22, 20, 12, 17});
}

TEST_CASE("ppermute gives [3 0 1 2]") {
    Example example;
    read_example("ppermute", example);
    CHECK(kinds_of(example) == Kinds{"collective_permute"});
    CHECK(output_of<std::int32_t>(example, "out") == std::vector<std::int32_t>{3, 0, 1, 2});
}

TEST_CASE("axis_index of device d on a mesh of 4 x 2 is d / 2 and d % 2") {
    Example example;
    read_example("axis_index", example);
    const std::vector<std::int32_t> out = output_of<std::int32_t>(example, "out");
    for (size_t device = 0; device < 8; ++device) {
        CHECK(out[2 * device] == static_cast<std::int32_t>(device / 2));
        CHECK(out[2 * device + 1] == static_cast<std::int32_t>(device % 2));
    }
}

TEST_CASE("a key that is folded over an axis is the notebook's on every device") {
    Example example;
    read_example("fold_in", example);
    const std::vector<std::uint32_t> out = output_of<std::uint32_t>(example, "out");
    const std::uint32_t keys[][2] = {
        {1797259609, 2579123966}, {928981903, 3453687069}, {4146024105, 2718843009}, {2467461003, 3840466878}};
    REQUIRE(out.size() == 16);
    for (size_t device = 0; device < 8; ++device)
        for (size_t word : {0, 1}) CHECK(out[2 * device + word] == keys[device / 2][word]);
}

} // namespace shard
