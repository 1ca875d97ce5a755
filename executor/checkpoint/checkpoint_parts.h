// What of a plan belongs into a checkpoint, and into which of its files.
#pragma once

#include "plans/plan/real_part.h"

namespace shard {

enum class Part { param, state };

// A parameter or variable, whether or not the plan updates it; what else the plan updates is state. Other inputs are not saved.
std::optional<Part> part_of(const Plan& plan, const PlanInput& input);

inline constexpr std::string_view param_files = "model", state_files = "optimizer";
// "model.safetensors", or of several "model-00001-of-00004.safetensors"; `number` from 0.
std::string part_file_name(Part part, i64 number, i64 count);

// "step-5": the folder of a checkpoint. "step-5.2" if that was there.
std::string step_name(i64 step);
bool is_step_name(std::string_view name);

// The blocks of an input that one device writes, since no device before it holds them.
struct OwnBlock {
    int buffer = -1;
    RealPart part;
};
struct DevicePart {
    i64 position = 0;
    std::vector<OwnBlock> blocks; // in the order of the plan's inputs
};
// By position; devices without a block of their own are left out.
std::vector<DevicePart> blocks_to_write(const Plan& plan, Part part);

} // namespace shard
