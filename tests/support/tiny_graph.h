// Graphs of a few nodes, written in index notation, for tests of propagation. Ops are made up: a rule and a class is
// all that propagation sees of one.
//
//     TinyGraph g("a=2 b=2");
//     ValueId x = g.input({8, 8}, "[a | b]"), y = g.input({8, 8});
//     ValueId sum = g.pointwise({x, y});
//     ValueId out = g.op("ik,kj->ij", {sum, g.input({8, 16})}, {8, 16});
//     g.run();
//     CHECK(g.spec(out) == "[a? | ?]");
#pragma once

#include "planner/propagate/propagate.h"

namespace shard {

class TinyGraph {
public:
    explicit TinyGraph(std::string_view mesh); // "a=2 b=4"

    ValueId input(Shape shape, const char* seed = nullptr);
    ValueId op(const char* notation, std::vector<ValueId> operands, Shape result, const char* seed = nullptr);
    ValueId pointwise(std::vector<ValueId> operands, const char* seed = nullptr);
    ValueId reshape(const char* notation, ValueId operand, Shape result, const char* seed = nullptr);
    ValueId broadcast(const char* notation, ValueId operand, Shape result, const char* seed = nullptr);
    // One permutation factor 'i' over dims of different sizes; the other dims are alike. `size` is the factor's.
    ValueId move_along_first(std::vector<ValueId> operands, Shape result, i64 size);
    ValueId constrain(ValueId operand, const char* spec);
    void output(ValueId value, const char* spec = nullptr);

    void run(PropagateOptions options = {});
    std::string spec(ValueId value) const; // at the fixpoint, before anything is closed
    std::string output_spec(size_t index) const;
    Sharding sharding(std::string_view spec) const;

    Mesh mesh;
    Graph graph;
    Seeds seeds;
    Fixpoint fixpoint;

private:
    ValueId add_value(Shape shape, NodeId producer, const char* seed);
    ValueId add_node(const OpDef& def, const char* notation, std::vector<ValueId> operands, Shape result,
                     const char* seed);
};

inline PropagateOptions basic() { return {PropagateOptions::Strategy::basic, false}; }
inline PropagateOptions aggressive() { return {PropagateOptions::Strategy::aggressive, false}; }

} // namespace shard
