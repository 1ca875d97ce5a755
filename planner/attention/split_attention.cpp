#include "planner/attention/split_attention.h"

#include "planner/graph/types_of.h"
#include "planner/ops_support/attention_drop.h"
#include "plans/kernel/attend_pairs.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

Sharding of_dims(std::initializer_list<std::vector<AxisRef>> dims) {
    Sharding sharding;
    for (const std::vector<AxisRef>& axes : dims) sharding.dims.push_back({axes, false, 0});
    return sharding;
}

// What stands behind the part's own operands; `drops`: also what says which weights are dropped.
std::vector<ValueId> further_operands(const Graph& graph, const Node& node, bool drops) {
    const AttendPart part = *node.op()->attends;
    const int drop = attention_scalars(part, types_of(graph, node.inputs), node.attributes()).drop();
    return {node.inputs.begin() + attend_inputs(part).count,
            drop < 0 || drops ? node.inputs.end() : node.inputs.begin() + drop};
}

class Finder {
public:
    Finder(const Graph& graph, const Mesh& mesh, const Shardings& shardings)
        : graph_(graph), mesh_(mesh), shardings_(shardings) {}

    std::vector<SplitAttention> run() {
        for (NodeId n = 0; n < static_cast<NodeId>(graph_.nodes.size()); ++n) {
            const Node& node = graph_.node(n);
            if (node.op() != nullptr && node.op()->attends && is_split(node)) add(node, n);
        }
        std::erase_if(found_, [this](const SplitAttention& group) { return !stands_together(group); });
        return std::move(found_);
    }

private:
    // Whether what the gradients read is there before the first of them.
    bool stands_together(const SplitAttention& group) const {
        NodeId first = static_cast<NodeId>(graph_.nodes.size());
        for (size_t p = 0; p < attend_parts; ++p)
            if (group.nodes[p] >= 0 && attend_inputs(static_cast<AttendPart>(p)).given >= 0)
                first = std::min(first, group.nodes[p]);
        for (size_t p = 0; p < attend_parts; ++p)
            for (const ValueId id : group.operands[p]) {
                const bool of_gradient = attend_inputs(static_cast<AttendPart>(p)).given >= 0;
                if (of_gradient && graph_.value(id).producer >= first) return false;
            }
        return true;
    }

    const std::vector<AxisRef>& along(ValueId id, size_t dim) const { return shardings_[id].dims[dim].axes; }

    bool is_split(const Node& node) const {
        const ValueId q = node.inputs[0], k = node.inputs[1];
        if (graph_.value(q).region >= 0) return false;
        const std::vector<AxisRef>& axes = along(k, 1);
        const auto is_apart = [&](size_t dim) {
            return std::none_of(axes.begin(), axes.end(),
                                [&](const AxisRef& axis) { return overlaps_any(axis, along(q, dim)); });
        };
        return total_size(axes) > 1 && (axes == along(q, 1) || attends_whole_queries(node)) && is_apart(0) &&
               is_apart(2) &&
               std::all_of(axes.begin(), axes.end(), [this](const AxisRef& axis) { return is_whole(mesh_, axis); });
    }

    // Of queries that all devices have; its gradients come by themselves to keys that others hold.
    bool attends_whole_queries(const Node& node) const {
        return along(node.inputs[0], 1).empty() && attend_inputs(*node.op()->attends).given < 0;
    }

    void add(const Node& node, NodeId n) {
        const AttendPart part = *node.op()->attends;
        const size_t p = static_cast<size_t>(part);
        const auto fits = [&](const SplitAttention& group) {
            return group.nodes[p] < 0 && group.q == node.inputs[0] && group.k == node.inputs[1] &&
                   without_drop(group.attributes) == without_drop(node.attributes()) && loop_of(group) == node.loop &&
                   is_alike(group, node);
        };
        std::vector<SplitAttention>::iterator group = std::find_if(found_.begin(), found_.end(), fits);
        if (group == found_.end()) group = found_.insert(found_.end(), begin_with(node));
        group->nodes[p] = n;
        group->operands[p] = node.inputs;
        group->outputs[p] = node.outputs[0];
        if (!node.attributes().has("dropout")) return;
        group->attributes = node.attributes();
        const AttentionScalars scalars = attention_scalars(part, types_of(graph_, node.inputs), node.attributes());
        group->is_part = scalars.first >= 0;
        group->drop.assign(node.inputs.begin() + scalars.drop(),
                           scalars.first < 0 ? node.inputs.end() : node.inputs.begin() + scalars.first);
    }

    int loop_of(const SplitAttention& group) const {
        for (const NodeId n : group.nodes)
            if (n >= 0) return graph_.node(n).loop;
        return -1;
    }

