#include "tests/support/gradient_check.h"

#include "planner/grad/differentiate.h"
#include "planner/graph/chain.h"
#include "tests/support/model_harness.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace shard {

namespace {

std::uint32_t next(std::uint32_t& state) {
    state = state * 1664525U + 1013904223U;
    return state >> 8;
}

double uniform(std::uint32_t& state) { return static_cast<double>(next(state)) / (1 << 24); }

// sum over all elements of value * cos(1 + 0.7 i + 1.7 j + ...)
ValueId weighted_sum(Chain& chain, Builder& builder, ValueId value) {
    const TensorType type = builder.type(value);
    ValueId phase = builder.scalar(1, type.dtype);
    for (i64 d = 0; d < type.rank(); ++d) {
        Attributes count = shape_of(type.shape, type.logical);
        count.set("dim", std::vector<i64>{d});
        count.set("dtype", std::string(name(type.dtype)));
        phase = chain("add", {phase, chain("mul", chain("iota", {}, count), 0.7 + static_cast<double>(d))});
    }
    ValueId sum = chain("reduce_sum", {chain("mul", {value, chain("cos", {phase})})});
    return type.dtype == DType::f64 ? sum : chain("cast", {sum}, attributes_of({{"dtype", std::string("f64")}}));
}

bool is_checked(const Value& value) { return is_floating(value.type.dtype); }

double loss(const Graph& graph, const std::map<std::string, Array>& inputs) {
    return interpret(graph, inputs).at("loss").values[0];
}

// The smallest relative difference over a few steps: a kink, as of relu, may lie within one of them.
double mismatch(const Graph& graph, std::map<std::string, Array> inputs, const std::string& name,
                const std::vector<double>& direction, double promised) {
    const Array at = inputs.at(name);
    double best = INFINITY;
    for (double step : {1e-4, 1e-5, 1e-6, 3e-7}) {
        double ends[2];
        for (int side = 0; side < 2; ++side) {
            Array& moved = inputs.at(name);
            for (size_t i = 0; i < direction.size(); ++i)
                moved.values[i] = at.values[i] + (side == 0 ? -step : step) * direction[i];
            ends[side] = loss(graph, inputs);
        }
        const double difference = (ends[1] - ends[0]) / (2 * step);
        const double noise = 1e-15 * (std::fabs(ends[0]) + std::fabs(ends[1])) / step;
        best = std::min(best, (std::fabs(difference - promised) - noise) / (1 + std::fabs(promised)));
        if (best < 1e-5) break;
    }
    return best;
}

} // namespace

void add_gradients(Graph& graph) {
    Diagnostics diagnostics;
    Builder builder(graph, diagnostics);
    builder.set_place({"", "loss", {}, {}, {}});
    Chain chain(builder);
    ValueId total = builder.scalar(0, DType::f64);
    for (ValueId output : graph.outputs)
        if (is_checked(graph.value(output))) total = chain("add", {total, weighted_sum(chain, builder, output)});
    std::vector<ValueId> inputs;
    for (ValueId id : graph.inputs)
        if (is_checked(graph.value(id))) inputs.push_back(id);
    const std::vector<ValueId> gradients = differentiate(builder, total, inputs);
    graph.outputs = {total};
    graph.output_names = {"loss"};
    for (size_t n = 0; n < inputs.size(); ++n) {
        graph.outputs.push_back(gradients[n]);
        graph.output_names.push_back("grad." + graph.value(inputs[n]).name);
    }
    verify_graph(graph);
}

std::map<std::string, Array> random_inputs(const Graph& graph, std::uint32_t state) {
    std::map<std::string, Array> inputs;
    for (ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        Array array{value.type.shape, {}};
        for (i64 n = 0; n < value.type.elements(); ++n) {
            const double drawn = uniform(state);
            array.values.push_back(is_checked(value)                    ? 4 * drawn - 2
                                   : value.type.dtype == DType::boolean ? (drawn < 0.5 ? 0 : 1)
                                                                        : std::floor(8 * drawn));
        }
        inputs[value.name] = std::move(array);
    }
    return inputs;
}

std::vector<std::string> check_gradients(const Graph& graph, std::uint32_t seed) {
    const std::map<std::string, Array> inputs = random_inputs(graph, seed);
    const std::map<std::string, Array> outputs = interpret(graph, inputs);
    std::uint32_t state = seed + 1;
    std::vector<std::string> problems;
    if (!std::isfinite(outputs.at("loss").values[0])) return problems;
    for (ValueId id : graph.inputs) {
        const std::string& name = graph.value(id).name;
        if (!is_checked(graph.value(id))) continue;
        const Array& gradient = outputs.at("grad." + name);
        std::vector<double> direction;
        double promised = 0;
        for (double slope : gradient.values) {
            direction.push_back(2 * uniform(state) - 1);
            promised += slope * direction.back();
        }
        const double wrong = mismatch(graph, inputs, name, direction, promised);
        if (!(wrong < 1e-5)) problems.push_back(fmt::format("the gradient of {} is wrong by {}", name, wrong));
    }
    return problems;
}

std::vector<std::string> gradient_problems(const std::string& op) {
    const std::string model = fmt::format(R"(model: one_op
inputs:
  x: {{shape: [3, 4], dtype: f64}}
  z: {{shape: [3, 4], dtype: f64}}
  b: {{shape: [4], dtype: f64}}
  c: {{shape: [3, 1], dtype: f64}}
  w: {{shape: [4, 5], dtype: f64}}
  s: {{shape: [3, 4, 2], dtype: f64}}
  k: {{shape: [3, 4], dtype: bool}}
  n: {{shape: [2], dtype: i32}}
  l: {{shape: [3], dtype: i32}}
  m: {{shape: [3, 4, 2], dtype: i32}}
  q: {{shape: [1, 3, 2, 4], dtype: f64}}
  kv: {{shape: [1, 3, 1, 4], dtype: f64}}
graph:
  - a: {{abs: x}}
  - p: {{add: [a, 0.5]}}
  - label: {{clamp: l, min: 0, max: 3}}
  - row: {{reshape: b, shape: [1, 4]}}
  - at: {{reduce_sum: n}}
  - far: {{add: [at, 100]}}
  - y: {{{}}}
outputs: [y]
)",
                                          op);
    Built built = build_text(model);
    if (!built.graph) return {built.problems()};
    add_gradients(*built.graph);
    std::vector<std::string> problems;
    for (std::uint32_t seed : {1U, 2U, 3U})
        for (std::string& problem : check_gradients(*built.graph, seed)) problems.push_back(std::move(problem));
    return problems;
}

} // namespace shard
