#include "planner/local_builder.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string_view suffix_of(const Collective& collective) {
    // Words for the forms in between; a kind without a word of its own is called by its name.
    static constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"all_reduce", "reduced"},   {"all_gather", "gathered"},         {"reduce_scatter", "scattered"},
        {"all_to_all", "exchanged"}, {"collective_permute", "permuted"},
    };
    for (const auto& [kind, word] : words) {
        if (collective.def->name == kind) return word;
    }
    return collective.def->name;
}

} // namespace

LocalBuilder::LocalBuilder(Local& local, const Graph& graph) : local_(&local), graph_(&graph) {
    for (const Value& value : graph.values) names_.insert(value.name);
}

ValueId LocalBuilder::add_value(ValueId global, const Sharding& sharding, std::string_view suffix, bool keeps) {
    const Value& source = graph_->value(global);
    Value value;
    value.name = source.name;
    if (!keeps) {
        std::string stem = fmt::format("{}.{}", source.name, suffix);
        value.name = stem;
        for (int n = 2; !names_.insert(value.name).second; ++n) value.name = fmt::format("{}#{}", stem, n);
    }
    value.type = source.type;
    value.type.shape = local_shape(source.type.shape, sharding);
    value.role = keeps || source.role == Role::gradient ? source.role : Role::value;
    value.span = source.span;
    value.global_shape = source.type.shape;
    value.sharding = sharding;
    if (keeps) value.decl = source.decl;
    local_->graph.values.push_back(std::move(value));
    return static_cast<ValueId>(local_->graph.values.size()) - 1;
}

ValueId LocalBuilder::input(ValueId global, const Sharding& kept) {
    ValueId id = add_value(global, kept, "", true);
    // The start stays empty: where a device's block begins follows from the buffer's sharding.
    local_->graph.value(id).init = graph_->value(global).init;
    local_->graph.inputs.push_back(id);
    return id;
}

ValueId LocalBuilder::compute(const Node& node, NodeId origin, std::vector<ValueId> inputs, Kernel kernel,
                              const std::vector<std::vector<AxisRef>>& factor_axes, const Sharding& made, bool keeps) {
    ValueId result = add_value(node.outputs[0], made, made.partial.empty() ? "computed" : "partial", keeps);
    Node local = node;
    local.inputs = std::move(inputs);
    local.outputs = {result};
    local.kernel = std::move(kernel);
    local.factor_axes = factor_axes;
    local.origin = origin;
    local_->graph.value(result).producer = static_cast<NodeId>(local_->graph.nodes.size());
    local_->graph.nodes.push_back(std::move(local));
    return result;
}

ValueId LocalBuilder::reshard(ValueId from, ValueId global, const Redistribution& way, const Reason& reason,
                              NodeId origin, bool keeps) {
    ValueId at = from;
    for (size_t i = 0; i < way.steps.size();) {
        Node node;
        node.origin = origin;
        node.span = graph_->value(global).span; // an input that is returned has no node
        if (origin >= 0) {
            node.scope = graph_->node(origin).scope;
            node.span = graph_->node(origin).span;
        }
        node.cause = reason.cause;
        node.remedy = reason.remedy;
        if (!way.steps[i].collective) {
            size_t end = i;
            while (end < way.steps.size() && !way.steps[end].collective) ++end;
            at = slice(at, global, std::span(way.steps).subspan(i, end - i), std::move(node),
                       keeps && end == way.steps.size());
            i = end;
            continue;
        }
        const Collective& collective = *way.steps[i].collective;
        Sharding after = sharding_after(collective, local_->graph.value(at).sharding);
        ++i;
        node.inputs = {at};
        node.collective = collective;
        at = add_value(global, after, suffix_of(collective), keeps && i == way.steps.size());
        node.outputs = {at};
        local_->graph.value(at).producer = static_cast<NodeId>(local_->graph.nodes.size());
        local_->graph.nodes.push_back(std::move(node));
    }
    return at;
}

ValueId LocalBuilder::slice(ValueId from, ValueId global, std::span<const RedistributionStep> steps, Node node,
                            bool keeps) {
    Sharding after = local_->graph.value(from).sharding;
    std::vector<AxisMove> slices;
    for (const RedistributionStep& step : steps) {
        slices.push_back(step.slice);
        for (const AxisRef& ref : step.slice.axes)
            append_axis(after.dims[static_cast<size_t>(step.slice.to)].axes, ref);
    }
    ValueId result = add_value(global, after, "sliced", keeps);
    node.inputs = {from};
    node.outputs = {result};
    node.kernel = slice_kernel(local_->graph.value(from).type.shape, slices);
    local_->graph.value(result).producer = static_cast<NodeId>(local_->graph.nodes.size());
    local_->graph.nodes.push_back(std::move(node));
    return result;
}

Move slice_kernel(const Shape& before, std::span<const AxisMove> slices) {
    MovePiece piece;
    piece.extent = before;
    piece.in_start.assign(before.size(), constant(0));
    piece.out_start.assign(before.size(), constant(0));
    piece.in_stride.assign(before.size(), 1);
    piece.out_stride.assign(before.size(), 1);
    for (const AxisMove& move : slices) {
        size_t d = static_cast<size_t>(move.to);
        piece.in_start[d] = block_start(before[d], move.axes);
        piece.extent[d] = before[d] / total_size(move.axes);
    }
    return Move{false, {}, {piece}, 0, true};
}

} // namespace shard
