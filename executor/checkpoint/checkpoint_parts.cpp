#include "executor/checkpoint/checkpoint_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace shard {

namespace {

constexpr std::string_view step_prefix = "step-";

} // namespace

std::optional<Part> part_of(const Plan& plan, const PlanInput& input) {
    const Buffer& buffer = plan.buffers[input.buffer];
    if (buffer.role == Role::param || buffer.role == Role::variable) return Part::param;
    const bool updated = std::any_of(plan.outputs.begin(), plan.outputs.end(),
                                     [&input](const PlanOutput& output) { return output.updates == input.buffer; });
    if (updated || buffer.role == Role::state) return Part::state;
    return std::nullopt;
}

std::string part_file_name(Part part, i64 number, i64 count) {
    const std::string_view stem = part == Part::param ? param_files : state_files;
    return count == 1 ? fmt::format("{}.safetensors", stem)
                      : fmt::format("{}-{:05}-of-{:05}.safetensors", stem, number + 1, count);
}

std::string step_name(i64 step) { return fmt::format("{}{}", step_prefix, step); }

bool is_step_name(std::string_view name) {
    if (!name.starts_with(step_prefix)) return false;
    name.remove_prefix(step_prefix.size());
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string_view step = name.substr(0, dot), again = name.substr(std::min(dot + 1, name.size()));
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    return is_number(step) && (dot == name.size() || is_number(again));
}

std::vector<DevicePart> blocks_to_write(const Plan& plan, Part part) {
    std::map<i64, DevicePart> devices;
    for (const PlanInput& input : plan.inputs) {
        if (part_of(plan, input) != part) continue;
        const Buffer& buffer = plan.buffers[input.buffer];
        std::set<std::vector<i64>> held;
        for (i64 position = 0; position < plan.mesh.device_count(); ++position) {
            const std::vector<i64> coordinates = coordinates_of(plan.mesh, position);
            RealPart real = real_part(plan.mesh, buffer, coordinates);
            if (real.empty() || !held.insert(real.start).second) continue;
            devices[position].position = position;
            devices[position].blocks.push_back({input.buffer, std::move(real)});
        }
    }
    std::vector<DevicePart> result;
    for (auto& [position, device] : devices) result.push_back(std::move(device));
    return result;
}

} // namespace shard
