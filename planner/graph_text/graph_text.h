// A graph as a text that people read, and that is read back (planner/graph_text/graph_parse.h): a line for each input
// and each node, in the order in which they stand.
//
//     graph on {data: 2, model: 4}
//     param   w: f32 (embed: 4, hidden: 8) [- | model] = normal() * 0.5
//     h: f32 (batch: 8, hidden: 8) [data | model] = dot x, w
//     loop 0: layers, 3 trips
//       carry a: f32 (8, 8) = h
//       b: f32 (8, 8) = tanh a
//     end layers
//       k: f32 (8, 8) = yield b
//     output  k
//
// Of the global graph types are global. `local graph on` begins the other: types are what a device holds, behind them
// stands `of` and the whole. What a constraint asks for, and a layout of an output, is behind `as`.
//
// With details there is below a line, where it has any, what people can do without:
//
//       | {"role": "gradient", "of": "w", "kernel": {"reduce": {"dims": [0], "op": "sum"}}}
//
// Steps that were fused are named in their order, and behind `with` the constants among them: "fused mul+tanh x with
// 0.5". The kernel of an op that follows from its types and shardings is none. What only the passes before `propagate`
// read is in no text: declarations, aliases, calls and their gradients.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// A graph between two passes, with what is known there.
struct GraphState {
    Mesh mesh;
    bool is_local = false;
    Graph graph;
    // Of the global graph; nullopt, or too short: nothing.
    std::vector<std::optional<Sharding>> shardings;   // by ValueId
    std::vector<std::optional<Sharding>> constraints; // by NodeId
    std::vector<std::optional<Sharding>> outputs;     // by output
    // Of the local graph: as Local::value_of; of one that was read, in the order of the local values.
    std::vector<ValueId> value_of;
};

struct GraphTextOptions {
    const Sources* sources = nullptr; // if given, lines end in the places that they come from: "  # model.yaml:12"
    bool details = false;
};

std::string graph_text(const GraphState& state, const GraphTextOptions& options = {});

} // namespace shard
