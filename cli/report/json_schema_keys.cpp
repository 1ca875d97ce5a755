#include "cli/report/json_schema_keys.h"

#include "planner/text/embedded_texts.h"
#include "planner/text/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace shard {

namespace {

using Json = SchemaNode;

bool is_plain(const std::string& text) {
    return !text.empty() && text != "true" && text != "false" && text != "null" &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
           });
}

// As YAML of one line.
std::string flow(const Json& value) {
    if (value.is_null()) return "~";
    if (value.is_string()) {
        const std::string text = value.get<std::string>();
        return is_plain(text) ? text : fmt::format("\"{}\"", text);
    }
    std::string text;
    if (value.is_array()) {
        for (const Json& item : value) text += (text.empty() ? "" : ", ") + flow(item);
        return "[" + text + "]";
    }
    if (!value.is_object()) return value.dump();
    for (const auto& [key, item] : value.items())
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, flow(item));
    return "{" + text + "}";
}

class KeyLister {
public:
    KeyLister(std::string_view file, const Json& schema) : file_(file), schema_(schema) {}

    std::vector<Item> run() {
        find_homes();
        list(schema_, file_);
        for (Item& item : items_) add_keys_inside(item);
        return std::move(items_);
    }

private:
    const Json* definition(const Json& node) const { return schema_definition(schema_, node); }

    // The keys of a definition are listed at its shortest path alone.
    void find_homes() {
        visit_schema(schema_, file_,
                     [this](const Json& node, const std::string& path) { homes_.emplace(&node, path); });
    }

    void list(const Json& node, const std::string& path) {
        const Json* shared = definition(node);
        if (shared != nullptr && homes_.at(shared) == path) list(*shared, path);
        const size_t first = items_.size();
        if (node.is_object() && node.contains("properties"))
            for (const auto& [key, child] : node["properties"].items()) {
                add(path + "." + key, node, key, child);
                list(child, path + "." + key);
            }
        // The other keys of an entry that is a repeat: schemas give such a form its name as title.
        if (path != file_ && node.is_object() && node.contains("title"))
            for (size_t n = first + 1; n < items_.size(); ++n)
                items_[first].arguments.emplace_back(items_[n].name.substr(path.size() + 1), items_[n].summary);
        visit_schema_parts(node, path, [&](const Json& child, const std::string& at) { list(child, at); });
    }

    // What may stand in the map that is behind a key.
    void add_keys_inside(Item& item) const {
        for (const std::string& inside : {item.name + ".", item.name + ".NAME."})
            for (const Item& other : items_)
                if (other.name.starts_with(inside) && other.name.find('.', inside.size()) == std::string::npos &&
                    !other.name.ends_with(".NAME"))
                    item.arguments.emplace_back(other.name.substr(item.name.size() + 1), other.summary);
    }

    static std::string text_of(const Json* node, const char* key) {
        return node != nullptr && node->is_object() && node->contains(key) ? (*node)[key].get<std::string>() : "";
    }

    void add(const std::string& path, const Json& map, const std::string& key, const Json& node) {
        for (const Item& item : items_)
            if (item.name == path) return; // said before, in another form of the map
        const Json* shared = definition(node);
        const auto from = [&](const char* name) -> const Json* {
            if (node.contains(name)) return &node[name];
            return shared != nullptr && shared->contains(name) ? &(*shared)[name] : nullptr;
        };
        std::string doc = text_of(&node, "description");
        const std::string general = text_of(shared, "description");
        if (!general.empty()) doc += (doc.empty() ? "" : "\n") + general;
        if (const Json* values = choices_of(node)) doc += fmt::format("\nOne of {}.", list_of(*values));
        if (const Json* usual = from("default")) doc += fmt::format("\nUnless given: {}.", flow(*usual));
        const bool is_required =
            map.contains("required") && std::count(map["required"].begin(), map["required"].end(), Json(key)) > 0;
        if (is_required) doc += "\nIt has to be there.";
        if (const Json* examples = from("examples"))
            for (const Json& example : *examples) doc += fmt::format("\n  {}: {}", key, flow(example));
        items_.push_back({path, summary_of(doc), doc});
    }

    // Where an argument may stand in their place too, they are one of several.
    const Json* choices_of(const Json& node) const {
        const Json* shared = definition(node);
        for (const Json* each : {&node, shared}) {
            if (each == nullptr) continue;
            if (each->contains("enum")) return &(*each)["enum"];
            if (each->contains("anyOf"))
                for (const Json& one : (*each)["anyOf"])
                    if (one.contains("enum")) return &one["enum"];
        }
        return nullptr;
    }

    static std::string list_of(const Json& values) {
        std::string text;
        for (const Json& value : values) text += (text.empty() ? "" : ", ") + flow(value);
        return text;
    }

    std::string file_;
    const Json& schema_;
    std::vector<Item> items_;
    std::map<const Json*, std::string> homes_;
};

// An entry of models says in the same words what shardc.yaml says of all, and a policy in it what a file of one says.
bool is_said_before(const std::vector<Item>& items, const Item& item) {
    const std::string key = item.name.substr(item.name.rfind('.'));
    return std::any_of(items.begin(), items.end(), [&](const Item& other) {
        return other.name.size() < item.name.size() && other.name.ends_with(key) && other.doc == item.doc;
    });
}

} // namespace

std::vector<Item> schema_keys() {
    std::vector<Item> items;
    for (const std::string_view file : {"model", "layout", "policy", "config"})
        for (const EmbeddedText& embedded : embedded_schemas()) {
            if (embedded.name != fmt::format("{}.schema", file)) continue;
            const Json schema = Json::parse(embedded.text);
            for (Item& item : KeyLister(file, schema).run()) items.push_back(std::move(item));
        }
    const std::vector<Item> all = items;
    std::erase_if(items,
                  [&all](const Item& item) { return item.name.starts_with("config.") && is_said_before(all, item); });
    return items;
}

} // namespace shard
