// What schedules of a learning rate with a warmup share: a line from `start` to `peak` over `warmup_steps`, then a fall
// to `end` that is over after `decay_steps` steps, the warmup included. In float32, from the count before the step.
#pragma once

#include "planner/graph/chain.h"

#include <functional>

namespace shard {

// The arguments of all of them.
std::vector<AttributeDef> warmup_attributes();

// How a rate falls from `peak` to `end` in `steps` steps; `since` counts those since the peak.
struct Fall {
    ValueId since = -1;
    double peak = 0, end = 0, steps = 0;
};

// The rate; nullopt after E0224 unless the count is a whole number, E0226 unless the warmup leaves steps to fall in.
BuiltValues warmed_up(Builder& builder, ValueId count, const Attributes& attributes, std::string_view composite,
                      Span span, ValueId (*fall)(Chain&, const Fall&));

// optax.linear_schedule: `from` at 0, `to` at `steps` and later.
ValueId line(Chain& chain, ValueId count, double from, double to, double steps);

} // namespace shard
