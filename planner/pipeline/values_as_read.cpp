#include "planner/pipeline/values_as_read.h"

#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"
#include "planner/partition/graph_facts.h"
#include "planner/propagate/projection.h"
#include "planner/seed/seed_value.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <utility>

namespace shard {

namespace {

IndexRule rule_of(const Graph& graph, const Node& node) {
    return node.op()->rule(types_of(graph, node.inputs), types_of(graph, node.outputs), node.attributes());
}

class Reader {
public:
    Reader(const Graph& graph, const Seeds& seeds, const Propagation& propagation)
        : graph_(graph), seeds_(seeds), now_(propagation.values) {}

    std::optional<Seeds> run() {
        for (NodeId id = 0; id < std::ssize(graph_.nodes); ++id) {
            const Node& node = graph_.node(id);
            if (node.op() != nullptr && node.op()->op_class == OpDef::Class::contraction &&
                node.op()->rule != nullptr && node.outputs.size() == 1)
                read_by(id);
        }
        return std::move(drawn_);
    }

private:
    // Of each operand what the result's dims are split over, and of those that are summed what it is split over now.
    void read_by(NodeId reader) {
        const Node& node = graph_.node(reader);
        const bool shares_axes = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
            return shares_any(now_[static_cast<size_t>(input)], now_[static_cast<size_t>(node.outputs[0])]);
        });
        if (!shares_axes) return;
        const IndexRule rule = rule_of(graph_, node);
        const TensorProjection result = project(rule, rule.results[0], now_[static_cast<size_t>(node.outputs[0])]);
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            const Sharding& now = now_[static_cast<size_t>(node.inputs[i])];
            const TensorProjection own = project(rule, rule.operands[i], now);
            const Sharding needed = as_needed(rule, rule.operands[i], result, &own);
            if (!lie_across(now, needed)) continue;
            if (sums_gradient(reader)) return;
            follow(node.inputs[i], needed, reader);
        }
    }

    // Then the batch is summed where it is (planner/partition/gradient_sums.h).
    bool sums_gradient(NodeId node) {
        if (!facts_) facts_.emplace(graph_);
        return facts_->gradient_sums[static_cast<size_t>(node)];
    }

    // Factors that `from` has as it splits them; others as `own` does, as far as no axis is used twice, or not at all.
    static Sharding as_needed(const IndexRule& rule, const TensorFactors& dims, const TensorProjection& from,
                              const TensorProjection* own) {
        TensorProjection needed;
        std::vector<AxisRef> used;
        for (const DimFactors& factors : dims)
            for (const int factor : factors) {
                FactorSharding sharding;
                sharding.factor = factor;
                if (const FactorSharding* const found = from.find(factor)) sharding.axes = found->axes;
                used.insert(used.end(), sharding.axes.begin(), sharding.axes.end());
                needed.factors.push_back(std::move(sharding));
            }
        for (FactorSharding& sharding : needed.factors) {
            if (own == nullptr || from.find(sharding.factor) != nullptr) continue;
            const std::vector<AxisRef>& axes = own->find(sharding.factor)->axes;
            if (std::none_of(axes.begin(), axes.end(), [&](const AxisRef& axis) { return overlaps_any(axis, used); }))
                sharding.axes = axes;
        }
        return unproject(rule, dims, needed, ReduceOp::sum);
    }

    // A value as it is needed, and what it is made of, op by op.
    void follow(ValueId first, Sharding needed_of_first, NodeId reader) {
        std::vector<std::pair<ValueId, Sharding>> open;
        open.emplace_back(first, std::move(needed_of_first));
        while (!open.empty()) {
            const auto [id, needed] = std::move(open.back());
            open.pop_back();
            const Value& value = graph_.value(id);
            if (value.role != Role::value || value.producer < 0 || seeds_.values[static_cast<size_t>(id)] ||
                (drawn_ && drawn_->values[static_cast<size_t>(id)]) ||
                !lie_across(now_[static_cast<size_t>(id)], needed))
                continue;
            const Node& maker = graph_.node(value.producer);
            if (maker.op() == nullptr || maker.op()->rule == nullptr || is_constraint(maker) ||
                maker.outputs.size() != 1)
                continue;
            const IndexRule rule = rule_of(graph_, maker);
            if (std::any_of(rule.factors.begin(), rule.factors.end(),
                            [](const Factor& factor) { return factor.kind == FactorKind::reduction; }))
                continue;
            seed(id, needed, reader);
            const TensorProjection result = project(rule, rule.results[0], needed);
            for (size_t i = maker.inputs.size(); i-- > 0;)
                open.emplace_back(maker.inputs[i], as_needed(rule, rule.operands[i], result, nullptr));
        }
    }

    void seed(ValueId id, const Sharding& needed, NodeId reader) {
        if (!drawn_) drawn_ = seeds_;
        Decision why;
        why.cause = Decision::Cause::read;
        why.node = reader;
        why.span = graph_.node(reader).span;
        seed_value(*drawn_, id, needed, std::move(why));
    }

    static bool shares_any(const Sharding& a, const Sharding& b) {
        const std::vector<AxisRef> used = used_axes(b);
        return std::any_of(a.dims.begin(), a.dims.end(), [&](const DimSharding& dim) {
            return std::any_of(dim.axes.begin(), dim.axes.end(),
                               [&](const AxisRef& axis) { return overlaps_any(axis, used); });
        });
    }

    const Graph& graph_;
    const Seeds& seeds_;
    const std::vector<Sharding>& now_; // by ValueId
    std::optional<Seeds> drawn_;
    std::optional<GraphFacts> facts_;
};

} // namespace

std::optional<Seeds> seed_values_as_read(const Graph& graph, const Seeds& seeds, const Propagation& propagation) {
    return Reader(graph, seeds, propagation).run();
}

} // namespace shard
