#include "planner/pipeline/attention_ways.h"

#include "planner/attention/rewrite_attention.h"
#include "planner/graph/types_of.h"
#include "planner/ops_support/attention_drop.h"
#include "planner/price/time_report.h"
#include "planner/text/glob.h"
#include "plans/base/in_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

constexpr SequenceWay all_ways[] = {SequenceWay::gather, SequenceWay::ring, SequenceWay::zigzag,
                                    SequenceWay::all_to_all, SequenceWay::combine};

// Attentions of one kind: they go one way.
struct Kind {
    std::vector<size_t> attentions;
    std::optional<SequenceWay> asked;
    Span asked_at;
};

class Chooser {
public:
    Chooser(const PropagatedGraph& before, const Layout& layout, ComputeDecisions& decisions)
        : before_(before), graph_(before.graph), layout_(layout), decisions_(decisions),
          attentions_(split_attentions(graph_, layout.mesh, before.propagation.values)),
          ways_(attentions_.size(), SequenceWay::gather) {
        for (size_t a = 0; a < attentions_.size(); ++a) add(a);
    }

    const std::vector<Kind>& kinds() const { return kinds_; }
    const std::vector<SplitAttention>& attentions() const { return attentions_; }
    const std::vector<SequenceWay>& ways() const { return ways_; }
    SequenceWay way_of(const Kind& kind) const { return ways_[kind.attentions[0]]; }

    void choose(Diagnostics& diagnostics) {
        for (const AttentionDecl::Wish& wish : layout_.attention.wishes)
            if (!wish.is_for_all && heard_.count(&wish) == 0)
                diagnostics
                    .warning("W0301", wish.span,
                             fmt::format("attention: '{}' names no attention whose sequence is split", wish.glob))
                    .help("it is the path of what attention makes, as `shardc explain` names it: block.*.o");
        for (const Kind& kind : kinds_)
            if (kind.asked) take(kind, diagnostics);
        for (const Kind& kind : kinds_)
            if (!kind.asked) take_cheapest(kind);
    }

    // "" if all of the kind can go this way.
    std::string problem(const Kind& kind, SequenceWay way) const {
        for (const size_t a : kind.attentions)
            if (std::string said = way_problem(graph_, attentions_[a], way); !said.empty()) return said;
        return "";
    }

    PropagatedGraph plan(const std::vector<SequenceWay>& ways) const {
        PropagatedGraph planned{graph_, before_.seeds, {}};
        rewrite_attention(planned.graph, planned.seeds, layout_.mesh, attentions_, ways, before_.propagation.values);
        planned.propagation = propagate(planned.graph, layout_.mesh, planned.seeds);
        return planned;
    }

    PricedStep price(const Kind& kind, SequenceWay way, bool with_places) const {
        const std::vector<SequenceWay> ways = with(kind, way);
        const bool as_it_is =
            std::all_of(ways.begin(), ways.end(), [](SequenceWay each) { return each == SequenceWay::gather; });
        if (as_it_is) return price_alone(graph_, before_.propagation, layout_, decisions_, with_places);
        const PropagatedGraph planned = plan(ways);
        return price_alone(planned.graph, planned.propagation, layout_, decisions_, with_places);
    }

    void set(const Kind& kind, SequenceWay way) { ways_ = with(kind, way); }

private:
    std::vector<SequenceWay> with(const Kind& kind, SequenceWay way) const {
        std::vector<SequenceWay> ways = ways_;
        for (const size_t a : kind.attentions) ways[a] = way;
        return ways;
    }

    void add(size_t a) {
        const AttentionDecl::Wish* wish = nullptr;
        for (const AttentionDecl::Wish& each : layout_.attention.wishes)
            if (matches(each.glob, attentions_[a])) {
                wish = &each;
                heard_.insert(&each);
            }
        const std::optional<SequenceWay> asked = wish == nullptr ? std::nullopt : wish->way;
        const auto is_alike = [&](const Kind& kind) {
            const SplitAttention &one = attentions_[kind.attentions[0]], &other = attentions_[a];
            return kind.asked == asked && one.axes == other.axes && one.splits_queries == other.splits_queries &&
                   one.batch == other.batch && one.heads == other.heads && one.kv_heads == other.kv_heads &&
                   one.drops() == other.drops() && without_drop(one.attributes) == without_drop(other.attributes) &&
                   types(one) == types(other);
        };
        std::vector<Kind>::iterator kind = std::find_if(kinds_.begin(), kinds_.end(), is_alike);
        if (kind == kinds_.end())
            kind = kinds_.insert(kinds_.end(), Kind{{}, asked, wish == nullptr ? Span() : wish->span});
        kind->attentions.push_back(a);
    }

