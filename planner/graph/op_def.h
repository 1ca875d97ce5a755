// An op is its index rule. One file per op in planner/ops/<name>.cpp defines `const OpDef& op_<name>()`; its name is
// its registration.
//
//     const OpDef& op_dot() {
//         static const OpDef def = {
//             .name = "dot", .doc = "...", .operands = {2, 2}, .infer = infer, .rule = rule, .lower = lower};
//         return def;
//     }
#pragma once

#include "planner/graph/graph.h"
#include "plans/sharding/index_rule.h"

namespace shard {

struct AttributeDef {
    // How the attribute is written, and as what it is stored. What is read fits this and needs no second check:
    //   integer, flag, string   one of them, as itself
    //   number     finite, as itself
    //   element    a number that becomes an element of a value: .inf and .nan too; a number
    //   dtype      a type's name, as a string
    //   integers   one or a list; axis names stand for their sizes
    //   pairs      a list of pairs of integers, as integers, two for each pair
    //   elements   one or a list, also of lists: numbers
    //   size       one integer or axis name, as integers with one entry
    //   dims       dims of the first operand (of the result, if there is none), as numbers (negative from the end) or
    //              logical names, each at most once; integers from 0 on, in the order written. Of several attributes
    //              of this type one may be given
    //   dim        one of them, as integers with one entry
    //   shape      sizes or axis names; as integers. One -1 is left to `infer`. Axis names become the result's logical
    //              names (`axes`)
    //   axes       axis names or ~, one a dim, as strings; with them alone, `shape` is filled in from their sizes
    //   sharding   a sharding by mesh axes; kept in Asked::mesh. An op that has one is a constraint
    //   mesh_axes  axes of the manual region, at least one, as strings; `mesh_axes` and `sizes` beside it hold their
    //              numbers and sizes
    enum class Type {
        integer,
        number,
        element,
        flag,
        string,
        dtype,
        integers,
        pairs,
        elements,
        size,
        dims,
        dim,
        shape,
        axes,
        sharding,
        mesh_axes
    };
    std::string_view name;
    Type type = Type::integer;
    bool required = false;
    std::string_view doc;
};

// What `infer` sees: operand types and attributes, and where to complain. Spans point at what the user wrote.
struct InferContext {
    std::span<const TensorType> operands;
    std::span<const Span> operand_spans;
    const Attributes& attributes;
    Span span; // the op's name
    Diagnostics& diagnostics;
    std::string_view op;                             // its name, for messages
    std::span<const std::string_view> operand_names; // as the user knows them, for messages
};

// What `lower` sees. Local types are those of one device; factor_axes says over which axes each factor of the rule is
// split. Everything here is the same for all devices; what differs between them is written as Affine over mesh
// coordinates.
struct LowerContext {
    std::span<const TensorType> global_operands, global_results;
    std::span<const TensorType> local_operands, local_results;
    const Attributes& attributes;
    const IndexRule& rule;
    std::span<const std::vector<AxisRef>> factor_axes;
    // Start of the local block of an operand's or result's dim in the global value (sums over the dim's factors).
    Affine operand_start(int operand, int dim) const;
    Affine result_start(int result, int dim) const;
    // The value of an integer scalar operand, clamped to [low, high]. Operands that a kernel reads only so come last;
    // they are none of the kernel's inputs.
    static Affine scalar(int operand, i64 low = std::numeric_limits<i64>::min(),
                         i64 high = std::numeric_limits<i64>::max());
};

// What a device reads of an operand whose dim is split, where that reaches into what others hold: device n of `axes` has
// `count` elements of the whole dim from first[n] on, and `fill` where there are none.
struct Overlap {
    int operand = 0;
    size_t dim = 0;
    std::vector<AxisRef> axes;
    std::vector<i64> first;
    i64 count = 0;
    double fill = 0;
};

class Builder;

// What `gradient` sees: the node's (or composite's) values, and the gradient of the loss with respect to its result.
struct GradientContext {
    Builder& builder;
    std::span<const ValueId> inputs;
    ValueId output = -1;
    ValueId cotangent = -1; // of the output's type
    const Attributes& attributes;
    std::span<const bool> wanted; // by input: whether anything upstream is differentiated
};

struct DeviceOp; // planner/graph/device_op.h

struct OpDef {
    std::string_view name;
    std::string_view doc; // one sentence, then an example line of YAML
    struct Arity {
        int min = 1, max = 1; // max -1: any number
    } operands;
    std::vector<AttributeDef> attributes;
    // The attribute that is written as the op's own value; operands, if it has any, are then written under `in`:
    //     {einsum: "ik,kj->ij", in: [x, y]}     {constant: 0.5, shape: [8]}
    std::string_view subject = {};

    // Result types; nullopt after reporting E02xx. Every result's logical names may be left empty: build then takes
    // them from operand dims that share the factor.
    std::optional<std::vector<TensorType>> (*infer)(const InferContext&) = nullptr;
    IndexRule (*rule)(std::span<const TensorType> operands, std::span<const TensorType> results,
                      const Attributes&) = nullptr;
    Kernel (*lower)(const LowerContext&) = nullptr;
    // Optional: the attributes with which the op makes a device's part of its result of the parts of its operands,
    // where they are others than those of the whole: they hold sizes of dims. Shapes need no word.
    Attributes (*local_attributes)(const LowerContext&) = nullptr;

