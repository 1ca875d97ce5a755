#include "planner/graph/phase.h"

namespace shard {

std::string_view name(Phase phase) {
    static constexpr std::string_view names[] = {"forward", "backward", "update"};
    return names[static_cast<size_t>(phase)];
}

std::optional<Phase> parse_phase(std::string_view text) {
    for (const Phase phase : {Phase::forward, Phase::backward, Phase::update})
        if (text == name(phase)) return phase;
    return std::nullopt;
}

} // namespace shard
