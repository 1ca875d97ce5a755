#include "planner/grad/gradient_pattern.h"

#include "planner/graph/chain.h"
#include "planner/graph/graph_edit.h"
#include "planner/graph/local_use.h"

#include <algorithm>
#include <map>
#include <set>

namespace shard {

namespace {

constexpr std::string_view mark = ".pattern";

// The nodes of the pattern that these values come from, in order, from those that stand for what is given.
std::set<NodeId> nodes_behind(const Graph& graph, std::vector<ValueId> values,
                              const std::map<ValueId, ValueId>& given) {
    std::set<NodeId> nodes;
    while (!values.empty()) {
        const ValueId id = values.back();
        values.pop_back();
        if (!is_of_pattern(graph, id) || !nodes.insert(graph.value(id).producer).second || given.count(id) > 0)
            continue;
        const std::vector<ValueId>& inputs = graph.node(graph.value(id).producer).inputs;
        values.insert(values.end(), inputs.begin(), inputs.end());
    }
    return nodes;
}

// The gradient of a result, zeros if it has none, in the place of what stands for it.
ValueId put_in(Builder& builder, ValueId cotangent, ValueId given) {
    const Value value = builder.graph().value(given);
    builder.set_place({builder.graph().node(value.producer).scope, value.name, value.span, {}, {}, value.region});
    if (cotangent < 0) cotangent = constant_of(builder, value.type, 0);
    return varying_like(builder, cotangent, given);
}

// The first copy is called as the user called the value.
std::string name_for_copy(Builder& builder, ValueId id) {
    const Value value = builder.graph().value(id);
    if (value.name.ends_with(mark))
        return builder.unique_name(value.name.substr(0, value.name.size() - mark.size()), "_");
    builder.rename(id, builder.unique_name(value.name + std::string(mark), "_"), value.span);
    return value.name;
}

ValueId copy_node(Builder& builder, const Node& node, std::vector<ValueId> inputs) {
    Graph& graph = builder.graph();
    internal_check(node.op() != nullptr && node.outputs.size() == 1, "a loop in a pattern");
    const ValueId original = node.outputs[0];
    const Value value = graph.value(original);
    builder.set_place({node.scope, value.name, node.span, {}, {}, value.region, node.gradient_of});
    const std::optional<ValueId> made = builder.emit(node.op()->name, std::move(inputs), node.attributes());
    internal_check(made.has_value(), "a copy of a pattern was refused");
    graph.nodes[graph.value(*made).producer].apply().asked = node.asked();
    graph.value(*made).type = value.type;
    builder.rename(*made, name_for_copy(builder, original), value.span);
    return *made;
}

ValueId over(Builder& builder, const char* op, ValueId id, int region, const std::vector<int>& axes) {
    if (axes.empty()) return id;
    const Attributes attributes = over_axes(builder.graph().regions[region], axes);
    const std::optional<ValueId> made = builder.emit(op, {id}, attributes);
    internal_check(made.has_value(), "an op of a manual region was refused");
    return *made;
}

// --- removal ---

// Patterns, and from the last on what only they read; results of calls stay, as those of other modules do.
std::vector<bool> nodes_to_remove(const Graph& graph) {
    std::vector<int> readers(graph.values.size()); // that stay
    std::vector<bool> read(graph.values.size());
    for (ValueId id : graph.outputs) ++readers[id];
    for (const Call& call : graph.calls)
        for (ValueId id : call.results)
            if (id >= 0) ++readers[id];
    for (const Node& node : graph.nodes)
        for (ValueId id : node.inputs) {
            if (!node.pattern) ++readers[id];
            read[id] = true;
        }
    std::vector<bool> gone(graph.nodes.size());
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        const Node& node = graph.nodes[n];
        const auto is_for_patterns = [&](ValueId id) { return read[id] && readers[id] == 0; };
        const bool serves = !node.pattern && node.op() != nullptr &&
                            std::all_of(node.outputs.begin(), node.outputs.end(), is_for_patterns);
        gone[n] = node.pattern || serves;
        if (serves)
            for (ValueId id : node.inputs) --readers[id];
    }
    return gone;
}

} // namespace

std::vector<ValueId> copy_pattern(Builder& builder, const Call& call, std::span<const ValueId> cotangents,
                                  const std::vector<bool>& asked) {
    const Graph& graph = builder.graph();
    std::map<ValueId, ValueId> given, copies;
    for (size_t n = 0; n < cotangents.size(); ++n)
        if (call.given[n] >= 0) given[call.given[n]] = cotangents[n];
    std::vector<ValueId> wanted;
    for (size_t n = 0; n < call.gives.size(); ++n)
        if (asked[n] && call.gives[n] >= 0) wanted.push_back(call.gives[n]);
    for (NodeId n : nodes_behind(graph, wanted, given)) {
        const Node node = graph.node(n); // a copy: the graph grows
        const ValueId original = node.outputs[0];
        std::vector<ValueId> inputs;
        for (ValueId id : node.inputs) inputs.push_back(copies.count(id) > 0 ? copies[id] : id);
        copies[original] = given.count(original) > 0 ? put_in(builder, given[original], original)
                                                     : copy_node(builder, node, std::move(inputs));
    }
    for (const auto& [path, id] : call.names)
        if (copies.count(id) > 0) builder.graph().aliases.emplace_back(path, copies[id]);
    std::vector<ValueId> gradients;
    for (size_t n = 0; n < call.gives.size(); ++n)
        gradients.push_back(asked[n] && call.gives[n] >= 0 ? copies.at(call.gives[n]) : -1);
    return gradients;
}

ValueId constant_of(Builder& builder, const TensorType& type, double value) {
    Attributes attributes = shape_of(type.shape, type.logical);
    attributes.set("value", std::vector<double>{value});
    attributes.set("dtype", std::string(name(type.dtype)));
    const std::optional<ValueId> made = builder.emit("constant", {}, std::move(attributes));
    internal_check(made.has_value(), "a constant was refused");
    return *made;
}

ValueId varying_like(Builder& builder, ValueId id, ValueId like) {
    const Graph& graph = builder.graph();
    const int region = graph.value(like).region;
    if (region < 0) return id;
    const std::vector<int> axes = graph.value(like).varying, has = graph.value(id).varying; // copies: the graph grows
    Builder::Place place = builder.place();
    place.gradient_of = "pvary"; // that would stand where the other axes begin
    builder.set_place(std::move(place));
    return over(builder, "pvary", over(builder, "psum", id, region, axes_without(has, axes)), region,
                axes_without(axes, has));
}

void remove_patterns(Graph& graph) {
    const std::vector<bool> gone = nodes_to_remove(graph);
    graph.calls.clear();
    if (std::find(gone.begin(), gone.end(), true) == gone.end()) return;
    std::vector<NodeId> kept;
    for (NodeId n = 0; n < static_cast<NodeId>(gone.size()); ++n)
        if (!gone[n]) kept.push_back(n);
    keep_nodes(graph, kept);
}

} // namespace shard
