#include "cli/style/yaml_style.h"

#include "cli/style/json_key_order.h"
#include "cli/style/yaml_writer.h"
#include "plans/base/base.h"

#include <algorithm>

namespace shard {

namespace {

bool is_same(const Yaml& a, const Yaml& b);

bool is_same(const YamlEntry& a, const YamlEntry& b) { return a.key == b.key && is_same(a.value, b.value); }

bool is_same(const Yaml& a, const Yaml& b) {
    if (a.value.index() != b.value.index()) return false;
    if (const YamlScalar* scalar = a.scalar())
        return scalar->text == b.scalar()->text && scalar->quoted == b.scalar()->quoted;
    if (const YamlList* list = a.list())
        return std::equal(list->begin(), list->end(), b.list()->begin(), b.list()->end(),
                          [](const Yaml& x, const Yaml& y) { return is_same(x, y); });
    if (const YamlMap* map = a.map())
        return std::equal(map->begin(), map->end(), b.map()->begin(), b.map()->end(),
                          [](const YamlEntry& x, const YamlEntry& y) { return is_same(x, y); });
    return true;
}

// The order of keys at the top says nothing.
Yaml sorted(Yaml root) {
    if (YamlMap* map = std::get_if<YamlMap>(&root.value))
        std::stable_sort(map->begin(), map->end(),
                         [](const YamlEntry& a, const YamlEntry& b) { return a.key < b.key; });
    return root;
}

void order_keys(YamlWriter& writer, const Yaml& root) {
    if (root.map() == nullptr || writer.entries().size() != root.map()->size() + 1) return;
    if (writer.has_anchor()) return; // an alias stands behind what it names
    std::vector<std::string_view> keys;
    for (const YamlEntry& entry : *root.map()) keys.push_back(entry.key);
    std::vector<size_t> order = key_order(keys);
    order.push_back(keys.size()); // what stands behind the last
    writer.lines().reorder(writer.entries(), order);
}

} // namespace

std::optional<std::string> styled_yaml(const Sources& sources, int file, Diagnostics& diagnostics) {
    const std::string& text = sources.text(file);
    const YamlDocument root = parse_yaml(sources, file, diagnostics);
    if (!root) return std::nullopt;
    if (root->map() == nullptr && root->list() == nullptr) return text; // nothing to lay out
    YamlWriter writer(text, *root);
    order_keys(writer, *root);
    const size_t first_break = text.find('\n');
    const bool is_crlf = first_break != std::string::npos && first_break > 0 && text[first_break - 1] == '\r';
    std::string styled = writer.lines().text(is_crlf ? "\r\n" : "\n");

    Sources written;
    written.add(sources.name(file), styled);
    Diagnostics problems;
    const YamlDocument again = parse_yaml(written, 0, problems);
    internal_check(again && is_same(sorted(*root), sorted(*again)), "fmt would change what the file means");
    YamlWriter reread(styled, *again);
    internal_check(reread.comments() == writer.comments(), "fmt would lose a comment");
    order_keys(reread, *again);
    internal_check(reread.lines().text(is_crlf ? "\r\n" : "\n") == styled, "fmt would lay out its own result anew");
    return styled;
}

} // namespace shard
