// The dataflow graph: values and the nodes that make them, in SSA form. Built once (global shapes), and again by
// partition as the *local* graph: the same node type over local shapes, with collectives as nodes. Nodes are stored in
// a topological order; Boost.Graph (graph.cpp) answers questions about order and reachability.
#pragma once

#include "planner/graph/node.h"
#include "plans/plan/report.h"

namespace shard {

struct CompositeDef;

// How a value of the local graph is a device's part of a whole one.
struct LocalPart {
    Shape global_shape;
    Sharding sharding;
};

struct Value {
    std::string name; // a path: "block.0.h", "a#2"; unique
    TensorType type;  // global in the graph, local in the local graph
    Role role = Role::value;
    NodeId producer = -1;   // -1: an input, parameter or state
    Span span;              // the YAML that named it
    Shared<LocalPart> part; // local graph only
    Shared<Generate> init;  // inputs, params and states: global shape, start left empty
    int decl = -1;          // inputs and params: index into Graph::declared
    int loop = -1;          // the innermost loop inside which it is made; -1: outside all
    ValueId of = -1; // states and gradients: the parameter, or the value of the forward pass, that they belong to
    int stacked = 0; // parameters: how many leading dims hold the layers of blocks that are scanned
    int region = -1; // the manual region that it is a local value of, as in GraphRegion; -1: none
    std::vector<int> varying;     // in a region: the mesh axes over which it varies, sorted
    Kept kept = Kept::as_is_best; // of the forward pass: what its module's remat says of it
    bool on_host = false;         // in the host's memory: states, and local values
};

// A loop is a run of consecutive nodes between two markers, which are nodes without an op in the surrounding loop:
//
//     opens    reads the inits, makes the arguments
//     ...      the body, its nodes with Node::loop == this loop; they may read values from outside, and inner loops
//              stand among them
//     closes   reads the yields, terms and slices, makes the results
//
// So SSA form and the order of nodes hold as they are written. Arguments are values of the body, results of the loop
// around. The index counts 0 .. trips-1, or down if `reverse`; ops of the body that depend on it have the loop's number
// in their attribute `loop` (planner/graph/loop_index.h). A local loop only carries: partition writes sums and
// stacks out.
struct GraphLoop {
    int parent = -1;
    i64 trips = 1;
    bool reverse = false;
    NodeId opens = -1, closes = -1; // -1: nobody reads its results, and it is gone
    // argument is init in the first trip and the yield of the trip before in the others; result is the last yield.
    struct Carried {
        ValueId init, argument, yield, result;
    };
    // result is the sum of the term over all trips.
    struct Sum {
        ValueId term, result;
        // Of gradients: how a partial term is reduced over devices, and the gradient that the sum becomes.
        GradientReduce reduce = GradientReduce::automatic;
        ValueId becomes = -1;
    };
    // result[index] = slice: a new dim in front, as long as there are trips.
    struct Stack {
        ValueId slice, result;
    };
    std::vector<Carried> carried;
    std::vector<Sum> sums;
    std::vector<Stack> stacks;
    std::string scope; // path of the repeat, "" for the loop over microbatches
    Span span;
};

// A manual region (shard_map): ops over values as one device has them along the region's mesh axes. Their types are
// local over these axes and global over the others, over which shardings propagate through the region as they do
// outside. Nothing marks where a region begins and ends: its values say that they belong to it, `to_local` makes one of
// a global value and `from_local` a global value of one. So a gradient reads the region's values where they are.
struct GraphRegion {
    std::vector<AxisRef> axes;      // whole mesh axes, sorted
    std::vector<std::string> names; // theirs
    bool check = true;              // of what its out shardings claim
    std::string scope;              // path of its values
    Span span;
};

// An input whose bytes hold `output` after a step: a parameter or state and its new value.
struct Update {
    ValueId input = -1, output = -1;
};

// A call with a gradient of its own, which stands in for the gradients of the nodes [first, last) that it became. That
// of a composite is a function, that of a module a pattern: nodes of the graph (Node::pattern) that make `gives` of
// `given` and of whatever else they read. Reverse mode copies them, with the gradients of the results in the place of
// `given`.
struct Call {
    std::vector<ValueId> operands, results; // a result that is -1 is not there
    NodeId first = -1, last = -1;
    const CompositeDef* composite = nullptr;            // nullptr: a module
    Attributes attributes;                              // the composite's
    std::vector<ValueId> given;                         // by result; -1: whole numbers
    std::vector<ValueId> gives;                         // by operand; -1: no gradient flows to it
    std::vector<std::pair<std::string, ValueId>> names; // further ones of the pattern's values, as Graph::aliases
};

struct Graph {
    std::vector<Node> nodes;
    std::vector<Value> values;
    std::vector<ArrayDecl> declared; // what the user wrote of `inputs`; params of module instances by full path
    std::vector<ValueId> inputs;     // inputs and params, in declaration order
    std::vector<ValueId> outputs;
    std::vector<std::string> output_names;
    // Further names of values: what a caller calls a module's result. By full path, in the order of their making.
    std::vector<std::pair<std::string, ValueId>> aliases;
    std::vector<Call> calls;          // inner before outer; for reverse mode
    std::vector<GraphLoop> loops;     // outer before inner
    std::vector<GraphRegion> regions; // in the order of their making
    std::vector<Update> updates;      // in declaration order; every `output` is one of `outputs`
    ValueId loss = -1;                // training: the scalar that is differentiated
    // Outputs that are a sum over a count: over microbatches both are added up before they are divided.
    struct Quotient {
        ValueId value, sum, count;
    };
    std::vector<Quotient> quotients;
    std::vector<Remat> remats; // calls of modules that say so; in the order of calls

    const Value& value(ValueId id) const { return values[id]; }
    Value& value(ValueId id) { return values[id]; }
    const Node& node(NodeId id) const { return nodes[id]; }
};

// Checks SSA form, topological order (by Boost.Graph), types against the ops' rules, and loops; internal error if
// broken.
void verify_graph(const Graph& graph);
// Made by a node that is part of a pattern.
inline bool is_of_pattern(const Graph& graph, ValueId id) {
    return graph.value(id).producer >= 0 && graph.node(graph.value(id).producer).pattern;
}
// The value of a name as a user writes it: a full path; a bare name means the last rebinding ("a" finds "a#3").
std::optional<ValueId> find_value(const Graph& graph, std::string_view name);

} // namespace shard
