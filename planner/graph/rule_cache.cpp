#include "planner/graph/rule_cache.h"

#include "planner/graph/memo_key.h"
#include "planner/graph/types_of.h"

namespace shard {

namespace {

void add_dims(MemoKey& key, const std::vector<TensorFactors>& tensors) {
    key.add(static_cast<i64>(tensors.size()));
    for (const TensorFactors& dims : tensors) {
        key.add(static_cast<i64>(dims.size()));
        for (const DimFactors& factors : dims) {
            key.add(static_cast<i64>(factors.size()));
            for (int factor : factors) key.add(factor);
        }
    }
}

std::string key_of(const IndexRule& rule) {
    MemoKey key;
    key.add(static_cast<i64>(rule.reduce)).add(static_cast<i64>(rule.factors.size()));
    for (const Factor& factor : rule.factors)
        key.add(factor.letter)
            .add(static_cast<i64>(factor.kind))
            .add(factor.size)
            .add(static_cast<i64>(factor.blocked));
    add_dims(key, rule.operands);
    add_dims(key, rule.results);
    return key.text();
}

} // namespace

int RuleCache::add(IndexRule rule) {
    const auto [it, is_new] = by_rule_.try_emplace(key_of(rule), count());
    if (is_new) rules_.push_back(std::move(rule));
    return it->second;
}

int RuleCache::rule_of(const Graph& graph, const Node& node) {
    if (node.op() == nullptr || node.op()->rule == nullptr) return -1;
    MemoKey key;
    key.add(node.op()->name).add(node.attributes()).add(static_cast<i64>(node.inputs.size()));
    for (ValueId id : node.inputs) key.add(graph.value(id).type);
    for (ValueId id : node.outputs) key.add(graph.value(id).type);
    const std::unordered_map<std::string, int>::const_iterator known = by_node_.find(key.text());
    if (known != by_node_.end()) return known->second;
    const int rule =
        add(node.op()->rule(types_of(graph, node.inputs), types_of(graph, node.outputs), node.attributes()));
    by_node_.emplace(key.text(), rule);
    return rule;
}

} // namespace shard
