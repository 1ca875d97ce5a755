// A model file, read and checked for form: what the user wrote, with places. Meaning (shapes, ops) is checked by build.
#pragma once

#include "planner/model/declarations.h"
#include "planner/model/named_list.h"
#include "planner/text/yaml.h"
#include "plans/random/distribution.h"
#include "plans/random/parameter_keys.h"

namespace shard {

struct AxisDecl {
    Name name;
    i64 size = 1; // arithmetic over other axes is already evaluated
};

// `init: lecun_normal` or `init: {normal: {stddev: 0.02}}`; empty name = the default of the role.
struct InitDecl {
    std::string name;
    Yaml arguments;                      // a map or null; checked by build with plans/random/initializer.h
    std::optional<std::vector<i64>> key; // explicit key: one seed or two words
    std::vector<Key> layers = {};        // or one for each entry of a stack; see Random::layers
    Span span;
};

struct TensorDecl {
    ArrayDecl array;
    InitDecl init;
    Span at = {}; // the line of the program that the model was made of
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
    Name op;                   // op, composite, module, or form (planner/read/entry_form.h)
    std::vector<Name> operands;
    YamlMap arguments; // every key beside the op itself and `in`
    Span span;
    Span at = {}; // in the program that the model was made of (planner/read/places.h); of ops
};

// `updates: {cache: new_cache}`: what an input, a variable or a parameter holds after a step.
struct UpdateDecl {
    Name input, value;
};

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

// What a call of a module may say: `args:` with their defaults; null: the call must say it.
struct ModuleHead {
    Name name;
    YamlMap args;
};

// A module as it is called with some arguments: they stand in the place of `$name` (planner/read/arguments.h).
struct ModuleDecl {
    Name name;                 // "block", or with arguments "block(width: 256)"
    Remat remat = Remat::none; // of modules that it calls too, unless they say otherwise
    struct KeptDecl {
        Name glob; // over the paths of values, seen from the module
        Kept kept = Kept::on_device;
    };
    std::vector<KeptDecl> kept; // of Remat::names
    std::vector<Name> inputs;   // formal names; their types come from the call
    std::vector<TensorDecl> params, variables;
    std::vector<Entry> graph;
    std::vector<Name> outputs;
    std::vector<UpdateDecl> updates; // of its own parameters and variables
    std::optional<GradientDecl> gradient;

    std::string written_name() const { return name.text.substr(0, name.text.find('(')); }
};

// `train:`. The loss and metrics are graph entries named `loss` and as written, or values of the graph: entries without
// an op, of one operand. The optimizer is an entry without operands, whose arguments are checked by the train pass.
struct TrainDecl {
    std::vector<TensorDecl> targets;
    Entry loss;
    std::vector<Entry> metrics;
    Entry optimizer;
    std::optional<double> clip_by_global_norm;
    bool states_on_host = false; // those of the optimizer, as large as their parameters
    i64 microbatches = 1;
    std::optional<DType> microbatch_sums; // the type in which gradients are added up over them; unless said, their own
    std::string microbatch_axis; // the logical axis that they share; "": that of the first dim of the first input
    GradientReduce reduce = GradientReduce::automatic;
    Span span, microbatches_span;
};

// `precision: {compute: bf16, params: bf16}`: the element type in which the graph computes on f32 inputs and
// parameters, and that in which f32 parameters are stored. Losses and metrics stay f32; so do optimizer states, and
// with parameters of 16 bits a master copy of them, as with dtype and param_dtype of flax.
struct Precision {
    DType compute = DType::f32, params = DType::f32;
};

struct Model {
    Name name;
    std::vector<AxisDecl> axes;
    Yaml axes_yaml; // as written: sizes may depend on each other
    i64 seed = 0;
    bool partitionable = true; // random bits as with jax_threefry_partitionable
    bool xla_compat = false;   // see planner/propagate/xla_compat.h
    KeyScheme keys = KeyScheme::nnx;
    std::optional<i64> most_layers;        // of a repeat that is written out: a model of fewer, to try something on
    std::vector<Span> without_constraints; // places of constraints that are taken as not written, likewise
    Precision precision;
    std::vector<TensorDecl> inputs, params, variables; // a variable is kept as a parameter is, and not trained
    NamedList<ModuleHead> heads;                       // what entries may call
    NamedList<ModuleDecl> modules;
    std::vector<Entry> graph;
    std::vector<Name> outputs;
    std::vector<UpdateDecl> updates;
    std::optional<TrainDecl> train;

    const AxisDecl* find_axis(std::string_view name) const;
    const ModuleDecl* find_module(std::string_view wanted) const { return modules.find(wanted); }
};

} // namespace shard
