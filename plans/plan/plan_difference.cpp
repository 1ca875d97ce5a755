#include "plans/plan/plan_difference.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// An entry that differs, or the list where one is longer than the other.
template<class T>
std::string list_difference(std::string_view key, const std::vector<T>& a, const std::vector<T>& b) {
    const size_t common = std::min(a.size(), b.size());
    for (size_t i = 0; i < common; ++i)
        if (!(a[i] == b[i])) return fmt::format("{}[{}]", key, i);
    return std::string(key);
}

} // namespace

std::string first_difference(const Plan& plan, const Plan& other) {
    if (plan.model != other.model) return "model";
    if (plan.mode != other.mode) return "mode";
    if (!(plan.mesh == other.mesh)) return "mesh";
    if (plan.inputs != other.inputs) return list_difference("inputs", plan.inputs, other.inputs);
    if (plan.outputs != other.outputs) return list_difference("outputs", plan.outputs, other.outputs);
    if (plan.steps != other.steps) return list_difference("steps", plan.steps, other.steps);
    if (plan.buffers != other.buffers) return list_difference("buffers", plan.buffers, other.buffers);
    if (plan.arena_bytes != other.arena_bytes) return "arena_bytes";
    if (plan.peak_bytes != other.peak_bytes) return "peak_bytes";
    if (plan.host_arena_bytes != other.host_arena_bytes) return "host_arena_bytes";
    if (plan.host_peak_bytes != other.host_peak_bytes) return "host_peak_bytes";
    if (plan.sources != other.sources) return list_difference("sources", plan.sources, other.sources);
    if (!(plan.report == other.report)) return "report";
    Plan same = other;
    same.tool = plan.tool;
    return plan == same ? "" : "format_version";
}

} // namespace shard
