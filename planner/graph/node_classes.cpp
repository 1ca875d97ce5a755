#include "planner/graph/node_classes.h"

#include "planner/graph/memo_key.h"

#include <string>

namespace shard {

namespace {

void add(std::vector<int>& list, i64 word) {
    list.push_back(static_cast<int>(word));
    list.push_back(static_cast<int>(word >> 32));
}

} // namespace

// Types and attributes are numbered first, so that a node is a short list of numbers.
NodeClasses::NodeClasses(const Graph& graph) {
    std::vector<int> list;
    NumberedLists types;
    std::vector<int> type_of;
    type_of.reserve(graph.values.size());
    for (const Value& value : graph.values) {
        list.clear();
        list.push_back(static_cast<int>(value.type.dtype));
        for (const i64 size : value.type.shape) add(list, size);
        type_of.push_back(types.number(list).first);
    }
    std::unordered_map<std::string, int> attributes; // by memo key
    MemoKey key;
    std::unordered_map<const OpDef*, int> ops;
    NumberedLists classes;
    class_of_.reserve(graph.nodes.size());
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.node(id);
        if (node.op() == nullptr) {
            class_of_.push_back(-1);
            continue;
        }
        list.clear();
        list.push_back(ops.try_emplace(node.op(), static_cast<int>(ops.size())).first->second);
        list.push_back(-1);
        if (!node.attributes().entries().empty())
            list.back() =
                attributes.try_emplace(key.clear().add(node.attributes()).text(), static_cast<int>(attributes.size()))
                    .first->second;
        list.push_back(static_cast<int>(node.inputs.size()));
        for (const ValueId input : node.inputs) list.push_back(type_of[input]);
        for (const ValueId output : node.outputs) list.push_back(type_of[output]);
        const auto [number, is_new] = classes.number(list);
        if (is_new) first_.push_back(id);
        class_of_.push_back(number);
    }
}

} // namespace shard
