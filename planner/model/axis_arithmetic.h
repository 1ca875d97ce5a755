// Sizes written as arithmetic over logical axes: integers, axis names, + - * / and parentheses; `/` must be exact.
//
//     axes: {heads: 12, head: 64, embed: heads*head, ffn: 4*embed}       embed = 768, ffn = 3072
#pragma once

#include "planner/model/model.h"

#include <functional>

namespace shard {

// The size of a name; nullopt if there is no such name, 0 if its size is in error (then nothing more is reported).
using SizeLookup = std::function<std::optional<i64>(std::string_view)>;

// An integer or an expression; at least 1. Reports E0113, E0115, E0202 to E0208.
// `candidates` are the names that may be suggested for an unknown one.
std::optional<i64> read_size(const Yaml& yaml, std::string_view what, const SizeLookup& lookup,
                             const std::vector<std::string_view>& candidates, Diagnostics& diagnostics);

// The whole `axes` map: in any order, without cycles. An axis whose size was reported has size 0.
std::vector<AxisDecl> read_axes(const Yaml& yaml, Diagnostics& diagnostics);

} // namespace shard
