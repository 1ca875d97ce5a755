#include "planner/pipeline/graph_pass.h"

#include "planner/read/hardware.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

Compilation compilation_of(const GraphState& state, Sources& sources, Diagnostics& diagnostics) {
    Compilation c;
    c.model.emplace();
    c.layout.emplace();
    c.layout->mesh = c.written_mesh = state.mesh;
    c.hardware = load_hardware(c.layout->hardware, {}, sources, diagnostics, state.mesh.device_count());
    if (state.is_local) {
        c.local = Local{state.graph, state.value_of};
        return c;
    }
    c.graph = state.graph;
    Seeds seeds{state.shardings, state.constraints, state.outputs, {}, {}, {}};
    seeds.values.resize(state.graph.values.size());
    seeds.constraints.resize(state.graph.nodes.size());
    seeds.outputs.resize(state.graph.outputs.size());
    const auto is_known = [](const std::optional<Sharding>& sharding) { return sharding.has_value(); };
    if (std::all_of(seeds.values.begin(), seeds.values.end(), is_known)) {
        c.propagation.emplace();
        for (const std::optional<Sharding>& sharding : seeds.values) c.propagation->values.push_back(*sharding);
        for (size_t o = 0; o < seeds.outputs.size(); ++o)
            c.propagation->outputs.push_back(seeds.outputs[o].value_or(*seeds.values[state.graph.outputs[o]]));
    }
    c.seeds = std::move(seeds);
    return c;
}

} // namespace

std::optional<GraphState> graph_state(const Compilation& c) {
    if (c.plan || (!c.graph && !c.local)) return std::nullopt;
    GraphState state;
    state.mesh = c.layout->mesh;
    state.is_local = c.local.has_value();
    state.graph = c.local ? c.local->graph : *c.graph;
    if (c.local) {
        state.value_of = c.local->value_of;
    } else if (c.propagation) {
        state.shardings = {c.propagation->values.begin(), c.propagation->values.end()};
        state.outputs = {c.propagation->outputs.begin(), c.propagation->outputs.end()};
    } else if (c.seeds) {
        state.shardings = c.seeds->values;
        state.constraints = c.seeds->constraints;
        state.outputs = c.seeds->outputs;
    }
    return state;
}

std::optional<GraphState> run_pass(const PassDef& pass, const GraphState& state, Diagnostics& diagnostics) {
    constexpr std::string_view global[] = {"propagate", "partition"},
                               local[] = {"optimize", "order", "overlap", "combine", "land"};
    const auto takes = [&pass](std::span<const std::string_view> names) {
        return std::find(names.begin(), names.end(), pass.name) != names.end();
    };
    if (!takes(state.is_local ? std::span(local) : std::span<const std::string_view>(global))) {
        diagnostics
            .error("E0706", {},
                   fmt::format("'{}' cannot begin with {} graph", pass.name, state.is_local ? "a local" : "this"))
            .help("propagate and partition take a graph; optimize, order, overlap, combine and land a local one");
        return std::nullopt;
    }
    Sources sources;
    Compilation c = compilation_of(state, sources, diagnostics);
    if (pass.name == "partition" && !c.propagation) {
        diagnostics.error("E0706", {}, "'partition' cannot begin with this graph")
            .help("it takes one in which every value has its sharding");
        return std::nullopt;
    }
    pass.run(c, {}, sources);
    for (const Diagnostic& diagnostic : c.diagnostics.all()) diagnostics.add(diagnostic);
    if (diagnostics.has_error()) return std::nullopt;
    if (pass.check != nullptr) pass.check(c);
    return graph_state(c);
}

} // namespace shard
