#include "planner/attention/rewrite_attention.h"

#include "planner/attention/ring_region.h"
#include "planner/graph/graph_edit.h"
#include "planner/seed/moved_seeds.h"
#include "plans/kernel/attend_pairs.h"

#include <algorithm>
#include <memory>
#include <numeric>

namespace shard {

namespace {

ShardingSpec spec_of(const Mesh& mesh, const Sharding& sharding) {
    ShardingSpec spec;
    for (const DimSharding& dim : sharding.dims) {
        DimSpec& of = spec.dims.emplace_back();
        for (const AxisRef& axis : dim.axes) of.axes.push_back(text(mesh, axis));
    }
    return spec;
}

// How operands lie where heads are split over what splits the sequence elsewhere.
class HeadShardings {
public:
    HeadShardings(const Graph& graph, const SplitAttention& attention) : attention_(attention) {
        heads_ = attention.heads;
        for (const AxisRef& axis : attention.axes) append_axis(heads_, axis);
        kv_heads_ = attention.kv_heads;
        if (attention.kv_heads != attention.heads) return; // those that share a head have it already
        // As many as there are; the devices of the others hold the same heads.
        i64 left = graph.value(attention.k).type.shape[2] / total_size(attention.kv_heads);
        for (const AxisRef& axis : attention.axes) {
            const i64 parts = std::gcd(left, axis.size);
            if (parts > 1) append_axis(kv_heads_, {axis.axis, 1, parts});
            if (parts < axis.size) break;
            left /= parts;
        }
    }

    Sharding of_queries() const { return of({attention_.batch, {}, heads_, {}}); }
    Sharding of_keys() const { return of({attention_.batch, {}, kv_heads_, {}}); }
    Sharding of_rows() const { return of({attention_.batch, {}, heads_}); }
    Sharding of_segments() const { return of({attention_.batch, {}}); }
    Sharding of_pairs(const Shape& shape) const {
        return of({shape[0] > 1 ? attention_.batch : none, shape[1] > 1 ? heads_ : none, {}, {}});
    }

private:
    static Sharding of(std::initializer_list<std::vector<AxisRef>> dims) {
        Sharding sharding;
        for (const std::vector<AxisRef>& axes : dims) sharding.dims.push_back({axes, false, 0});
        return sharding;
    }

    const SplitAttention& attention_;
    const std::vector<AxisRef> none;
    std::vector<AxisRef> heads_, kv_heads_;
};

class Rewriter {
public:
    Rewriter(Graph& graph, Seeds& seeds, const Mesh& mesh, const std::vector<SplitAttention>& attentions,
             const std::vector<SequenceWay>& ways, const Shardings& shardings)
        : graph_(graph), seeds_(seeds), mesh_(mesh), attentions_(attentions), ways_(ways), shardings_(shardings),
          builder_(graph, diagnostics_), rings_(attentions.size()), exchanged_(attentions.size()),
          by_queries_(attentions.size()) {}

    void run() {
        std::map<NodeId, size_t> numbers; // of attentions, by their nodes
        for (size_t a = 0; a < attentions_.size(); ++a)
            for (const NodeId node : attentions_[a].nodes)
                if (node >= 0 && ways_[a] != SequenceWay::gather) numbers[node] = a;
        const std::vector<NodeId> moved = retell(graph_, 0, [&](std::vector<Node>& nodes, size_t n) {
            const std::map<NodeId, size_t>::const_iterator found = numbers.find(static_cast<NodeId>(n));
            if (found == numbers.end()) return;
            Node& node = nodes[n];
            builder_.stand_at(node);
            if (ways_[found->second] == SequenceWay::all_to_all)
                exchange(node, found->second);
            else
                write_region(node, found->second);
        });
        move_seeds(seeds_, graph_, moved);
        for (const auto& [id, sharding] : constrained_) {
            seeds_.constraints[static_cast<size_t>(graph_.value(id).producer)] = sharding;
            log(id, sharding);
        }
        for (const auto& [id, axes] : left_region_) put_together(id, axes);
        graph_.calls.clear(); // for reverse mode, which is done
    }

private:
    void log(ValueId id, const Sharding& sharding) {
        for (size_t d = 0; d < sharding.dims.size(); ++d) {
            if (sharding.dims[d].axes.empty()) continue;
            Decision why;
            why.value = id;
            why.dim = static_cast<int>(d);
            why.axes = sharding.dims[d].axes;
            why.cause = Decision::Cause::attention;
            why.node = graph_.value(id).producer;
            why.span = graph_.value(id).span;
            seeds_.log.push_back(std::move(why));
        }
    }

    // A result of a region is split along the sequence; of its other dims the region's inside says how.
    void put_together(ValueId id, const std::vector<AxisRef>& axes) {
        std::optional<Sharding>& seed = seeds_.values[id];
        if (seed) return;
        seed = open_sharding(graph_.value(id).type.rank());
        seed->dims[1] = {axes, false, 0};
        log(id, *seed);
    }

    // --- a ring, or what devices make each of its own keys ---

    void write_region(Node& node, size_t number) {
        const SplitAttention& attention = attentions_[number];
        const AttendPart part = *node.op()->attends;
        std::unique_ptr<RingRegion>& ring = rings_[number];
        if (!ring)
            ring = std::make_unique<RingRegion>(
                builder_, attention, mesh_, ways_[number] == SequenceWay::zigzag,
                [this](ValueId id, Sharding sharding) { constrained_[id] = std::move(sharding); });
        if (part == AttendPart::values || part == AttendPart::logsumexp) {
            if (ring->local(part) < 0) ring->write_forward();
        } else if (ring->local(part) < 0) {
            ring->write_gradients();
        }
        node.does = ring->leaving(part);
        node.inputs = {ring->local(part)};
        left_region_[node.outputs[0]] = attention.query_axes();
    }