    // Optional, of an op with windows: what devices read of each other where dims are split, which `lower` and
    // `local_attributes` then find in local_operands; nullopt if its devices cannot do alike.
    std::optional<std::vector<Overlap>> (*overlaps)(const LowerContext&) = nullptr;

    // Optional: writes out what the user left to defaults (all dims, limits, the element type), so that a node holds
    // everything explicitly. Called after `infer` has accepted the use.
    void (*complete)(std::span<const TensorType> operands, std::span<const TensorType> results, Attributes&) = nullptr;
    // Optional: a use that `infer` accepts but one node cannot hold (an einsum of three operands, a reduction that
    // keeps its dims) is written as several. `splits` says whether it is one, `expand` emits them instead and returns
    // the result; nullopt after reporting.
    bool (*splits)(std::span<const TensorType> operands, const Attributes&) = nullptr;
    std::optional<ValueId> (*expand)(Builder&, std::span<const ValueId> operands, const Attributes&) = nullptr;

    // Optional: emits the gradients of the inputs, each of its input's type, from that of the result; -1 where there is
    // none (not wanted, integers). An op without it is one that no gradient flows through (comparisons, iota).
    std::vector<ValueId> (*gradient)(const GradientContext&) = nullptr;

    // Operands in which the op is linear: a partial sum of that operand (the others not partial, and replicated over
    // those axes) passes through and may be reduced later. add is linear in both together: see `jointly_linear`.
    std::vector<int> linear_in;
    // Optional: whether linear_in holds for these types.
    bool (*is_linear)(std::span<const TensorType> operands, std::span<const TensorType> results) = nullptr;
    // Linear in all operands at once (add, concatenate): all must be partial over the same axes.
    bool jointly_linear = false;
    // The sum of its two operands, and nothing else: of many, in whatever order.
    bool adds = false;

    // Ops of manual regions, whose result on one device depends on the device or on others: how. nullptr for all
    // others, which do the same on every device.
    const DeviceOp* device = nullptr;

    // The same elements in the same order: nothing but the shape is another.
    bool reshapes = false;
    // A reduction: what lies along the dims that its attribute `dims` names becomes one element, by this.
    std::optional<ReduceOp> reduces;
    // A scan: an element of the result is made of one and all before it along the dim `dim`, or all behind it, by this.
    std::optional<ScanOp> scans;
    // Of a stack, which has an entry for every trip of a loop around the op (planner/graph/loop_index.h): the running
    // trip's entry, or the stack with another one in its place, which is operand 1.
    enum class OfStack { nothing, takes_entry, writes_entry } of_stack = OfStack::nothing;

    // Attention, and what its gradient is made of: which part of it (planner/ops_support/attention.h).
    std::optional<AttendPart> attends;

    // A window of operand 0, where scalars say (planner/ops_support/window.h): taken, or with operand 1 in its place.
    enum class Windows { none, takes, writes } windows = Windows::none;

    // Traits that propagation priorities ask for (docs/propagation.md).
    enum class Class { pointwise, reshape_like, broadcast, constant, contraction, other } op_class = Class::other;
    bool draws = false;             // random: what it draws differs from trip to trip of the loops around it (draws.h)
    bool internal = false;          // made by passes, not for model files
    bool duplicate_per_use = false; // constants and iota: each use gets its own, so uses do not constrain each other
};

const std::vector<const OpDef*>& all_ops();  // those that a model file may use, sorted by name
const OpDef* find_op(std::string_view name); // internal ones too
// The attributes with which the op makes a device's part of its result: shapes are those of the part.
Attributes local_attributes(const OpDef& op, const LowerContext& context);
std::vector<int> linear_operands(const OpDef& op, std::span<const TensorType> operands,
                                 std::span<const TensorType> results);
std::string_view op_name(const Node& node); // "loop" for a marker

using BuiltValues = std::optional<std::vector<ValueId>>;

// A composite is written over primitives: planner/composites/<name>.cpp defines `const CompositeDef&
// composite_<name>()`.
struct CompositeDef {
    std::string_view name;
    std::string_view doc;
    OpDef::Arity operands;
    std::vector<AttributeDef> attributes;
    // Emits nodes and returns the results; nullopt after reporting.
    BuiltValues (*build)(Builder&, std::span<const ValueId> operands, const Attributes&, Span span) = nullptr;
    // Optional, for one result: as OpDef::gradient, in place of the gradients of the nodes emitted, where it needs
    // fewer of their values. It may read the operands and the result.
    std::vector<ValueId> (*gradient)(const GradientContext&) = nullptr;
    // Makes a learning rate, a number as f32, of the count of steps before, its operand.
    bool is_schedule = false;
};
const std::vector<const CompositeDef*>& all_composites();
const CompositeDef* find_composite(std::string_view name);

} // namespace shard
