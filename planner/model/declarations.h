// What a graph keeps of a model file: names with places, shardings and rules as written, declared arrays. Shapes are
// resolved; what they are made of is planner/model/model.h's.
#pragma once

#include "plans/diagnostics/diagnostic.h"
#include "plans/sharding/type.h"

#include <optional>
#include <string>
#include <vector>

namespace shard {

// A name as written, with its place.
struct Name {
    std::string text;
    Span span;
};

// One dim of a sharding as written, mesh axes still by name: `data`, `[data, model]`, `~`, "?", "data?", "data@1",
// "data:(1)2".
struct DimSpec {
    std::vector<std::string> axes; // as text, parse with parse_axis_ref
    bool open = false;
    int priority = 0;
    Span span;
};
struct ShardingSpec {
    std::vector<DimSpec> dims;
    std::vector<std::string> replicated = {}; // axes that propagation may not use; only manual regions ask for it
    Span span = {};
};

// One logical-axis rule: {batch: data}. `axes` empty = replicated (final); unconstrained = "?".
struct AxisRule {
    std::string logical;
    std::vector<std::string> axes;
    bool unconstrained = false;
    Span span;
    std::vector<Span> axis_spans = {}; // of each axis, where they were read
};

// An input, parameter or state.
struct ArrayDecl {
    Name name;
    DType dtype = DType::f32;
    Shape shape;                      // resolved
    std::vector<std::string> logical; // per dim, "" where unnamed
    bool has_axes = false;            // false: `shape` form without names and without mesh -> open
    std::optional<ShardingSpec> mesh; // sharding by mesh axes directly
    std::vector<AxisRule> rules;      // the variable's own rules
    std::string init_text;            // as numbers, without its key: "normal: {stddev: 0.02}"; empty: the default
};

// What the backward pass computes again of what a module made, rather than reading it where it was kept:
//   none   pointwise chains, where that takes no more memory (planner/grad/recompute.h)
//   full   everything but the module's inputs
//   dots   everything but its inputs and the results of contractions
//   names  everything but its inputs and the values that it names
enum class Remat { none, full, dots, names };

// Where a value waits for the backward pass, if a `remat` names it: `save` keeps it on the device, `offload` in the
// memory of the host.
enum class Kept { as_is_best, on_device, on_host };

// How gradients of microbatches are reduced: once after the last, or in each. Unless said, gradients of parameters that
// are replicated over an axis are reduced once, those that are sharded over it in each.
enum class GradientReduce { automatic, each, end };

} // namespace shard
