// Einsum equations: "blhd,bmhd->bhlm". Letters are dims; "..." stands for any number of further dims, aligned at the
// last one; without "->" the result holds, in alphabetical order, the letters that occur once.
#pragma once

#include "planner/ops_support/contraction.h"

namespace shard {

// The equation for operands of these ranks, "..." written out with unused letters. nullopt and what is wrong with it
// otherwise.
std::optional<Contraction> parse_equation(std::string_view text, std::span<const TensorType> operands,
                                          std::string& problem);
std::string equation_text(const Contraction& contraction);

} // namespace shard
