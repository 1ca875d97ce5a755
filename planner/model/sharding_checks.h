// Checks of a sharding against its array, with messages that say what would do.
#pragma once

#include "planner/model/layout.h"
#include "plans/sharding/sharding.h"

namespace shard {

// What the checks need to know about an array, for messages.
struct CheckedArray {
    std::string name; // empty: "the array"
    const TensorType* type = nullptr;
    Span span; // its declaration
};

// Where each dim is written.
std::vector<Span> dim_spans(const ShardingSpec& spec);

// One of an override's, tensor's or constraint's axes does not exist: E0316. Under `ignore` such an axis is left out
// instead.
ShardingSpec without_missing_axes(const Mesh& mesh, ShardingSpec spec);
bool check_spec_axes(const Mesh& mesh, const ShardingSpec& spec, Diagnostics& diagnostics);

// The sharding of `spec`, whose axes exist: rank (E0312), every axis at most once (E0311).
std::optional<Sharding> spec_sharding(const Mesh& mesh, const ShardingSpec& spec, const CheckedArray& array,
                                      Diagnostics& diagnostics);

// What the layout says of a dim that axes do not divide: where it says `drop`, takes the last axes of the dim away until
// the others divide it, and says so at the place that split it, W0310. What was taken, by dim.
std::vector<std::vector<AxisRef>> drop_uneven(const Mesh& mesh, const DivisibilityDecl& choices, Sharding& sharding,
                                              const CheckedArray& array, const std::vector<Span>& causes,
                                              Diagnostics& diagnostics);

// Where the layout says `pad`: warns of parts that would hold padding alone, at the place that split the dim, W0311.
void warn_of_empty_parts(const Mesh& mesh, const DivisibilityDecl& choices, const Sharding& sharding,
                         const CheckedArray& array, const std::vector<Span>& causes, Diagnostics& diagnostics);

// Reports E0313 for every dim that its parts do not divide, at the place that split the dim: causes[dim]. `choices`: but
// for what is to be padded.
bool check_divides(const Mesh& mesh, const Sharding& sharding, const CheckedArray& array,
                   const std::vector<Span>& causes, Diagnostics& diagnostics,
                   const DivisibilityDecl* choices = nullptr);

// What an E0313 of check_divides says.
struct UndividedDim {
    std::string logical; // the dim's logical axis; empty if it has none
    i64 size = 0, parts = 0;
};
std::optional<UndividedDim> undivided_dim(const Diagnostic& diagnostic);

} // namespace shard
