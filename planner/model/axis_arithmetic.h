// Numbers written as arithmetic over logical axes (planner/text/arithmetic.h), wherever a size, a count or an index
// stands in a model.
//
//     axes: {heads: 12, head: 64, embed: heads*head, ffn: 4*embed}       embed = 768, ffn = 3072
//     - y: {slice: x, dim: 1, start: head - 4, limit: head}
#pragma once

#include "planner/model/model.h"

namespace shard {

using Axes = std::vector<AxisDecl>;

// The whole `axes` map: in any order, without cycles. An axis whose size was reported has size 0.
Axes read_axes(const Yaml& yaml, Diagnostics& diagnostics);

// A number or arithmetic; a size is at least 1. They report E0113, E0115, E0202, E0204 to E0207.
std::optional<i64> read_integer(const Yaml& yaml, std::string_view what, const Axes& axes, Diagnostics& diagnostics);
std::optional<i64> read_size(const Yaml& yaml, std::string_view what, const Axes& axes, Diagnostics& diagnostics);

// A value, or a list of values at any depth, with numbers in the place of arithmetic; nullopt after reporting.
std::optional<Yaml> with_numbers(const Yaml& yaml, std::string_view what, const Axes& axes, Diagnostics& diagnostics);

} // namespace shard
