#include "planner/partition/local_builder.h"

#include "planner/graph/op_def.h"
#include "planner/ops_support/move.h"
#include "planner/partition/local.h"
#include "planner/redistribute/redistribute.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string_view suffix_of(const Collective& collective) {
    if (!collective.def->result_word.empty()) return collective.def->result_word;
    return collective.def->name;
}

} // namespace

LocalBuilder::LocalBuilder(Local& local, const Graph& graph, const Mesh& mesh)
    : local_(&local), graph_(&graph), mesh_(&mesh), names_(graph) {}

ValueId LocalBuilder::value(ValueId global, const Sharding& sharding, std::string_view suffix, bool keeps) {
    const Value& source = graph_->value(global);
    Value made;
    made.name = source.name;
    if (!keeps) {
        made.name = names_(fmt::format("{}.{}", source.name, suffix));
    }
    made.type = source.type;
    made.type.shape = local_shape(source.type.shape, sharding);
    made.role = keeps || source.role == Role::gradient ? source.role : Role::value;
    made.span = source.span;
    made.loop = loop_;
    made.part = LocalPart{source.type.shape, sharding};
    if (keeps) made.decl = source.decl;
    made.region = source.region;
    made.varying = source.varying;
    return append_value(local_->graph, std::move(made));
}

ValueId LocalBuilder::input(ValueId global, const Sharding& kept) {
    ValueId id = value(global, kept, "", true);
    // The start stays empty: where a device's block begins follows from the buffer's sharding.
    local_->graph.value(id).init = graph_->value(global).init;
    local_->graph.value(id).on_host = graph_->value(global).on_host;
    local_->graph.inputs.push_back(id);
    return id;
}

ValueId LocalBuilder::compute(const Node& node, NodeId origin, std::vector<ValueId> inputs, Attributes attributes,
                              Shared<Kernel> kernel, const Sharding& made, bool keeps) {
    ValueId result = value(node.outputs[0], made, made.partial.empty() ? "computed" : "partial", keeps);
    Node local;
    local.does = Apply{node.op(), std::move(attributes), std::get<Apply>(node.does).asked, std::move(kernel)};
    local.inputs = std::move(inputs);
    local.scope = node.scope;
    local.span = node.span;
    local.gradient_of = node.gradient_of;
    local.remat = node.remat;
    local.pattern = node.pattern;
    local.origin = origin;
    append(std::move(local), result);
    return result;
}

ValueId LocalBuilder::reshard(ValueId from, ValueId global, const Redistribution& way, const Reason& reason,
                              NodeId origin, bool keeps, std::optional<Phase> gather_phase) {
    ValueId at = from;
    if (way.gathers_all) note_full_gather(from, global, way, origin);
    for (size_t i = 0; i < way.steps.size();) {
        Node node;
        node.origin = origin;
        node.span = graph_->value(global).span; // an input that is returned has no node
        if (origin >= 0) {
            node.scope = graph_->node(origin).scope;
            node.span = graph_->node(origin).span;
        }
        if (!way.steps[i].collective && way.steps[i].slice.from >= 0) {
            at = place(at, global, way.steps[i++], std::move(node));
            continue;
        }
        if (!way.steps[i].collective) {
            size_t end = i;
            while (end < way.steps.size() && !way.steps[end].collective) ++end;
            LocalMove move;
            move.reason = reason;
            move.gather_phase = gather_phase;
            at = slice(at, global, std::span(way.steps).subspan(i, end - i), std::move(node), std::move(move),
                       keeps && end == way.steps.size());
            i = end;
            continue;
        }
        const Collective& collective = *way.steps[i].collective;
        Sharding after = sharding_after(collective, local_->graph.value(at).part->sharding);
        ++i;
        node.inputs = {at};
        Exchange exchange;
        exchange.reason = reason;
        exchange.gather_phase = gather_phase;
        exchange.collective = collective;
        node.does = std::move(exchange);
        at = value(global, after, suffix_of(collective), keeps && i == way.steps.size());
        append(std::move(node), at);
    }
    return at;
}

ValueId LocalBuilder::place(ValueId from, ValueId global, const RedistributionStep& step, Node node) {
    const Value& held = local_->graph.value(from);
    const ValueId result = value(global, sharding_after(step, held.part->sharding), "placed", false);
    const Shape& block = local_->graph.value(from).type.shape;
    const size_t dim = static_cast<size_t>(step.slice.from);
    MovePiece piece = whole_piece(0, block);
    piece.out_start[dim] = block_start(local_->graph.value(result).type.shape[dim], step.slice.axes);
    node.inputs = {from};
    node.does = Apply{find_op("assemble"), {}, {}, Move{false, {}, {piece}, 0, false}};
    append(std::move(node), result);
    return result;
}

void LocalBuilder::note_full_gather(ValueId from, ValueId global, const Redistribution& way, NodeId origin) {
    Sharding at = local_->graph.value(from).part->sharding;
    FullGather gather{global, origin, at, {}};
    for (const RedistributionStep& step : way.steps) at = sharding_after(step, at);
    gather.to = at;
    local_->full_gathers.push_back(std::move(gather));
}

ValueId LocalBuilder::slice(ValueId from, ValueId global, std::span<const RedistributionStep> steps, Node node,
                            LocalMove move, bool keeps) {
    Sharding after = local_->graph.value(from).part->sharding;
    std::vector<AxisMove> slices;
    for (const RedistributionStep& step : steps) {
        slices.push_back(step.slice);
        for (const AxisRef& ref : step.slice.axes) append_axis(after.dims[step.slice.to].axes, ref);
    }
    ValueId result = value(global, after, "sliced", keeps);
    node.inputs = {from};
    move.move = slice_kernel(local_->graph.value(from).type.shape, slices);
    node.does = std::move(move);
    append(std::move(node), result);
    return result;
}

ValueId LocalBuilder::entry(ValueId from, ValueId global) {
    const ValueId result = value(global, local_->graph.value(from).part->sharding, "entry", false);
    Value& made = local_->graph.value(result);
    made.type.shape.insert(made.type.shape.begin(), 1);
    made.type.logical.insert(made.type.logical.begin(), "");
    made.part.change([](LocalPart& part) {
        part.global_shape.insert(part.global_shape.begin(), 1);
        part.sharding.dims.insert(part.sharding.dims.begin(), DimSharding{});
    });
    Node node;
    node.span = graph_->value(global).span;
    node.origin = graph_->value(global).producer;
    node.inputs = {from};
    Move flat;
    flat.flat = true;
    Attributes shape;
    shape.set("shape", std::vector<i64>(made.type.shape));
    node.does = Apply{find_op("reshape"), std::move(shape), {}, std::move(flat)};
    append(std::move(node), result);
    return result;
}

void LocalBuilder::append(Node node, ValueId result) {
    node.outputs = {result};
    node.loop = loop_;
    append_node(local_->graph, std::move(node));
}

Move slice_kernel(const Shape& before, std::span<const AxisMove> slices) {
    MovePiece piece;
    piece.extent = before;
    piece.in_start.assign(before.size(), constant(0));
    piece.out_start.assign(before.size(), constant(0));
    piece.in_stride.assign(before.size(), 1);
    piece.out_stride.assign(before.size(), 1);
    for (const AxisMove& move : slices) {
        size_t d = move.to;
        piece.in_start[d] = block_start(before[d], move.axes);
        piece.extent[d] = before[d] / total_size(move.axes);
    }
    return Move{false, {}, {piece}, 0, true};
}

} // namespace shard