    // --- heads for the sequence ---

    // By its name: attention goes by all_to_all.
    static Attributes asked() {
        return attributes_of({{"mesh", true}, {"attention", "by " + std::string(name(SequenceWay::all_to_all))}});
    }

    ValueId constrained(ValueId id, const Sharding& sharding, std::string_view called = ".by_heads") {
        const std::optional<ValueId> made = builder_.emit("constrain", {id}, asked());
        internal_check(made.has_value(), "a constraint was refused");
        graph_.nodes.back().apply().asked = Asked{{}, spec_of(mesh_, sharding), {}};
        builder_.rename(*made, builder_.unique_name(graph_.value(id).name + std::string(called), "_"),
                        builder_.place().span);
        constrained_[*made] = sharding;
        return *made;
    }

    ValueId with_heads(ValueId id, const Sharding& sharding, size_t number) {
        const auto [known, added] = exchanged_[number].try_emplace(id, -1);
        if (added) known->second = constrained(id, sharding);
        return known->second;
    }

    // What is made of the result and its gradient, a number for each query, is made where the queries are, and sent: it is
    // far less than they are. So the gradient comes from there too.
    ValueId by_queries(ValueId id, size_t number) {
        const auto [known, added] = by_queries_[number].try_emplace(id, -1);
        const SplitAttention& attention = attentions_[number];
        if (added)
            known->second = constrained(
                id, graph_.value(id).type.rank() == 3 ? sharding_of_rows(attention) : sharding_of_queries(attention),
                ".by_queries");
        return known->second;
    }

    void exchange(Node& node, size_t number) {
        const SplitAttention& attention = attentions_[number];
        const HeadShardings heads(graph_, attention);
        const AttendPart part = *node.op()->attends;
        const AttendInputs at = attend_inputs(part);
        std::vector<ValueId> operands = node.inputs;
        for (size_t n = 0; n < operands.size(); ++n) {
            const int i = static_cast<int>(n);
            const ValueId id = operands[n];
            const TensorType& type = graph_.value(id).type;
            if (i == 0)
                operands[n] = with_heads(id, heads.of_queries(), number);
            else if (i == at.given)
                operands[n] = with_heads(by_queries(id, number), heads.of_queries(), number);
            else if (i == 1 || i == at.v)
                operands[n] = with_heads(id, heads.of_keys(), number);
            else if (i == at.logsumexp)
                operands[n] = with_heads(id, heads.of_rows(), number);
            else if (i == at.mean)
                operands[n] = with_heads(by_queries(id, number), heads.of_rows(), number);
            else if (id == attention.bias || id == attention.mask)
                operands[n] = with_heads(id, heads.of_pairs(type.shape), number);
            else if (type.rank() > 0) // of scalars all devices have the same
                operands[n] = with_heads(id, heads.of_segments(), number);
        }
        const std::optional<ValueId> made = builder_.emit(node.op()->name, operands, node.attributes());
        internal_check(made.has_value(), "attention was refused");
        const ValueId result = node.outputs[0];
        const Sharding as_made = part == AttendPart::values || part == AttendPart::query_gradient ? heads.of_queries()
                                 : part == AttendPart::logsumexp                                  ? heads.of_rows()
                                 : part == AttendPart::bias_gradient ? heads.of_pairs(graph_.value(result).type.shape)
                                                                     : heads.of_keys();
        builder_.rename(*made, builder_.unique_name(graph_.value(result).name + ".attended", "_"),
                        builder_.place().span);
        const ValueId held = constrained(*made, as_made);
        if (part == AttendPart::logsumexp) exchanged_[number][result] = held; // the backward pass reads it
        // Back again.
        Sharding after = part == AttendPart::bias_gradient ? shardings_[result]
                         : part == AttendPart::logsumexp   ? sharding_of_rows(attention)
                         : part == AttendPart::values || part == AttendPart::query_gradient
                             ? sharding_of_queries(attention)
                             : sharding_of_keys(attention);
        Apply apply{find_op("constrain"), asked(), {}, {}};
        apply.asked = Asked{{}, spec_of(mesh_, after), {}};
        node.does = std::move(apply);
        node.inputs = {held};
        constrained_[result] = std::move(after);
    }

    Graph& graph_;
    Seeds& seeds_;
    const Mesh& mesh_;
    const std::vector<SplitAttention>& attentions_;
    const std::vector<SequenceWay>& ways_;
    const Shardings& shardings_;
    Diagnostics diagnostics_;
    Builder builder_;
    std::vector<std::unique_ptr<RingRegion>> rings_;     // by attention
    std::vector<std::map<ValueId, ValueId>> exchanged_;  // likewise: what an operand is with heads split
    std::vector<std::map<ValueId, ValueId>> by_queries_; // likewise: what one is as the queries are
    std::map<ValueId, Sharding> constrained_;            // by result of a constraint
    std::map<ValueId, std::vector<AxisRef>> left_region_;
};

} // namespace

void rewrite_attention(Graph& graph, Seeds& seeds, const Mesh& mesh, const std::vector<SplitAttention>& attentions,
                       const std::vector<SequenceWay>& ways, const Shardings& shardings) {
    Rewriter(graph, seeds, mesh, attentions, ways, shardings).run();
}

} // namespace shard
