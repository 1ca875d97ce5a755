#include "planner/partition/spread.h"

#include "planner/graph/op_def.h"
#include "planner/graph/rule_cache.h"
#include "planner/graph/users.h"
#include "planner/partition/gradient_sums.h"
#include "planner/propagate/projection.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <deque>
#include <map>

namespace shard {

namespace {

class Spreader {
public:
    Spreader(const Graph& graph, const Seeds& seeds, const Propagation& propagation, const Users& users,
             RuleCache& rules, const std::vector<AxisRef>& axes)
        : graph_(graph), seeds_(seeds), users_(users), rules_(rules), axes_(axes), made_(propagation),
          becomes_(gradients_of_parts(graph)), spread_(graph.values.size()) {
        for (ValueId id : graph.outputs) is_output_.push_back(id);
        std::sort(is_output_.begin(), is_output_.end());
        for (size_t l = 0; l < graph.loops.size(); ++l)
            for (const GraphLoop::Carried& carried : graph.loops[l].carried)
                result_of_[carried.argument] = carried.result;
    }

    // Along the n-th of the dims that could be split. False if nothing is.
    bool run(const std::vector<ValueId>& roots, size_t n) {
        for (const ValueId root : roots) {
            size_t left = n;
            for (size_t d = 0; d < made_.values[root].dims.size(); ++d) {
                if (!may_split(root, d) || left-- > 0) continue;
                Decision why;
                why.cause = Decision::Cause::spread;
                why.node = graph_.value(root).producer;
                split(root, d, why);
                break;
            }
        }
        const bool any = !reached_.empty();
        while (!reached_.empty()) {
            const ValueId id = reached_.front();
            reached_.pop_front();
            for (NodeId user : users_[id]) pass(id, user);
        }
        return any;
    }

    Propagation take() { return std::move(made_); }

private:
    bool uses_axes(const Sharding& sharding) const {
        const auto is_used = [this](const AxisRef& axis) { return overlaps_any(axis, axes_); };
        const std::vector<AxisRef> used = used_axes(sharding);
        return std::any_of(used.begin(), used.end(), is_used);
    }

    bool may_split(ValueId id, size_t d) const {
        const Value& value = graph_.value(id);
        const Sharding& sharding = made_.values[id];
        const bool asked = seeds_.values[id] || (value.producer >= 0 && is_constraint(graph_.node(value.producer)));
        return !spread_[id] && !asked && value.role == Role::value && value.region < 0 && becomes_[id] < 0 &&
               sharding.partial.empty() &&
               value.type.shape[d] % (shard_count(sharding.dims[d]) * total_size(axes_)) == 0 &&
               !std::binary_search(is_output_.begin(), is_output_.end(), id) && !uses_axes(sharding);
    }

    // What a loop carries leaves it as the trips leave it, where nobody asks otherwise.
    void split(ValueId id, size_t d, const Decision& why) {
        apply(id, d, why);
        const std::map<ValueId, ValueId>::const_iterator result = result_of_.find(id);
        if (result != result_of_.end() && may_split(result->second, d))
            apply(result->second, d, carried_on(id, graph_.value(result->second).producer));
    }

    void apply(ValueId id, size_t d, Decision why) {
        why.value = id;
        why.dim = static_cast<int>(d);
        why.axes = axes_;
        made_.log.push_back(std::move(why));
        for (const AxisRef& axis : axes_) append_axis(made_.values[id].dims[d].axes, axis);
        spread_[id] = d + 1;
        reached_.push_back(id);
    }

    Decision carried_on(ValueId from, NodeId node) const {
        Decision why;
        why.cause = Decision::Cause::propagation;
        why.from = from;
        why.node = node;
        return why;
    }

    void pass(ValueId id, NodeId user) {
        const Node& node = graph_.node(user);
        const size_t d = spread_[id] - 1;
        if (node.opens() >= 0 || node.closes() >= 0) return pass_border(id, d, node, user);
        if (node.op() == nullptr || node.op()->device != nullptr || is_constraint(node) || node.asked().border) return;
        const int number = rules_.rule_of(graph_, node);
        if (number < 0) return;
        const IndexRule& rule = rules_.rule(number);
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            if (node.inputs[i] != id) continue;
            const DimFactors& factors = rule.operands[i][d];
            if (factors.size() != 1) continue;
            const int factor = factors[0];
            if (rule.factors[factor].kind != FactorKind::pass_through || rule.factors[factor].blocked ||
                rule.factors[factor].size != graph_.value(id).type.shape[d] || is_used_otherwise(node, rule, factor))
                continue;
            for (size_t r = 0; r < node.outputs.size(); ++r)
                for (size_t to = 0; to < rule.results[r].size(); ++to)
                    if (rule.results[r][to] == DimFactors{factor} && may_split(node.outputs[r], to))
                        split(node.outputs[r], to, carried_on(id, user));
        }
    }

