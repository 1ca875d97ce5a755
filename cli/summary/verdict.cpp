#include "cli/summary/verdict.h"

#include "plans/base/saturating.h"
#include "plans/base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

Fact memory_fact(const MemoryReport& memory) {
    std::vector<std::string> roles;
    for (const auto& [role, bytes] : memory_by_role(memory))
        roles.push_back(fmt::format("{} {}", role, human_bytes(bytes)));
    const std::string alive = roles.empty() ? "" : fmt::format("; at the peak {}", fmt::join(roles, ", "));
    Fact fact{"memory", "", true, human_bytes(memory.peak) + " on a device" + alive};
    if (memory.capacity <= 0) return fact;
    fact.is_good = memory.peak <= memory.capacity;
    fact.verdict = fact.is_good ? "fits" : "does not fit";
    fact.text = fmt::format("{} of {} on a device ({}){}", human_bytes(memory.peak), human_bytes(memory.capacity),
                            percent(static_cast<double>(memory.peak), static_cast<double>(memory.capacity)), alive);
    return fact;
}

// Nothing if nothing is there.
std::vector<Fact> host_fact(const Report& report) {
    const MemoryReport& memory = report.memory;
    if (memory.host_peak <= 0) return {};
    Fact fact{"host", "", true,
              fmt::format("{}{} of the host's memory for a device; copies {}", human_bytes(memory.host_peak),
                          memory.host_capacity > 0 ? " of " + human_bytes(memory.host_capacity) : "",
                          copies_text(report.time))};
    if (memory.host_capacity <= 0) return {fact};
    fact.is_good = memory.host_peak <= memory.host_capacity;
    fact.verdict = fact.is_good ? "fits" : "does not fit";
    return {fact};
}

bool is_bound_by_host(const TimeReport& time) {
    return time.host_seconds > std::max(time.exposed_communication_seconds, time.compute_seconds);
}

bool is_bound_by_launches(const TimeReport& time) {
    const double others = std::max(time.exposed_communication_seconds, time.host_seconds);
    return time.launch_seconds > std::max(others, time.compute_seconds - time.launch_seconds);
}

// Launches where they are a twentieth of the step or more.
std::string compute_text(const Report& report) {
    const TimeReport& time = report.time;
    const std::string launches = 20 * time.launch_seconds >= time.step_seconds && time.launch_seconds > 0
                                     ? fmt::format("; launches {}", human_seconds(time.launch_seconds))
                                     : std::string();
    return fmt::format("compute {} ({}{})", human_seconds(time.compute_seconds), human_flops(report.flops_per_device),
                       launches);
}

Fact time_fact(const Report& report) {
    const TimeReport& time = report.time;
    const std::string compute = compute_text(report);
    const std::string step = human_seconds(time.step_seconds) + " a step";
    const double exposed = time.exposed_communication_seconds;
    std::vector<std::string> parts = {compute};
    if (time.communication_seconds > 0) {
        const std::string waited = is_partly_hidden(time.communication_seconds, exposed)
                                       ? fmt::format("{} of it exposed", human_seconds(exposed))
                                       : "all exposed";
        parts.insert(exposed <= time.compute_seconds ? parts.end() : parts.begin(),
                     fmt::format("communication {}, {}", human_seconds(time.communication_seconds),
                                 exposed > 0
                                     ? fmt::format("{} ({} of the step)", waited, percent(exposed, time.step_seconds))
                                     : "all hidden"));
    }
    if (is_bound_by_host(time)) parts.insert(parts.begin(), human_seconds(time.host_seconds));
    const bool is_said = parts.size() > 1 || is_bound_by_launches(time);
    const std::string bound = is_said ? fmt::format(", bound by {}", bound_by(time)) : std::string();
    return {"time", "", true, fmt::format("{}{}: {}", step, bound, fmt::join(parts, "; "))};
}

// Nothing if there are none.
std::vector<Fact> params_fact(const Plan& plan) {
    const auto [count, bytes, on_device] = params_total(plan.report);
    if (count == 0) return {};
    std::string held =
        on_device == bytes ? ", all on every device" : fmt::format(", {} on a device", human_bytes(on_device));
    if (plan.mesh.device_count() == 1) held.clear();
    return {{"params", "", true, fmt::format("{} ({}){}", grouped(count), human_bytes(bytes), held)}};
}

// Nothing if no dim is padded.
std::vector<Fact> padding_fact(const Plan& plan) {
    if (plan.padding == PaddingCost()) return {};
    const i64 flops = plan.report.flops_per_device;
    return {{"padding", "", true,
             fmt::format("{} of what a device keeps, {} of what it computes", human_bytes(plan.padding.bytes),
                         flops == 0 ? "nothing"
                                    : percent(static_cast<double>(plan.padding.flops), static_cast<double>(flops)))}};
}

} // namespace

bool is_partly_hidden(double seconds, double exposed_seconds) {
    return human_seconds(exposed_seconds) != human_seconds(seconds);
}

std::string copies_text(const TimeReport& time) {
    if (time.host_seconds <= 0) return "are not priced, the profile has no link to a host";
    return fmt::format("{}, {} of the step, which waits for them", human_seconds(time.host_seconds),
                       percent(time.host_seconds, time.step_seconds));
}

std::string_view bound_by(const TimeReport& time) {
    if (is_bound_by_host(time)) return "copies to and from the host";
    if (is_bound_by_launches(time)) return "launches of kernels";
    return time.exposed_communication_seconds <= time.compute_seconds ? "compute" : "communication";
}

ParamsTotal params_total(const Report& report) {
    ParamsTotal total;
    for (const TensorReport& tensor : report.tensors) {
        if (tensor.role != Role::param) continue;
        const i64 elements = element_count(tensor.shape);
        total.count = add_saturating(total.count, elements);
        total.bytes = add_saturating(total.bytes, multiply_saturating(elements, byte_size(tensor.dtype)));
        total.on_device = add_saturating(total.on_device, tensor.bytes_per_device);
    }
    return total;
}

std::vector<std::pair<std::string_view, i64>> memory_by_role(const MemoryReport& memory) {
    std::vector<std::pair<std::string_view, i64>> roles = {{"inputs", memory.inputs},
                                                           {"params", memory.params},
                                                           {"optimizer state", memory.optimizer_state},
                                                           {"gradients", memory.gradients},
                                                           {"activations", memory.activations},
                                                           {"temporaries", memory.temporaries}};
    std::erase_if(roles, [](const std::pair<std::string_view, i64>& role) { return role.second <= 0; });
    std::stable_sort(roles.begin(), roles.end(),
                     [](const std::pair<std::string_view, i64>& a, const std::pair<std::string_view, i64>& b) {
                         return a.second > b.second;
                     });
    return roles;
}

std::vector<Fact> verdict_of(const Plan& plan) {
    std::vector<Fact> facts = {memory_fact(plan.report.memory), time_fact(plan.report)};
    for (Fact& fact : host_fact(plan.report)) facts.push_back(std::move(fact));
    for (Fact& fact : params_fact(plan)) facts.push_back(std::move(fact));
    for (Fact& fact : padding_fact(plan)) facts.push_back(std::move(fact));
    return facts;
}

} // namespace shard
