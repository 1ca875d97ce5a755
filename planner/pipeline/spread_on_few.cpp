#include "planner/pipeline/spread_on_few.h"

#include "planner/graph/op_def.h"
#include "planner/pipeline/few_layers.h"
#include "planner/pipeline/layer_map.h"
#include "planner/pipeline/passes.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace shard {

namespace {

// Something that is more than a number is summed over devices where it is made, and is no gradient of a parameter. Where nothing
// is, there is next to nothing to choose.
bool has_sums(const Graph& graph, const GraphFacts& facts, const Shardings& shardings) {
    std::vector<AxisRef> used;
    for (NodeId id = 0; id < std::ssize(graph.nodes); ++id) {
        const Node& node = graph.node(id);
        if (node.op() == nullptr || node.op()->rule == nullptr || node.outputs.size() != 1 ||
            facts.gradient_sums[static_cast<size_t>(id)] || graph.value(node.outputs[0]).type.shape.empty() ||
            !facts.has_reduction(id))
            continue;
        used = used_axes(shardings[static_cast<size_t>(node.outputs[0])]);
        for (const ValueId input : node.inputs)
            for (const AxisRef& axis : used_axes(shardings[static_cast<size_t>(input)]))
                if (!overlaps_any(axis, used)) return true;
    }
    return false;
}

// Classes of nodes as numbers: equal ones of both graphs have one.
struct ClassNumbers {
    std::unordered_map<std::string_view, int> numbers; // looked up, never iterated
    std::vector<int> of(const GraphFacts& facts) {
        std::vector<int> of_classes;
        for (const std::string& content : facts.contents)
            of_classes.push_back(numbers.try_emplace(content, static_cast<int>(numbers.size())).first->second);
        return of_classes;
    }
};

// What is found out of each value's like holds for it: it is made by an op of the same class, of as much and as it is kept, and
// as much is asked of it. Numbers that are added up are only read.
bool are_alike(const Compilation& all, const GraphFacts& all_facts, const Compilation& few, const GraphFacts& few_facts,
               const std::vector<ValueId>& in_few) {
    ClassNumbers numbers;
    const std::vector<int> all_numbers = numbers.of(all_facts), few_numbers = numbers.of(few_facts);
    const auto number_of = [](const GraphFacts& facts, const std::vector<int>& of_classes, NodeId node) {
        const int number = node < 0 ? -1 : facts.classes.class_of(node);
        return number < 0 ? -1 : of_classes[static_cast<size_t>(number)];
    };
    for (size_t id = 0; id < in_few.size(); ++id) {
        const Value& value = all.graph->values[id];
        if (in_few[id] < 0) {
            const OpDef* const op = value.producer < 0 ? nullptr : all.graph->node(value.producer).op();
            if (op != nullptr && op->jointly_linear && value.type.shape.empty()) continue;
            return false;
        }
        const size_t like = static_cast<size_t>(in_few[id]);
        const Value& other = few.graph->values[like];
        if (value.type != other.type || value.role != other.role ||
            number_of(all_facts, all_numbers, value.producer) != number_of(few_facts, few_numbers, other.producer) ||
            all.propagation->values[id] != few.propagation->values[like] ||
            all.seeds->values[id].has_value() != few.seeds->values[like].has_value())
            return false;
    }
    return true;
}

// What is said of values of few, of all that are like them.
SpreadChoice of_all(const SpreadChoice& of_few, const std::vector<ValueId>& in_few, const Graph& few,
                    const Graph& all) {
    std::vector<bool> is_root(few.values.size());
    for (const ValueId root : of_few.roots.values) is_root[static_cast<size_t>(root)] = true;
    SpreadChoice choice;
    choice.roots.axes = of_few.roots.axes;
    choice.way = of_few.way;
    for (size_t id = 0; id < in_few.size(); ++id) {
        const ValueId value = static_cast<ValueId>(id), like = in_few[id];
        if (like < 0) continue;
        if (is_root[static_cast<size_t>(like)]) choice.roots.values.push_back(value);
        if (const auto shared = of_few.joint.shared.find(like); shared != of_few.joint.shared.end())
            choice.joint.shared.emplace_hint(choice.joint.shared.end(), value, shared->second);
        if (const auto sum = of_few.joint.sums.find(like); sum != of_few.joint.sums.end())
            choice.joint.sums.emplace_hint(choice.joint.sums.end(), value, sum->second);
    }
    const auto is_made_before = [&](ValueId a, ValueId b) { return all.value(a).producer < all.value(b).producer; };
    std::stable_sort(choice.roots.values.begin(), choice.roots.values.end(), is_made_before);
    return choice;
}

} // namespace

std::optional<Partitioned> spread_as_few(Compilation& all, const PlanRequest& request, const Sources& sources) {
    if (!has_many_layers(*all.graph)) return std::nullopt;
    const GraphFacts facts(*all.graph);
    if (!has_sums(*all.graph, facts, all.propagation->values)) return std::nullopt;
    decisions_of(all);
    std::optional<Compilation> few = few_layers_before("spread", all, request, sources);
    if (!few) return std::nullopt;
    const std::vector<ValueId> in_few = values_in_few(*all.graph, *few->graph);
    if (!are_alike(all, facts, *few, GraphFacts(*few->graph), in_few)) return std::nullopt;
    SpreadChoice chosen;
    spread_jointly(*few->graph, *few->seeds, *few->propagation, *few->layout, decisions_of(*few), &chosen);
    return spread_as_chosen(*all.graph, facts, *all.seeds, *all.propagation, decisions_of(all),
                            of_all(chosen, in_few, *few->graph, *all.graph));
}

} // namespace shard
