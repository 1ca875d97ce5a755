// The nodes of a JSON Schema (schemas/*.schema.json), each with the path of keys that leads to what it describes.
#pragma once

#include "plans/base/base.h"

#include <nlohmann/json.hpp>

#include <deque>
#include <set>
#include <string>
#include <utility>

namespace shard {

using SchemaNode = nlohmann::ordered_json;

// What a node's $ref names, nullptr without one.
inline const SchemaNode* schema_definition(const SchemaNode& schema, const SchemaNode& node) {
    if (!node.is_object() || !node.contains("$ref")) return nullptr;
    const std::string ref = node["$ref"].get<std::string>();
    const SchemaNode& found = schema["definitions"][ref.substr(ref.rfind('/') + 1)];
    internal_check(found.is_object(), "a schema refers to what it does not define");
    return &found;
}

// Calls visit(part, its path) for what stands below a node beside its properties: what is said of the same map or list,
// and behind NAME of what users name.
template<class Visit>
void visit_schema_parts(const SchemaNode& node, const std::string& path, const Visit& visit) {
    if (node.is_array())
        for (const SchemaNode& one : node) visit(one, path);
    if (!node.is_object()) return;
    if (node.contains("additionalProperties")) visit(node["additionalProperties"], path + ".NAME");
    for (const char* part : {"then", "else", "oneOf", "anyOf", "allOf", "items"})
        if (node.contains(part)) visit(node[part], path);
}

// Calls visit(node, its path) for all nodes, breadth first; for a definition, which may refer to itself, once and at its
// shortest path.
template<class Visit>
void visit_schema(const SchemaNode& schema, const std::string& path, const Visit& visit) {
    std::deque<std::pair<const SchemaNode*, std::string>> open = {{&schema, path}};
    std::set<const SchemaNode*> seen;
    for (; !open.empty(); open.pop_front()) {
        const auto [node, at] = open.front();
        visit(*node, at);
        const SchemaNode* shared = schema_definition(schema, *node);
        if (shared != nullptr && seen.insert(shared).second) open.emplace_back(shared, at);
        if (node->is_object() && node->contains("properties"))
            for (const auto& [key, child] : (*node)["properties"].items()) open.emplace_back(&child, at + "." + key);
        visit_schema_parts(*node, at,
                           [&](const SchemaNode& part, const std::string& its) { open.emplace_back(&part, its); });
    }
}

} // namespace shard
