#include "plans/plan/plan.h"

#include "plans/base/sha1.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

bool Loop::operator==(const Loop&) const = default;

bool is_step(const Plan& plan) {
    return std::any_of(plan.outputs.begin(), plan.outputs.end(),
                       [](const PlanOutput& output) { return output.is_update(); });
}

std::string digest_of(std::string_view text) {
    std::string out;
    for (std::uint8_t byte : sha1(text)) out += fmt::format("{:02x}", byte);
    return out;
}

} // namespace shard