    // The op needs the axes for something else.
    bool is_used_otherwise(const Node& node, const IndexRule& rule, int factor) const {
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            for (const FactorSharding& part : project(rule, rule.operands[i], made_.values[node.inputs[i]]).factors) {
                if (part.factor == factor) continue;
                for (const AxisRef& axis : part.axes)
                    if (overlaps_any(axis, axes_)) return true;
            }
        }
        return false;
    }

    void pass_border(ValueId id, size_t d, const Node& node, NodeId user) {
        const GraphLoop& loop = graph_.loops[node.opens() >= 0 ? node.opens() : node.closes()];
        for (const GraphLoop::Carried& carried : loop.carried)
            if ((node.opens() >= 0 ? carried.init : carried.yield) == id && may_split(carried.argument, d))
                split(carried.argument, d, carried_on(id, user));
        if (node.closes() < 0) return;
        for (const GraphLoop::Stack& stack : loop.stacks)
            if (stack.slice == id && may_split(stack.result, d + 1)) split(stack.result, d + 1, carried_on(id, user));
    }

    const Graph& graph_;
    const Seeds& seeds_;
    const Users& users_;
    RuleCache& rules_;
    const std::vector<AxisRef>& axes_;
    std::vector<ValueId> is_output_;       // sorted
    std::map<ValueId, ValueId> result_of_; // what a loop carries: by argument
    Propagation made_;
    std::vector<ValueId> becomes_; // by value: the gradient of a parameter that it is a part of
    std::vector<size_t> spread_;   // by value: 1 + the dim that is split, 0 if none is
    std::deque<ValueId> reached_;
};

} // namespace

SpreadRoots roots_to_spread(const Graph& graph, const GraphFacts& facts, const Local& alone) {
    std::vector<ValueId> global_of(alone.graph.values.size(), -1);
    for (size_t id = 0; id < alone.value_of.size(); ++id)
        if (alone.value_of[id] >= 0) global_of[alone.value_of[id]] = static_cast<ValueId>(id);
    struct Set {
        SpreadRoots roots;
        i64 bytes = 0;
    };
    std::vector<Set> sets; // by axes
    for (const Node& node : alone.graph.nodes) {
        const Collective* const collective = node.collective();
        if (collective == nullptr || collective->def->uses != CollectiveDef::Uses{.reduce = true} ||
            collective->reduce != ReduceOp::sum)
            continue;
        const ValueId id = global_of[node.outputs[0]];
        if (id < 0 || graph.value(id).type.shape.empty()) continue;
        const NodeId producer = graph.value(id).producer;
        const OpDef* const op = graph.node(producer).op();
        // Gradients of parameters are left alone, and entries of stacks, which one device has.
        const bool is_of_stack = op != nullptr && op->of_stack == OpDef::OfStack::takes_entry;
        if (facts.gradient_sums[producer] || is_of_stack) continue;
        const auto is_of = [&](const Set& set) { return set.roots.axes == collective->axes; };
        std::vector<Set>::iterator set = std::find_if(sets.begin(), sets.end(), is_of);
        if (set == sets.end()) set = sets.insert(sets.end(), Set{{collective->axes, {}}, 0});
        set->roots.values.push_back(id);
        set->bytes += alone.graph.value(alone.value_of[id]).type.bytes();
    }
    const auto by_bytes = [](const Set& a, const Set& b) { return a.bytes < b.bytes; };
    return sets.empty() ? SpreadRoots() : std::move(std::max_element(sets.begin(), sets.end(), by_bytes)->roots);
}

std::optional<Propagation> spread_along(const Graph& graph, const GraphFacts& facts, const Seeds& seeds,
                                        const Propagation& propagation, const SpreadRoots& roots, size_t way) {
    if (roots.values.empty()) return std::nullopt;
    RuleCache rules;
    Spreader spreader(graph, seeds, propagation, facts.users, rules, roots.axes);
    if (!spreader.run(roots.values, way)) return std::nullopt;
    return spreader.take();
}

} // namespace shard
