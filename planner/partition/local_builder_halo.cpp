// What devices send each other because an op reads beyond their own blocks: messages, and for an op with windows the
// blocks that are assembled of them before it runs.
#include "planner/partition/compute_halo.h"
#include "planner/partition/local_builder.h"

namespace shard {

ValueId LocalBuilder::send(ValueId from, ValueId global, const Halo::Message& message, const Reason& reason,
                           NodeId origin) {
    const Sharding sharding = local_->graph.value(from).part->sharding;
    Shape whole = message.type.shape;
    for (size_t d = 0; d < whole.size(); ++d) whole[d] *= shard_count(sharding.dims[d]);
    Node node;
    node.origin = origin;
    node.span = graph_->node(origin).span;
    node.scope = graph_->node(origin).scope;
    Node crossing = node;
    ValueId sent = from;
    if (message.cut) {
        LocalMove cut;
        cut.reason = reason;
        cut.move = *message.cut;
        node.does = std::move(cut);
        sent = show(std::move(node), from, add_seen(global, "halo", whole, sharding));
    }
    if (!message.exchange) return sent;
    Exchange exchange;
    exchange.reason = reason;
    exchange.collective = *message.exchange;
    crossing.does = std::move(exchange);
    return show(std::move(crossing), sent, add_seen(global, "halo.received", whole, sharding));
}

std::vector<ValueId> LocalBuilder::exchange(const ComputeQuery& query, const IndexRule& rule,
                                            const ComputeSharding& choice, NodeId origin, std::vector<ValueId> inputs) {
    const Node& node = graph_->node(origin);
    if (!query.op->overlaps) {
        if (split_permutations(rule, choice.factor_axes).empty()) return inputs;
        const std::optional<Halo> sent = halo_of(query, rule, choice);
        for (const Halo::Message& message : sent->messages) {
            const size_t n = static_cast<size_t>(message.operand);
            inputs.push_back(send(inputs[n], node.inputs[n], message,
                                  halo_reason(*mesh_, *graph_, node.inputs[n], choice.results[0], sent->dim), origin));
        }
        return inputs;
    }
    const std::optional<std::vector<OverlapStage>> stages = overlap_stages(query, rule, choice);
    for (const OverlapStage& stage : *stages) {
        const ValueId global = node.inputs[stage.operand], held = inputs[stage.operand];
        std::vector<ValueId> parts = {held};
        for (const Halo::Message& message : stage.halo.messages)
            parts.push_back(send(held, global, message,
                                 overlap_reason(*mesh_, *graph_, node, global, stage.dim, stage.axes), origin));
        Sharding sharding = local_->graph.value(held).part->sharding;
        sharding.dims[stage.dim].axes = stage.axes;
        Shape whole = stage.type.shape;
        for (size_t d = 0; d < whole.size(); ++d) whole[d] *= shard_count(sharding.dims[d]);
        Node assembly;
        assembly.origin = origin;
        assembly.span = node.span;
        assembly.scope = node.scope;
        assembly.gradient_of = node.gradient_of;
        assembly.inputs = std::move(parts);
        assembly.does = Apply{find_op("assemble"), {}, {}, stage.halo.assemble};
        inputs[stage.operand] = add_seen(global, "overlapped", whole, sharding);
        append(std::move(assembly), inputs[stage.operand]);
    }
    return inputs;
}

} // namespace shard
