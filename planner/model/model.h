// A model file, read and checked for form: what the user wrote, with places. Meaning (shapes, ops) is checked by build.
#pragma once

#include "planner/text/yaml.h"
#include "plans/random/distribution.h"
#include "plans/random/parameter_keys.h"

namespace shard {

// A name as written, with its place.
struct Name {
    std::string text;
    Span span;
};

struct AxisDecl {
    Name name;
    i64 size = 1; // arithmetic over other axes is already evaluated
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
};

// `init: lecun_normal` or `init: {normal: {stddev: 0.02}}`; empty name = the default of the role.
struct InitDecl {
    std::string name;
    Yaml arguments;                      // a map or null; checked by build with plans/random/initializer.h
    std::optional<std::vector<i64>> key; // explicit key: one seed or two words
    std::vector<Key> layers = {};        // or one for each entry of a stack; see Random::layers
    Span span;
};

// An input, parameter or state.
struct TensorDecl {
    Name name;
    DType dtype = DType::f32;
    Shape shape;                      // resolved
    std::vector<std::string> logical; // per dim, "" where unnamed
    bool has_axes = false;            // false: `shape` form without names and without mesh -> open
    std::optional<ShardingSpec> mesh; // sharding by mesh axes directly
    std::vector<AxisRule> rules;      // the variable's own rules
    InitDecl init;
};

// One graph entry: {h: {dot: [x, w1], ...}}. Which values there are and what they mean is for build to check; the
// reader finds the op. Operands are value names ("x", "block.0.h", "a#2"), numbers ("0.5") or flags ("true"), as text.
//   {dot: [x, w], k: 1}                  op dot, operands [x, w], arguments {k: 1}
//   {einsum: "ab,bc->ac", in: [x, y]}    op einsum, operands [x, y], arguments {equation: "ab,bc->ac"}: the op's own
//                                        value is one of its arguments (OpDef::subject)
//   {repeat: block, times: 4, in: x}     op repeat, operands [x], arguments {repeat: block, times: 4}
//   {iota: ~, shape: [8]}                no operands
struct Entry {
    std::vector<Name> results; // usually one; `[q, k]: ...` is written "q, k"
    Name op;                   // op, composite, module, or "repeat"
    std::vector<Name> operands;
    YamlMap arguments; // every key beside the op itself and `in`
    Span span;
};

// What the backward pass computes again of what a module made, rather than reading it where it was kept:
//   none   pointwise chains, where that takes no more memory (planner/grad/recompute.h)
//   full   everything but the module's inputs
//   dots   everything but its inputs and the results of contractions
enum class Remat { none, full, dots };

// A module's own gradient, as jax.custom_vjp: reverse mode runs `graph` in place of the derivatives of the module's. It
// sees all that the module's graph sees, and the gradients that are given.
struct GradientDecl {
    struct Pair {
        Name of, value;
    };
    std::vector<Pair> given; // output, and what its gradient is called
    std::vector<Entry> graph;
    std::vector<Pair> gives; // input or parameter, and its gradient; to others none flows
    Span span;
};

struct ModuleDecl {
    Name name;
    Remat remat = Remat::none; // of modules that it calls too, unless they say otherwise
    std::vector<Name> inputs;  // formal names; their types come from the call
    std::vector<TensorDecl> params;
    std::vector<Entry> graph;
    std::vector<Name> outputs;
    std::optional<GradientDecl> gradient;
};

// How gradients of microbatches are reduced: once after the last, or in each (reference/users.md). Unless said,
// gradients of parameters that are replicated over an axis are reduced once, those that are sharded over it in each.
enum class GradientReduce { automatic, each, end };

// `train:`. The loss and metrics are graph entries named `loss` and as written; the optimizer is an entry without
// operands, whose arguments are checked by the train pass.
struct TrainDecl {
    std::vector<TensorDecl> targets;
    Entry loss;
    std::vector<Entry> metrics;
    Entry optimizer;
    std::optional<double> clip_by_global_norm;
    i64 microbatches = 1;
    std::string microbatch_axis; // the logical axis that they share; "": that of the first dim of the first input
    GradientReduce reduce = GradientReduce::automatic;
    Span span, microbatches_span;
};

// `precision: {compute: bf16, params: bf16}`: the element type in which the graph computes on f32 inputs and
// parameters, and that in which f32 parameters are stored. Losses and metrics stay f32; so do optimizer states, and
// with parameters of 16 bits a master copy of them (reference: the guide's classifier, dtype and param_dtype of flax).
struct Precision {
    DType compute = DType::f32, params = DType::f32;
};

struct Model {
    Name name;
    std::vector<AxisDecl> axes;
    Yaml axes_yaml; // as written: sizes may depend on each other
    i64 seed = 0;
    bool partitionable = true;
    bool xla_compat = false; // see planner/propagate/xla_compat.h
    KeyScheme keys = KeyScheme::nnx;
    Precision precision;
    std::vector<TensorDecl> inputs, params;
    std::vector<ModuleDecl> modules;
    std::vector<Entry> graph;
    std::vector<Name> outputs;
    std::optional<TrainDecl> train;

    const AxisDecl* find_axis(std::string_view name) const;
    const ModuleDecl* find_module(std::string_view name) const;
};

} // namespace shard
