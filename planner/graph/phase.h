// The parts of a train step. A graph without gradients is all forward.
#pragma once

#include <optional>
#include <string_view>

namespace shard {

enum class Phase {
    forward,  // what the loss and other outputs are made of that no gradient enters
    backward, // what gradients are made of besides
    update    // the rest, made of gradients: clipping, the optimizer
};

std::string_view name(Phase phase); // "forward"
std::optional<Phase> parse_phase(std::string_view name);

} // namespace shard