    // By the result of the entry that it was written as, which its gradient belongs to too.
    bool matches(std::string_view glob, const SplitAttention& attention) const {
        const Node& first = graph_.node(first_node(attention));
        return std::any_of(attentions_.begin(), attentions_.end(), [&](const SplitAttention& other) {
            if (!other.has(AttendPart::values)) return false;
            const Node& node = graph_.node(other.nodes[static_cast<size_t>(AttendPart::values)]);
            return node.span == first.span && node.scope == first.scope &&
                   glob_matches(glob, graph_.value(node.outputs[0]).name);
        });
    }
    static NodeId first_node(const SplitAttention& attention) {
        return *std::find_if(attention.nodes.begin(), attention.nodes.end(), [](NodeId id) { return id >= 0; });
    }

    std::vector<TensorType> types(const SplitAttention& attention) const {
        std::vector<ValueId> ids = {attention.q, attention.k};
        for (const ValueId id : {attention.bias, attention.mask, attention.query_segments, attention.start})
            if (id >= 0) ids.push_back(id);
        std::vector<TensorType> made = types_of(graph_, ids);
        for (TensorType& type : made) type.logical.clear();
        return made;
    }

    void take(const Kind& kind, Diagnostics& diagnostics) {
        const std::string said = problem(kind, *kind.asked);
        if (said.empty()) return set(kind, *kind.asked);
        const NodeId node = first_node(attentions_[kind.attentions[0]]);
        diagnostics
            .warning("W0404", kind.asked_at, fmt::format("attention cannot go by {}: {}", name(*kind.asked), said))
            .label(graph_.node(node).span, "keys and values are gathered here");
    }

    void take_cheapest(const Kind& kind) {
        std::vector<SequenceWay> possible;
        for (const SequenceWay way : all_ways)
            if (problem(kind, way).empty()) possible.push_back(way);
        std::vector<StepCost> costs(possible.size());
        in_parallel(possible.size(), [&](size_t n) { costs[n] = price(kind, possible[n], false).cost; });
        size_t best = 0;
        for (size_t n = 1; n < possible.size(); ++n)
            if (costs_less(costs[n], costs[best], least_gain)) best = n;
        set(kind, possible[best]);
    }

    const PropagatedGraph& before_;
    const Graph& graph_;
    const Layout& layout_;
    ComputeDecisions& decisions_;
    std::vector<SplitAttention> attentions_;
    std::vector<SequenceWay> ways_; // by attention
    std::vector<Kind> kinds_;
    std::set<const AttentionDecl::Wish*> heard_; // looked up, never iterated
};

} // namespace

std::vector<AttentionWays> choose_attention_ways(PropagatedGraph& graph, const Layout& layout,
                                                 ComputeDecisions& decisions, Diagnostics& diagnostics) {
    std::vector<AttentionWays> chosen;
    Chooser chooser(graph, layout, decisions);
    if (chooser.kinds().empty()) return chosen;
    chooser.choose(diagnostics);
    for (const Kind& kind : chooser.kinds()) {
        AttentionWays& ways = chosen.emplace_back();
        ways.way = chooser.way_of(kind);
        ways.is_asked_for = kind.asked.has_value();
        for (const size_t a : kind.attentions)
            for (const ValueId id : chooser.attentions()[a].outputs)
                if (id >= 0) ways.results.push_back(id);
    }
    const std::vector<SequenceWay>& ways = chooser.ways();
    if (std::all_of(ways.begin(), ways.end(), [](SequenceWay way) { return way == SequenceWay::gather; }))
        return chosen;
    PropagatedGraph planned = chooser.plan(ways);
    graph = std::move(planned);
    return chosen;
}

std::vector<AttentionWays::Way> price_attention_ways(const PropagatedGraph& before, const Layout& layout,
                                                     ComputeDecisions& decisions, size_t n) {
    Chooser chooser(before, layout, decisions);
    Diagnostics unheard;
    chooser.choose(unheard);
    const Kind& kind = chooser.kinds()[n];
    std::vector<AttentionWays::Way> priced;
    for (const SequenceWay way : all_ways) {
        AttentionWays::Way& made = priced.emplace_back();
        made.way = way;
        made.problem = chooser.problem(kind, way);
        if (!made.problem.empty()) continue;
        const PricedStep step = chooser.price(kind, way, true);
        made.seconds = step.cost.seconds;
        made.wire_bytes = wire_bytes_of(step.plan);
        made.peak_bytes = step.plan.peak_bytes;
    }
    return priced;
}

} // namespace shard
