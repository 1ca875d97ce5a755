// Dims and sizes in the arguments of an entry: by number, by name, or as arithmetic over axes.
#pragma once

#include "planner/build/build_attributes.h"

namespace shard {

// An error with the nearest of the candidates, or all of them.
void report_unknown(const ArgumentContext& context, std::string_view code, Span span, std::string message,
                    std::string_view word, const std::vector<std::string_view>& candidates);

// The axis of that name; nullptr after E0228.
const AxisDecl* known_axis(const ArgumentContext& context, const Yaml& yaml, const std::string& text);

// A number, the name of an axis, which `name` receives, or arithmetic.
std::optional<i64> read_named_size(const ArgumentContext& context, const Yaml& yaml, std::string_view what,
                                   std::string& name);

// The number of a dim from 0 on. `logical`: the names of the value's dims.
std::optional<i64> read_dim(const ArgumentContext& context, std::string_view what, const Yaml& yaml,
                            const std::vector<std::string>& logical);

} // namespace shard
