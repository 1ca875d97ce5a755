#include "planner/rule_cache.h"

#include <algorithm>

namespace shard {

namespace {

void append_type(std::vector<i64>& key, const TensorType& type) {
    key.push_back(static_cast<i64>(type.dtype));
    key.push_back(type.rank());
    key.insert(key.end(), type.shape.begin(), type.shape.end());
}

std::vector<TensorType> types_of(const Graph& graph, std::span<const ValueId> values) {
    std::vector<TensorType> types;
    types.reserve(values.size());
    for (ValueId id : values) types.push_back(graph.value(id).type);
    return types;
}

} // namespace

size_t RuleCache::KeyHash::operator()(const std::vector<i64>& key) const {
    size_t hash = 1469598103934665603u;
    for (i64 word : key) hash = (hash ^ static_cast<size_t>(word)) * 1099511628211u;
    return hash;
}

int RuleCache::add(IndexRule rule) {
    rules_.push_back(std::move(rule));
    return count() - 1;
}

int RuleCache::rule_of(const Graph& graph, const Node& node) {
    if (node.op == nullptr || node.op->rule == nullptr) return -1;
    const std::vector<const OpDef*>::iterator op = std::find(ops_.begin(), ops_.end(), node.op);
    key_.assign({op - ops_.begin(), static_cast<i64>(node.inputs.size())});
    if (op == ops_.end()) ops_.push_back(node.op);
    for (ValueId id : node.inputs) append_type(key_, graph.value(id).type);
    for (ValueId id : node.outputs) append_type(key_, graph.value(id).type);

    std::vector<Entry>& entries = entries_[key_];
    for (const Entry& entry : entries)
        if (entry.attributes == node.attributes) return entry.rule;
    const int rule = add(node.op->rule(types_of(graph, node.inputs), types_of(graph, node.outputs), node.attributes));
    entries.push_back({node.attributes, rule});
    return rule;
}

} // namespace shard
