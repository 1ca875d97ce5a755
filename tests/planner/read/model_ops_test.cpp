#include "tests/support/reading.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const std::string dot_relu_dot = R"(model: dot_relu_dot
axes: {batch: 8, embed: 1024, hidden: 1024}
rng: {seed: 3, partitionable: false, keys: linen}
inputs:
  x: {axes: [batch, embed]}
params:
  w1: {axes: [embed, hidden], init: lecun_normal, dtype: bf16}
  w2: {shape: [1024, embed], mesh: ["model?", ~], init: {normal: {stddev: 0.02}, key: 7}}
graph:
  - h: {dot: [x, w1]}
  - a: {relu: h}
  - a: {constrain: a, axes: [batch, hidden]}
  - z: {dot: [a, w2]}
outputs: [z]
)";

std::string entry(const std::string& text) { return "model: m\ngraph: [" + text + "]\noutputs: [x]\n"; }

} // namespace

TEST_CASE("the parts of a model and their places") {
    const Model model = model_of(dot_relu_dot);
    CHECK(model.name.text == "dot_relu_dot");
    CHECK(model.seed == 3);
    CHECK_FALSE(model.partitionable);
    CHECK(model.keys == KeyScheme::linen);
    REQUIRE(model.axes.size() == 3);
    CHECK(model.find_axis("embed")->size == 1024);
    CHECK(model.find_axis("none") == nullptr);

    REQUIRE(model.inputs.size() == 1);
    CHECK(model.inputs[0].array.shape == Shape{8, 1024});
    CHECK(model.inputs[0].array.logical == std::vector<std::string>{"batch", "embed"});
    CHECK(model.inputs[0].array.has_axes);
    CHECK(model.inputs[0].init.name.empty());

    REQUIRE(model.params.size() == 2);
    CHECK(model.params[0].array.dtype == DType::bf16);
    CHECK(model.params[0].init.name == "lecun_normal");
    CHECK(model.params[0].array.name.span == Span{0, 7, 3, 2});
    const TensorDecl& w2 = model.params[1];
    CHECK_FALSE(w2.array.has_axes);
    CHECK(w2.array.shape == Shape{1024, 1024});
    CHECK(w2.array.logical == std::vector<std::string>{"", ""});
    REQUIRE(w2.array.mesh.has_value());
    REQUIRE(w2.array.mesh->dims.size() == 2);
    CHECK(w2.array.mesh->dims[0].axes == std::vector<std::string>{"model"});
    CHECK(w2.array.mesh->dims[0].open);
    CHECK(w2.array.mesh->dims[1].axes.empty());
    CHECK_FALSE(w2.array.mesh->dims[1].open);
    CHECK(w2.init.name == "normal");
    CHECK(w2.init.key == std::vector<i64>{7});
    CHECK(w2.init.arguments.find("stddev")->scalar()->text == "0.02");

    REQUIRE(model.graph.size() == 4);
    CHECK(model.graph[0].op.text == "dot");
    CHECK(model.graph[0].op.span == Span{0, 10, 9, 3});
    REQUIRE(model.graph[0].operands.size() == 2);
    CHECK(model.graph[0].operands[1].span == Span{0, 10, 18, 2});
    CHECK(model.graph[1].operands[0].text == "h");
    CHECK(model.graph[2].arguments[0].key == "axes");
    CHECK(model.graph[2].results[0].text == "a");
    CHECK(model.outputs[0].text == "z");
}

TEST_CASE("ops of the registry are known, two of them in one entry are not") {
    CHECK(model_problems(entry("{x: {dot: [x, x]}}")) == "");
    CHECK(model_problems(entry("{x: {relu: [x, [y]]}}")) ==
          "E0113 2:24+1 an operand: expected a name, found a list\n  help write one list of names: [x, w]\n");
    CHECK(model_problems(entry("{x: {softmax: {dim: 1}}}")) ==
          "E0212 2:23+1 operands of 'softmax': expected names, found a map\n"
          "  help write arguments beside the op: {op: [operands], argument: value}\n");
    CHECK(model_problems(entry("{x: {dot: [x, x], relu: x}}")) ==
          "E0212 2:27+4 'x' has two ops, 'dot' and 'relu'\n  label 2:14+3 the other one\n  help write one entry per "
          "op\n");
    CHECK(model_problems(entry("{x: {dott: [x, x]}}")) ==
          "E0203 2:14+4 unknown op 'dott'\n  help did you mean 'dot'?\n");
    CHECK(
        model_problems("model: m\nmodules: {relu: {inputs: [], graph: [], outputs: [x]}}\ngraph: []\noutputs: [x]\n") ==
        "E0216 2:11+4 the module 'relu' has the name of an op\n  help give it another name\n");
}

TEST_CASE("an op in place of an operand is an entry before it") {
    const Model model =
        model_of(entry("{y: {add: [{relu: {dot: [x, w]}}, {relu: {dot: [x, {neg: w}]}}, {mul: [z, 2]}]}}"));
    std::vector<std::string> written;
    for (const Entry& e : model.graph) {
        written.push_back(e.results[0].text + " = " + e.op.text);
        for (const Name& operand : e.operands) written.back() += " " + operand.text;
    }
    CHECK(written == std::vector<std::string>{"y.relu.dot = dot x w", "y.relu = relu y.relu.dot",
                                              "y.relu_2.dot.neg = neg w", "y.relu_2.dot = dot x y.relu_2.dot.neg",
                                              "y.relu_2 = relu y.relu_2.dot", "y.mul = mul z 2",
                                              "y = add y.relu y.relu_2 y.mul"});
}

TEST_CASE("an op in place of an operand has its own arguments, whatever those of the outer one are called") {
    CHECK(model_problems(entry("{y: {cast: {cast: x, dtype: bf16}, dtype: f32}}")) == "");
    CHECK(model_problems(entry("{y: {softmax: {neg: x, dim: 1}}}")).find("write arguments beside the op") !=
          std::string::npos);
}

TEST_CASE("what is wrong inside an op that is an operand is said at its place") {
    CHECK(model_problems(entry("{x: {relu: {dott: [x, x]}}}")) ==
          "E0203 2:21+4 unknown op 'dott'\n  help did you mean 'dot'?\n");
    CHECK(model_problems(entry("{x: {relu: {}}}")).find("E0212") == 0);
    CHECK(model_problems(entry("{x: {relu: [{neg: [[x]]}]}}")).find("E0113") == 0);
    const std::string with_loss = entry("{x: {neg: x}}") + "train: {loss: {mean: {neg: x}}, optimizer: {sgd: {}}}\n";
    CHECK(model_problems(with_loss).find("make it an entry of the graph") != std::string::npos);
}
