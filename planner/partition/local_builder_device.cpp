// Collectives of a manual region's body. A plan's collectives speak of a whole value and how it is laid out; the body
// speaks of what each device holds. So the operand is seen as a whole value, the collective does its work, and the
// result is seen as a local value again; seeing it otherwise moves nothing.
//
//     psum over i          x  seen as a partial sum        [- | -] U{i}  --all_reduce-->     [- | -]
//     all_gather, dim 0    x  seen as n times as large     [i | -]       --all_gather-->     [- | -]
//     psum_scatter, dim 1  x  seen as a partial sum        [- | -] U{i}  --reduce_scatter--> [- | i]  seen as its block
#include "planner/graph/device_op.h"
#include "planner/ops_support/move.h"
#include "planner/partition/local_builder.h"

#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

Collective collective_of(const Node& node) {
    Collective collective = node.op()->device->collective(node.attributes());
    collective.axes = group_axes(node.attributes());
    collective.axes = without_unit_axes(collective.axes);
    for (AxisMove& move : collective.moves) move.axes = without_unit_axes(move.axes);
    return collective;
}

std::string written_by_hand(const Node& node) {
    const std::string axes = fmt::format("{}", fmt::join(node.attributes().strings("over"), ", "));
    if (node.attributes().has("passes")) return node.attributes().string("passes");
    const std::string line = node.span.known() ? fmt::format(" at line {}", node.span.line) : std::string();
    const OpDef* of = find_op(node.gradient_of);
    if (of != nullptr && of->device && of->device->casts)
        return fmt::format("the gradient of what is the same along {}, and is read{} by what varies over it", axes,
                           line);
    if (!node.gradient_of.empty())
        return fmt::format("{} over {}, the gradient of the {} written by hand{}", node.op()->name, axes,
                           node.gradient_of, line);
    return fmt::format("written by hand, {} over {}{}", node.op()->name, axes, line);
}

} // namespace

ValueId LocalBuilder::add_seen(ValueId of, std::string_view suffix, const Shape& whole, const Sharding& sharding) {
    const Value& source = graph_->value(of);
    Value value;
    value.name = names_(fmt::format("{}.{}", source.name, suffix));
    value.type = {source.type.dtype, local_shape(whole, sharding), std::vector<std::string>(whole.size())};
    value.span = source.span;
    value.part = LocalPart{whole, sharding};
    value.region = source.region;
    value.loop = loop_;
    return append_value(local_->graph, std::move(value));
}

ValueId LocalBuilder::show(Node node, ValueId from, ValueId result) {
    node.inputs = {from};
    append(std::move(node), result);
    return result;
}

ValueId LocalBuilder::across_devices(const Node& node, NodeId origin, ValueId input, const Sharding& made, bool keeps,
                                     std::string remedy) {
    const Collective collective = collective_of(node);
    if (collective.axes.empty()) return compute(node, origin, {input}, node.attributes(), flat_kernel(), made, keeps);
    const ValueId result = node.outputs[0];

    Shape whole = local_->graph.value(input).part->global_shape;
    Sharding before = local_->graph.value(input).part->sharding;
    if (collective.def->uses.reduce) {
        before.partial.insert(before.partial.end(), collective.axes.begin(), collective.axes.end());
        std::sort(before.partial.begin(), before.partial.end());
        before.reduce = collective.reduce;
    }
    for (const AxisMove& move : collective.moves) {
        if (move.from < 0) continue;
        std::vector<AxisRef>& axes = before.dims[move.from].axes;
        axes.insert(axes.end(), move.axes.begin(), move.axes.end());
        whole[move.from] *= total_size(move.axes);
    }
    Node seen = node;
    seen.apply().kernel = flat_kernel();
    seen.origin = origin;
    ValueId at = input;
    if (before != local_->graph.value(input).part->sharding)
        at = show(seen, at, add_seen(node.inputs[0], "seen", whole, before));

    Node crossing;
    crossing.origin = origin;
    crossing.scope = node.scope;
    crossing.span = node.span;
    Exchange exchange;
    exchange.reason = {written_by_hand(node), std::move(remedy)};
    exchange.collective = collective;
    crossing.does = std::move(exchange);
    const Sharding after = sharding_after(collective, before);
    const bool done = after == made && whole == graph_->value(result).type.shape;
    at = show(crossing, at,
              done ? value(result, made, "partial", keeps) : add_seen(result, collective.def->name, whole, after));
    return done ? at : show(seen, at, value(result, made, "partial", keeps));
}

} // namespace shard
