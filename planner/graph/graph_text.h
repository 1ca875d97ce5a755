// A graph as a text that people read: a line for each input and each node, in the order in which they stand.
//
//     param   w: f32 (embed: 4, hidden: 8) [- | model] = normal() * 0.5
//     h: f32 (batch: 8, hidden: 8) [data | model] = dot x, w
//     loop layers, 3 trips
//       carry a: f32 (8, 8) = h
//       b: f32 (8, 8) = tanh a
//     end layers
//       k: f32 (8, 8) = yield b
//     output  k
//
// Of the global graph types are global; of the local one they are what a device holds, behind them `of` and the whole.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

struct GraphTextOptions {
    const Mesh* mesh = nullptr;
    // By ValueId; nullptr, or nullopt for a value: not known yet. Of the local graph each value's own is taken.
    const std::vector<std::optional<Sharding>>* shardings = nullptr;
    const Sources* sources = nullptr; // if given, lines end in the places that they come from: "  # model.yaml:12"
};

std::string graph_text(const Graph& graph, const GraphTextOptions& options);

} // namespace shard
