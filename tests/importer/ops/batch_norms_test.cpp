// Batch norms as PyTorch/XLA writes them, run: against the definition, and gradients against differences.
#include "executor/run/run.h"
#include "importer/program/import_program.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/tensors.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

namespace shard {

namespace {

constexpr size_t rows = 4, features = 4, places = 3; // x (4, 4, 3), over all but dim 1
constexpr double epsilon = 1e-3;
using All = std::array<double, rows * features * places>;
using Each = std::array<double, features>;

size_t feature_of(size_t i) { return i / places % features; }

template<class Values>
Values wave(double begin, double least = -1) {
    Values values;
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = std::max(least, std::sin(0.7 * static_cast<double>(i) + begin));
    return values;
}

struct Normed {
    All y;
    Each mean{}, variance{};
};

All normed(const All& x, const Each& scale, const Each& offset, const Each& mean, const Each& variance) {
    All y;
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t f = feature_of(i);
        y[i] = (x[i] - mean[f]) / std::sqrt(variance[f] + epsilon) * scale[f] + offset[f];
    }
    return y;
}

Normed trained(const All& x, const Each& scale, const Each& offset) {
    Normed made;
    constexpr double count = rows * places;
    for (size_t i = 0; i < x.size(); ++i) made.mean[feature_of(i)] += x[i] / count;
    for (size_t i = 0; i < x.size(); ++i)
        made.variance[feature_of(i)] += std::pow(x[i] - made.mean[feature_of(i)], 2) / count;
    made.y = normed(x, scale, offset, made.mean, made.variance);
    return made;
}

const All x = wave<All>(1), gradient = wave<All>(2);
const Each scale = wave<Each>(3), offset = wave<Each>(4);

struct Given {
    Each mean = wave<Each>(5), variance = wave<Each>(0.1, 0.05);
};

double loss(const All& of, const Each& scaled, const Each& moved) {
    const Normed made = trained(of, scaled, moved);
    double sum = 0;
    for (size_t i = 0; i < of.size(); ++i) sum += gradient[i] * made.y[i];
    return sum;
}

template<class Values, class Loss>
Values differences(Values at, const Loss& of) {
    Values made;
    for (size_t i = 0; i < at.size(); ++i) {
        const double was = at[i], step = 1e-5;
        at[i] = was + step;
        const double above = of(at);
        at[i] = was - step;
        made[i] = (above - of(at)) / (2 * step);
        at[i] = was;
    }
    return made;
}

// The op's results, on two devices that split the rows.
std::vector<std::vector<double>> ran(const std::string& op, const std::vector<std::string>& operands,
                                     const std::vector<std::string>& results, const Given& given_too = {}) {
    const std::string all = "tensor<4x4x3xf64>", each = "tensor<4xf64>";
    const auto type = [&](const std::string& of) { return of == "x" || of == "g" || of == "y" ? all : each; };
    std::string given, taken, types, names, made;
    for (const std::string& operand : operands) {
        given += fmt::format("{}%{}: {} loc(\"{}\")", given.empty() ? "" : ", ", operand, type(operand), operand);
        taken += fmt::format("{}%{}", taken.empty() ? "" : ", ", operand);
        types += (types.empty() ? "" : ", ") + type(operand);
    }
    for (size_t r = 0; r < results.size(); ++r) {
        names += fmt::format("{}%0{}", r == 0 ? "" : ", ", results.size() == 1 ? "" : fmt::format("#{}", r));
        made += (r == 0 ? "" : ", ") + type(results[r]);
    }
    Sources sources;
    const int file = sources.add(
        "p.mlir",
        fmt::format("func.func @main({}) -> ({}) {{\n  %0{} = \"stablehlo.{}\"({}) <{{epsilon = 1.0e-3 : f32, "
                    "feature_index = 1 : i64}}> : ({}) -> ({})\n  return {} : {}\n}}\n",
                    given, made, results.size() == 1 ? "" : fmt::format(":{}", results.size()), op, taken, types, made,
                    names, made));
    Diagnostics diagnostics;
    const std::optional<ImportedProgram> program = import_program(sources, file, {}, diagnostics);
    REQUIRE_MESSAGE(program.has_value(), diagnostics.all().at(0).message);
    Sources planned;
    PlanRequest request;
    request.model_file = planned.add("model.yaml", program->model);
    request.layout_file = planned.add("layout.yaml", "mesh: {d: 2}\ninputs: {x: [d, ~, ~]}\n");
    const Compilation compilation = compile(planned, request);
    REQUIRE(compilation.plan.has_value());
    RunOptions options;
    for (const PlanInput& input : compilation.plan->inputs) {
        const Buffer& buffer = compilation.plan->buffers[static_cast<size_t>(input.buffer)];
        options.inputs[buffer.name] = make_tensor(buffer.dtype, buffer.global_shape, [&](i64 i) {
            const size_t at = static_cast<size_t>(i);
            if (buffer.name == "x" || buffer.name == "g") return (buffer.name == "x" ? x : gradient)[at];
            return (buffer.name == "scale"    ? scale
                    : buffer.name == "offset" ? offset
                    : buffer.name == "mean"   ? given_too.mean
                                              : given_too.variance)[at];
        });
    }
    const std::optional<RunResult> result = run_plan(*compilation.plan, options, diagnostics);
    REQUIRE(result.has_value());
    std::vector<std::vector<double>> found;
    for (const PlanOutput& output : compilation.plan->outputs) found.push_back(values(result->outputs.at(output.name)));
    return found;
}

template<class Values>
double difference(const std::vector<double>& got, const Values& want) {
    REQUIRE(got.size() == want.size());
    double largest = 0;
    for (size_t i = 0; i < want.size(); ++i) largest = std::max(largest, std::fabs(got[i] - want[i]));
    return largest;
}

} // namespace

TEST_CASE("a batch norm of PyTorch/XLA is what it is defined as, in use and in training") {
    const auto used = ran("batch_norm_inference", {"x", "scale", "offset", "mean", "variance"}, {"y"});
    CHECK(difference(used.at(0), normed(x, scale, offset, Given().mean, Given().variance)) < 1e-12);
    const Normed expected = trained(x, scale, offset);
    const auto training = ran("batch_norm_training", {"x", "scale", "offset"}, {"y", "mean", "variance"});
    CHECK(difference(training.at(0), expected.y) < 1e-12);
    CHECK(difference(training.at(1), expected.mean) < 1e-12);
    CHECK(difference(training.at(2), expected.variance) < 1e-12);
}

TEST_CASE("gradients of a batch norm of PyTorch/XLA equal differences") {
    // At the mean and the variance of x, which the op is given.
    const Normed at = trained(x, scale, offset);
    const auto found = ran("batch_norm_grad", {"x", "scale", "mean", "variance", "g"}, {"y", "scale", "offset"},
                           {at.mean, at.variance});
    CHECK(difference(found.at(0), differences(x, [](const All& v) { return loss(v, scale, offset); })) < 1e-8);
    CHECK(difference(found.at(1), differences(scale, [](const Each& v) { return loss(x, v, offset); })) < 1e-8);
    CHECK(difference(found.at(2), differences(offset, [](const Each& v) { return loss(x, scale, v); })) < 1e-8);
}

} // namespace shard