    // Of one attention: the same v, gradient and further operands, where both have them.
    bool is_alike(const SplitAttention& group, const Node& node) const {
        const AttendInputs at = attend_inputs(*node.op()->attends);
        for (const NodeId n : group.nodes) {
            if (n < 0) continue;
            const Node& other = graph_.node(n);
            const AttendInputs of = attend_inputs(*other.op()->attends);
            const auto differ = [&](int mine, int its) {
                return mine >= 0 && its >= 0 &&
                       node.inputs[static_cast<size_t>(mine)] != other.inputs[static_cast<size_t>(its)];
            };
            if (differ(at.v, of.v) || differ(at.given, of.given) || differ(at.logsumexp, of.logsumexp) ||
                differ(at.mean, of.mean))
                return false;
            // A logsumexp is of all weights, dropped or not.
            const bool drop =
                *node.op()->attends != AttendPart::logsumexp && *other.op()->attends != AttendPart::logsumexp;
            if (further_operands(graph_, node, drop) != further_operands(graph_, other, drop) ||
                (drop && node.attributes() != other.attributes()))
                return false;
        }
        return true;
    }

    SplitAttention begin_with(const Node& node) const {
        SplitAttention group;
        group.nodes.fill(-1);
        group.outputs.fill(-1);
        group.q = node.inputs[0];
        group.k = node.inputs[1];
        group.attributes = node.attributes();
        group.axes = along(group.k, 1);
        group.splits_queries = !along(group.q, 1).empty();
        group.batch = along(group.q, 0);
        group.heads = along(group.q, 2);
        const std::vector<AxisRef>& kv_heads = along(group.k, 2);
        if (kv_heads.size() <= group.heads.size() && std::equal(kv_heads.begin(), kv_heads.end(), group.heads.begin()))
            group.kv_heads = kv_heads;
        const AttendPairs pairs = attend_pairs(*node.op()->attends, types_of(graph_, node.inputs));
        const auto operand = [&](int n) { return n < 0 ? -1 : node.inputs[static_cast<size_t>(n)]; };
        group.bias = operand(pairs.bias);
        group.mask = operand(pairs.mask);
        group.query_segments = operand(pairs.query_segments);
        group.key_segments = operand(pairs.key_segments);
        group.start = scalar(node, &AttentionScalars::start);
        return group;
    }

    ValueId scalar(const Node& node, int AttentionScalars::*which) const {
        const int n = attention_scalars(*node.op()->attends, types_of(graph_, node.inputs), node.attributes()).*which;
        return n < 0 ? -1 : node.inputs[static_cast<size_t>(n)];
    }

    const Graph& graph_;
    const Mesh& mesh_;
    const Shardings& shardings_;
    std::vector<SplitAttention> found_;
};

} // namespace

std::vector<SplitAttention> split_attentions(const Graph& graph, const Mesh& mesh, const Shardings& shardings) {
    return Finder(graph, mesh, shardings).run();
}

std::string way_problem(const Graph& graph, const SplitAttention& attention, SequenceWay way) {
    const TensorType &q = graph.value(attention.q).type, &k = graph.value(attention.k).type;
    const i64 devices = attention.devices();
    const auto differs_along_it = [&](ValueId id) {
        return id >= 0 && (graph.value(id).type.shape[2] > 1 || graph.value(id).type.shape[3] > 1);
    };
    if (way != SequenceWay::gather && attention.splits_queries == (way == SequenceWay::combine))
        return attention.splits_queries ? "its queries are split, too" : "all devices have its queries";
    switch (way) {
    case SequenceWay::gather:
    case SequenceWay::combine:
        return "";
    case SequenceWay::all_to_all: {
        const i64 heads = q.shape[2] / total_size(attention.heads);
        if (heads % devices == 0) return "";
        return fmt::format("{} heads of a device do not divide over {} devices", heads, devices);
    }
    case SequenceWay::ring:
    case SequenceWay::zigzag:
        if (attention.has(AttendPart::bias_gradient)) return "the gradient of a bias is of all keys";
        if (attention.is_part) return "its weights are a part of those by whose places they are dropped";
        if (way == SequenceWay::ring) return "";
        if (!attention.is_causal()) return "without a causal mask all devices have as much to do";
        if (attention.attributes.has("window")) return "a window leaves all devices as much to do";
        if (attention.start >= 0) return "its queries begin at a number that is not known before";
        if (attention.drops()) return "which weights are dropped goes by their places, which it takes apart";
        if (differs_along_it(attention.bias) || differs_along_it(attention.mask))
            return "its bias or mask has something else for every query or key";
        if (q.shape[1] != k.shape[1]) return "it has other queries than keys";
        if (q.shape[1] % (2 * devices) != 0)
            return fmt::format("{} positions are not two parts for each of {} devices", q.shape[1], devices);
        return "";
    }
    internal_error("an unknown way of attention");
}

Sharding sharding_of_queries(const SplitAttention& attention) {
    return of_dims({attention.batch, attention.query_axes(), attention.heads, {}});
}
Sharding sharding_of_keys(const SplitAttention& attention) {
    return of_dims({attention.batch, attention.axes, attention.kv_heads, {}});
}
Sharding sharding_of_rows(const SplitAttention& attention) {
    return of_dims({attention.batch, attention.query_axes(), attention.heads});
}

} // namespace shard
