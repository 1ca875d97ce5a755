#include "tests/support/steps.h"

#include "executor/formats/tensor.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "test_paths.h"

namespace shard {

namespace {

Numbers numbers_of(const Tensor& tensor) {
    Numbers numbers;
    const size_t count = static_cast<size_t>(tensor.type.elements());
    for (size_t i = 0; i < count; ++i) {
        if (tensor.type.dtype == DType::f32) {
            float value;
            std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
            numbers.push_back(static_cast<double>(value));
        } else if (tensor.type.dtype == DType::f64) {
            double value;
            std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
            numbers.push_back(value);
        } else if (tensor.type.dtype == DType::bf16) { // the upper half of an f32
            std::uint32_t bits = 0;
            std::memcpy(reinterpret_cast<std::byte*>(&bits) + 2, tensor.bytes.data() + i * 2, 2);
            numbers.push_back(static_cast<double>(std::bit_cast<float>(bits)));
        } else {
            internal_check(tensor.type.dtype == DType::i32, "steps have outputs of floats and i32");
            std::int32_t value;
            std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
            numbers.push_back(value);
        }
    }
    return numbers;
}

} // namespace

Plan train_plan(const std::string& model, const std::string& layout) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = "train";
    Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    return *compilation.plan;
}

std::vector<std::map<std::string, Numbers>> run_steps(const Plan& plan, int steps,
                                                      std::map<std::string, Tensor> inputs) {
    std::vector<std::map<std::string, Numbers>> results;
    RunOptions options;
    options.inputs = std::move(inputs);
    for (int step = 0; step < steps; ++step) {
        Diagnostics diagnostics;
        std::optional<RunResult> result = run_plan(plan, options, diagnostics);
        REQUIRE(result.has_value());
        results.emplace_back();
        for (auto& [name, tensor] : result->outputs) results.back()[name] = numbers_of(tensor);
        for (const PlanInput& input : plan.inputs) {
            const std::string& name = plan.buffers[input.buffer].name;
            if (const auto made = result->outputs.find(name); made != result->outputs.end())
                options.inputs[name] = std::move(made->second);
        }
    }
    return results;
}

Numbers series(const std::vector<std::map<std::string, Numbers>>& steps, const std::string& output) {
    Numbers numbers;
    for (const std::map<std::string, Numbers>& step : steps) numbers.push_back(step.at(output)[0]);
    return numbers;
}

std::string collectives_text(const Plan& plan) {
    std::vector<std::string> lines;
    for (const CollectiveReport& collective : plan.report.collectives) {
        std::string line = fmt::format("{} {} over", collective.kind, collective.tensor);
        for (const AxisRef& axis : collective.axes) line += " " + plan.mesh.axes[axis.axis].name;
        lines.push_back(line + fmt::format(" {}\n", collective.wire_bytes_per_device));
    }
    std::sort(lines.begin(), lines.end());
    return fmt::format("{}", fmt::join(lines, ""));
}

std::string example(const std::string& path) {
    std::ifstream file(std::string(SHARDC_SOURCE_DIR) + "/examples/" + path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace shard
