// A node of the graph: an op applied to values, or one of the few other things that a node does. The local graph has
// the same nodes over local shapes, and what moves data besides.
#pragma once

#include "planner/graph/attributes.h"
#include "planner/graph/phase.h"
#include "planner/model/declarations.h"
#include "plans/collective/collective.h"
#include "plans/diagnostics/diagnostic.h"
#include "plans/kernel/kernel.h"

#include <variant>

namespace shard {

struct OpDef;
using ValueId = int;
using NodeId = int;

// What a user asks for in the terms of a mesh or of logical axes, beside an op's attributes.
struct Asked {
    // A constrain node: exactly one of the two is used.
    std::vector<std::string> logical;   // as with_logical_constraint; empty = none
    std::optional<ShardingSpec> mesh;   // by mesh axes directly
    std::optional<ShardingSpec> border; // to_local and from_local: how the region's axes split the global side
};

// Why data moves between devices, and what would remove it.
struct Reason {
    std::string cause, remedy;
};

// What a node does is one of the five that follow.

// An op applied to values.
struct Apply {
    const OpDef* op = nullptr;
    Attributes attributes;
    Shared<Asked> asked;
    Shared<Kernel> kernel; // local graph only, and there of every op: what it lowers to
};
// Local graph only: a value is held otherwise, by a collective or out of what each device has already.
struct Reshard {
    Reason reason;
    std::optional<Phase> gather_phase; // of a gathered parameter: the pass that it is gathered for
};
struct Exchange : Reshard {
    Collective collective;
};
struct LocalMove : Reshard {
    Shared<Kernel> move; // a Move: the device's own block of what it holds, or a copy
};
// The markers of GraphLoop number `loop`.
struct LoopOpens {
    int loop = -1;
};
struct LoopCloses {
    int loop = -1;
};

struct Node {
    std::variant<Apply, Shared<Exchange>, Shared<LocalMove>, LoopOpens, LoopCloses> does;
    std::vector<ValueId> inputs, outputs;
    std::string scope; // module path, "block.0"
    Span span;
    std::string_view gradient_of; // of reverse mode: the op whose gradient it belongs to; empty: of the forward pass
    int remat = -1;               // the module call, in Graph::remats, that says what of its values is computed again
    // Of a gradient that a module declares (Call::given): only reverse mode reads it, and makes copies of it.
    bool pattern = false;
    int loop = -1;      // the innermost loop it stands in; see GraphLoop
    NodeId origin = -1; // local graph only: the node of the graph it comes from

    // nullptr or -1 if it does something else.
    const OpDef* op() const;
    const Collective* collective() const;
    const Reshard* reshard() const; // of an exchange or a local move
    const Kernel* kernel() const;   // of a local op or a local move
    Shared<Kernel> shared_kernel() const;
    int opens() const; // the loop that begins or ends here
    int closes() const;
    // Empty if it is not an op.
    const Attributes& attributes() const;
    const Asked& asked() const;
    // To change it; an internal error if it is not an op.
    Apply& apply();
};

// The beginning or end of a loop.
inline bool is_marker(const Node& node) { return node.opens() >= 0 || node.closes() >= 0; }
// Asks for a sharding, and computes nothing.
inline bool is_constraint(const Node& node) { return node.asked().mesh || !node.asked().logical.empty(); }

} // namespace shard
