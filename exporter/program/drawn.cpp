#include "exporter/program/drawn.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

bool fits(const Generate& generate) {
    return !std::holds_alternative<Random>(generate.source) || element_count(generate.shape) < i64{1} << 32;
}

bool all_fit(const std::vector<Step>& steps) {
    return std::all_of(steps.begin(), steps.end(), [](const Step& step) {
        if (const Loop* loop = std::get_if<Loop>(&step.variant_ref())) return all_fit(loop->body);
        const Compute* compute = std::get_if<Compute>(&step.variant_ref());
        if (compute == nullptr) return true;
        const Attend* attend = std::get_if<Attend>(&*compute->kernel); // which is written out
        if (attend != nullptr && attend->kept) return fits(*attend->kept);
        const Generate* generate = std::get_if<Generate>(&*compute->kernel);
        return generate == nullptr || fits(*generate);
    });
}

} // namespace

bool is_even(const Plan& plan, Diagnostics& diagnostics) {
    for (const PlanInput& input : plan.inputs) {
        const Buffer& buffer = plan.buffers[static_cast<size_t>(input.buffer)];
        if (buffer.unpadded_shape.empty()) continue;
        diagnostics
            .error("E0509", {},
                   fmt::format("'{}' is padded, and a program of whole arrays has no form of that", buffer.name))
            .help("write `divisibility: drop` in the layout, or sizes that divide");
        return false;
    }
    return true;
}

bool draws_have_32_bits(const Plan& plan, Diagnostics& diagnostics) {
    const bool starts_fit =
        std::all_of(plan.inputs.begin(), plan.inputs.end(), [](const PlanInput& input) { return fits(input.init); });
    if (starts_fit && all_fit(plan.steps)) return true;
    diagnostics
        .error("E0509", {}, "the plan draws an array of 2^32 elements or more, which export writes for no engine")
        .help("give the array as several, or read it from a file in a job that uses --to specs");
    return false;
}

} // namespace shard
