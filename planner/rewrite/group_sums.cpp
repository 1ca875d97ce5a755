#include "planner/rewrite/group_sums.h"

#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"
#include "planner/graph/users.h"

#include <algorithm>

namespace shard {

namespace {

class Grouper {
public:
    Grouper(Graph& graph, std::span<const Sharding> values)
        : graph_(graph), values_(values), users_(graph), is_output_(graph.values.size()) {
        for (ValueId id : graph.outputs) is_output_[id] = true;
    }

    void run() {
        for (NodeId id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;)
            if (adds_numbers(id) && !is_inner(graph_.node(id).outputs[0])) group(id);
    }

private:
    bool adds_numbers(NodeId id) const {
        if (id < 0) return false;
        const Node& node = graph_.node(id);
        if (node.op() == nullptr || !node.op()->adds || node.pattern || node.inputs[0] == node.inputs[1]) return false;
        const Value& made = graph_.value(node.outputs[0]);
        return made.type.shape.empty() && made.region < 0;
    }

    // Read by nothing but an add of the same entry.
    bool is_inner(ValueId id) const {
        const NodeId maker = graph_.value(id).producer;
        if (!adds_numbers(maker) || is_output_[id] || users_[id].size() != 1) return false;
        const Node &node = graph_.node(maker), &reader = graph_.node(users_[id][0]);
        return adds_numbers(users_[id][0]) && reader.loop == node.loop && reader.span == node.span;
    }

    // The axes over which devices have parts of what a reduction makes.
    std::vector<AxisRef> summed_over(ValueId id) const {
        std::vector<AxisRef> axes;
        const NodeId maker = graph_.value(id).producer;
        if (maker < 0 || graph_.node(maker).op() == nullptr || graph_.node(maker).op()->rule == nullptr) return axes;
        const Node& node = graph_.node(maker);
        const IndexRule rule =
            node.op()->rule(types_of(graph_, node.inputs), types_of(graph_, node.outputs), node.attributes());
        for (size_t o = 0; o < node.inputs.size(); ++o)
            for (size_t d = 0; d < rule.operands[o].size(); ++d) {
                const DimFactors& factors = rule.operands[o][d];
                if (!std::all_of(factors.begin(), factors.end(), [&rule](int factor) {
                        return rule.factors[static_cast<size_t>(factor)].kind == FactorKind::reduction;
                    }))
                    continue;
                const std::vector<AxisRef>& split = values_[node.inputs[o]].dims[d].axes;
                axes.insert(axes.end(), split.begin(), split.end());
            }
        std::sort(axes.begin(), axes.end());
        axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
        return axes;
    }

    void group(NodeId root) {
        std::vector<NodeId> adds;
        std::vector<ValueId> numbers; // that are added up, as written
        std::vector<ValueId> open = {graph_.node(root).outputs[0]};
        while (!open.empty()) {
            const ValueId id = open.back();
            open.pop_back();
            const NodeId maker = graph_.value(id).producer;
            if (maker != root && !is_inner(id)) {
                numbers.push_back(id);
                continue;
            }
            adds.push_back(maker);
            for (size_t n = 2; n-- > 0;) open.push_back(graph_.node(maker).inputs[n]);
        }
        std::sort(adds.begin(), adds.end());
        const auto comes_before = [&](ValueId id) { return graph_.value(id).producer < adds.front(); };
        if (!std::all_of(numbers.begin(), numbers.end(), comes_before)) return;

        std::vector<std::pair<std::vector<AxisRef>, std::vector<ValueId>>> groups; // in the order of their first
        for (ValueId id : numbers) {
            std::vector<AxisRef> axes = summed_over(id);
            const auto found =
                std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == axes; });
            if (found != groups.end())
                found->second.push_back(id);
            else
                groups.push_back({std::move(axes), {id}});
        }
        if (groups.size() == 1 || groups.size() == numbers.size()) return;

        size_t next = 0;
        const auto add = [&](ValueId left, ValueId right) {
            Node& node = graph_.nodes[static_cast<size_t>(adds[next++])];
            node.inputs = {left, right};
            return node.outputs[0];
        };
        const auto sum_of = [&add](const std::vector<ValueId>& terms) {
            ValueId sum = terms.front();
            for (size_t n = 1; n < terms.size(); ++n) sum = add(sum, terms[n]);
            return sum;
        };
        std::vector<ValueId> sums;
        for (const auto& [axes, terms] : groups) sums.push_back(sum_of(terms));
        internal_check(sum_of(sums) == graph_.node(root).outputs[0], "a sum in groups is made by another node");
    }

    Graph& graph_;
    std::span<const Sharding> values_;
    Users users_;
    std::vector<bool> is_output_; // by value
};

} // namespace

void group_sums(Graph& graph, std::span<const Sharding> values) { Grouper(graph, values).run(); }

} // namespace shard
