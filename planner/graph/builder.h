// Adds nodes to a graph: infers types, names intermediate values, keeps places. Used by build and by composites.
#pragma once

#include "planner/graph/op_def.h"
#include "plans/random/parameter_keys.h"

#include <map>

namespace shard {

// Where random ops take their keys from, and whether they are those of a train step.
struct RandomSource {
    Key root;
    KeyScheme scheme = KeyScheme::nnx;
    BitLayout layout = BitLayout::partitionable;
    bool training = false;
};

class Builder {
public:
    // The graph may have values already: passes after build add to it.
    Builder(Graph& graph, Diagnostics& diagnostics);

    // Emits one op, or all that a composite of that name expands to; nullopt after reporting what does not fit. Values
    // are named "<prefix>.<op>", made unique with "_2", "_3", ...; build renames the last one to what the user called
    // it.
    // A value of an op that is duplicated per use is copied when it is used again.
    std::optional<ValueId> emit(std::string_view op, std::vector<ValueId> operands, Attributes attributes = {});
    // The same for a composite that may have several results.
    BuiltValues emit_all(std::string_view op, std::vector<ValueId> operands, Attributes attributes = {});
    // A rank-0 constant; nullopt after reporting that the type has no such number.
    std::optional<ValueId> number(double value, DType dtype);
    ValueId scalar(double value, DType dtype); // of a number that every type has
    // A value of a manual region, taken to vary over these axes too; constants and whole values are the same
    // everywhere, and stay.
    ValueId vary(ValueId id, const std::vector<int>& axes);

    const TensorType& type(ValueId id) const { return graph_->value(id).type; }
    Graph& graph() { return *graph_; }
    Diagnostics& diagnostics() { return *diagnostics_; }

    // What the user wrote for the next entry. Operand names and spans are of the entry's operands: they serve the
    // messages about the entry's own op; nodes inside a composite point at the composite.
    struct Place {
        std::string scope, prefix;
        Span span;
        std::vector<Span> operand_spans;
        std::vector<std::string> operand_names;
        int region = -1;                   // the manual region in which ops without operands are
        std::string_view gradient_of = {}; // as Node::gradient_of
    };
    void set_place(Place place) { place_ = std::move(place); }
    const Place& place() const { return place_; }
    // What is emitted next stands where a node does, and is named after it: for passes that write it in another way.
    void stand_at(const Node& node);

    void set_random(const RandomSource& source) { random_ = source; }
    const RandomSource& random() const { return random_; }
    // How often it was asked for this stream before.
    i64 next_random(const std::string& stream) { return random_count_[stream]++; }

    // The innermost loop that what is emitted next stands in; -1: none. See LoopBuilder.
    int loop() const { return loop_; }
    void set_loop(int loop) { loop_ = loop; }
    // The module call that what is emitted next belongs to; see Node::remat.
    int remat() const { return remat_; }
    void set_remat(int remat) { remat_ = remat; }
    // Whether what is emitted next is part of a pattern; see Node::pattern.
    bool pattern() const { return pattern_; }
    void set_pattern(bool pattern) { pattern_ = pattern; }
    // Adds a marker of a loop: a node without an op, whose results have these types.
    std::vector<ValueId> emit_marker(Node marker, const std::vector<TensorType>& types, std::string_view name);

    ValueId add_value(Value value);
    // Adds a value without a producer.
    ValueId add_input(Value value);
    // A path that no value has yet: itself, or with `separator` and a number.
    std::string unique_name(const std::string& path, std::string_view separator);
    void rename(ValueId id, std::string name, Span span);
    bool is_used(ValueId id) const { return used_[id]; }
    void mark_used(ValueId id, bool used = true) { used_[id] = used; }

private:
    std::optional<ValueId> emit_op(const OpDef& def, std::vector<ValueId> operands, Attributes attributes);
    BuiltValues inside(std::string_view name, const std::vector<ValueId>& operands, const Attributes& attributes,
                       const CompositeDef* composite, const OpDef* op);
    std::vector<ValueId> emit_node(Node node, const std::vector<TensorType>& types, std::string_view name);
    ValueId for_use(ValueId id);

    Graph* graph_;
    Diagnostics* diagnostics_;
    Place place_;
    int loop_ = -1, remat_ = -1;
    bool pattern_ = false;
    RandomSource random_;
    std::map<std::string, i64> random_count_;
    std::vector<bool> used_;           // by ValueId
    std::map<std::string, int> names_; // every name taken, and the last number given to it
    // Values that were taken to vary over more axes, by the loop in which they were.
    std::map<std::tuple<ValueId, std::vector<int>, int>, ValueId> varied_;
};

} // namespace shard
