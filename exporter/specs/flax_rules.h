// Rules from logical axes to mesh axes, as flax.linen.logical_axis_rules takes them, made of what a plan decided: the
// other way round from a layout, whose rules are where propagation begins.
//
// Flax goes through the rules in order; one applies to an array if its logical axis is a dim of it that no rule has
// taken yet, and its mesh axes are free. So one name may have several rules: the first that fits.
#pragma once

#include "exporter/mesh/named_mesh.h"

namespace shard {

struct LogicalRule {
    std::string logical;
    std::vector<std::string> axes; // of the mesh, major to minor; none: not split
    bool operator==(const LogicalRule&) const = default;
};

struct ArraySpec {
    std::string name;
    std::vector<std::string> logical;           // per dim, empty if it has none
    std::vector<std::vector<std::string>> spec; // per dim, the mesh axes
};

std::vector<LogicalRule> logical_rules(std::span<const ArraySpec> arrays);
// What the rules make of an array: per dim, the mesh axes.
std::vector<std::vector<std::string>> spec_by_rules(std::span<const LogicalRule> rules, const ArraySpec& array);

} // namespace shard
