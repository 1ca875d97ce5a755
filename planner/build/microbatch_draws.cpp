#include "planner/build/microbatch_draws.h"

#include "planner/grad/microbatches.h"
#include "planner/graph/draws.h"
#include "planner/graph/types_of.h"
#include "planner/ops_support/attention_drop.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// The words of the key that a node draws by: two, of rbg four; none if it is written.
std::vector<ValueId> words_of(const Graph& graph, const Node& node) {
    if (!node.op()->attends) return node.inputs.size() > 1 ? node.inputs : std::vector<ValueId>();
    const int first = attention_scalars(*node.op()->attends, types_of(graph, node.inputs), node.attributes()).words;
    if (first < 0) return {};
    return {node.inputs[static_cast<size_t>(first)], node.inputs[static_cast<size_t>(first) + 1]};
}

} // namespace

void warn_of_draws_alike(Builder& builder) {
    const Graph& graph = builder.graph();
    std::vector<char> varies(graph.values.size(), 0); // from microbatch to microbatch
    const auto is_varying = [&varies](ValueId id) { return varies[static_cast<size_t>(id)] != 0; };
    std::vector<Span> said; // layers that are written out have one
    for (const Node& node : graph.nodes) {
        if (node.op() == nullptr) { // what a loop begins and ends with is what it is given
            for (size_t n = 0; n < node.outputs.size(); ++n)
                varies[static_cast<size_t>(node.outputs[n])] = is_varying(node.inputs[n]) ? 1 : 0;
            continue;
        }
        const Attributes& attributes = node.attributes();
        const bool is_drawn = draws(*node.op(), attributes);
        const std::vector<ValueId> words = is_drawn ? words_of(graph, node) : std::vector<ValueId>();
        const bool is_of_loop = attributes.has("loop") && attributes.integer("loop") == microbatch_loop;
        const bool varying = is_of_loop || (is_drawn && words.empty()) ||
                             std::any_of(node.inputs.begin(), node.inputs.end(), is_varying);
        for (const ValueId id : node.outputs) varies[static_cast<size_t>(id)] = varying ? 1 : 0;
        // Of bits other keys are made.
        if (words.empty() || graph.value(node.outputs[0]).type.dtype == DType::u32 ||
            std::any_of(words.begin(), words.end(), is_varying) ||
            std::find(said.begin(), said.end(), node.span) != said.end())
            continue;
        said.push_back(node.span);
        const GraphLoop& loop = graph.loops[microbatch_loop];
        builder.diagnostics()
            .warning("W0205", node.span,
                     fmt::format("'{}' draws the same in each of {} microbatches, by a key that is the same in all",
                                 node.op()->name, loop.trips))
            .label(loop.span, "the batch is cut here")
            .help(
                "a key that is written is another in each: key: 42, with the count of steps; or fold something of the "
                "batch into this one by fold_in");
    }
}

} // namespace shard
