#include "tests/support/check_lowered.h"

#include "executor/formats/tensor.h"
#include "planner/lower/lowered_text.h"
#include "tests/support/prove.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

struct Ran {
    std::vector<std::string> collectives; // sorted
    std::vector<std::vector<double>> outputs;
    std::string lowered;
};

Ran run_of(const std::string& model, const std::string& layout, const std::string& mode) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = mode;
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    CAPTURE(model);
    REQUIRE(compilation.plan.has_value());
    Ran ran;
    for (const CollectiveReport& collective : compilation.plan->report.collectives)
        ran.collectives.push_back(fmt::format("{} {}", collective.kind, collective.wire_bytes_total));
    std::sort(ran.collectives.begin(), ran.collectives.end());
    Diagnostics diagnostics;
    const std::optional<RunResult> result = run_plan(*compilation.plan, {}, diagnostics);
    REQUIRE(result.has_value());
    for (const PlanOutput& output : compilation.plan->outputs) {
        const Tensor& tensor = result->outputs.at(output.name);
        std::vector<double>& values = ran.outputs.emplace_back();
        for (i64 n = 0; n < tensor.type.elements(); ++n) {
            REQUIRE(byte_size(tensor.type.dtype) == 4);
            float element = 0;
            std::int32_t whole = 0;
            std::memcpy(&element, tensor.bytes.data() + 4 * n, 4);
            std::memcpy(&whole, tensor.bytes.data() + 4 * n, 4);
            values.push_back(is_floating(tensor.type.dtype) ? static_cast<double>(element) : whole);
        }
    }
    const std::optional<std::string> lowered = lowered_text(compilation, diagnostics);
    INFO(text_of(sources, diagnostics));
    REQUIRE(lowered.has_value());
    ran.lowered = *lowered;
    return ran;
}

} // namespace

std::string check_lowered(const std::string& model, const std::string& layout, const std::string& mode,
                          bool sends_the_same) {
    const Ran plan = run_of(model, layout, mode);
    const std::string mesh = layout.substr(0, layout.find('\n') + 1);
    CAPTURE(plan.lowered);
    const Ran lowered = run_of(plan.lowered, mesh, "forward");
    CHECK((lowered.collectives == plan.collectives) == sends_the_same);
    REQUIRE(lowered.outputs.size() == plan.outputs.size());
    for (size_t o = 0; o < plan.outputs.size(); ++o) {
        REQUIRE(lowered.outputs[o].size() == plan.outputs[o].size());
        double difference = 0, largest = 1e-6;
        for (size_t n = 0; n < plan.outputs[o].size(); ++n) {
            difference = std::max(difference, std::fabs(plan.outputs[o][n] - lowered.outputs[o][n]));
            largest = std::max(largest, std::fabs(plan.outputs[o][n]));
        }
        CHECK(difference <= 1e-5 * largest);
    }
    ProofOptions options;
    options.interpreter = false;
    CHECK(prove(plan.lowered, mesh, options) == std::vector<std::string>{});
    return plan.lowered;
}

} // namespace shard
