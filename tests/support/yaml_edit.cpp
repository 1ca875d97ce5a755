#include "tests/support/yaml_edit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

std::string scalar_text(const std::string& text, bool quoted) {
    const bool plain = !quoted && !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
               c == '+' || c == '_';
    });
    if (plain) return text;
    std::string escaped;
    for (char c : text) {
        if (c == '"' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return fmt::format("\"{}\"", escaped);
}

void write(const Yaml& yaml, std::string& text) {
    if (yaml.is_null()) text += '~';
    if (const YamlScalar* scalar = yaml.scalar()) text += scalar_text(scalar->text, scalar->quoted);
    if (const YamlList* list = yaml.list()) {
        text += '[';
        for (size_t i = 0; i < list->size(); ++i) {
            if (i > 0) text += ", ";
            write((*list)[i], text);
        }
        text += ']';
    }
    if (const YamlMap* map = yaml.map()) {
        text += '{';
        for (size_t i = 0; i < map->size(); ++i) {
            if (i > 0) text += ", ";
            text += scalar_text((*map)[i].key, false) + ": ";
            write((*map)[i].value, text);
        }
        text += '}';
    }
}

void collect(Yaml& yaml, std::vector<Yaml*>& nodes) {
    nodes.push_back(&yaml);
    if (YamlList* list = std::get_if<YamlList>(&yaml.value))
        for (Yaml& item : *list) collect(item, nodes);
    if (YamlMap* map = std::get_if<YamlMap>(&yaml.value))
        for (YamlEntry& entry : *map) collect(entry.value, nodes);
}

} // namespace

Yaml yaml_of(const std::string& text) {
    Sources sources;
    Diagnostics diagnostics;
    const int file = sources.add("seed.yaml", text);
    const YamlDocument yaml = parse_yaml(sources, file, diagnostics);
    internal_check(yaml != nullptr, "a seed of a random case is no YAML");
    return *yaml;
}

std::string text_of(const Yaml& yaml) {
    std::string text;
    write(yaml, text);
    return text + "\n";
}

const std::vector<Yaml>& extremes() {
    static const std::vector<Yaml> table = [] {
        std::vector<Yaml> made;
        for (const char* text : {"[]",
                                 "{}",
                                 "~",
                                 "\"\"",
                                 "\" \"",
                                 "0",
                                 "-1",
                                 "1",
                                 "2",
                                 "-2",
                                 "3",
                                 "7",
                                 "2147483647",
                                 "2147483648",
                                 "4294967295",
                                 "4294967296",
                                 "9007199254740992",
                                 "1152921504606846976",
                                 "4611686018427387904",
                                 "9223372036854775807",
                                 "-9223372036854775808",
                                 "9223372036854775808",
                                 "1e3",
                                 "1.5",
                                 "-0.0",
                                 "1e-300",
                                 "1e39",
                                 "1e300",
                                 "1e999",
                                 ".nan",
                                 ".inf",
                                 "-.inf",
                                 "true",
                                 "nothing_here",
                                 "x",
                                 "\"a b\"",
                                 "\"?\"",
                                 "f32",
                                 "float32",
                                 "i64",
                                 "bool",
                                 "a",
                                 "i",
                                 "[a]",
                                 "[a, b]",
                                 "[b, a]",
                                 "[~]",
                                 "[~, ~]",
                                 "[a, ~]",
                                 "[i]",
                                 "[i, j]",
                                 "[i, i]",
                                 "[0]",
                                 "[1]",
                                 "[-1]",
                                 "[0, 1]",
                                 "[1, 0]",
                                 "[0, 0]",
                                 "[0, -2]",
                                 "[2, 2]",
                                 "[[0], [1]]",
                                 "[[0, 1]]",
                                 "[[0, 1], [1, 0]]",
                                 "[[]]",
                                 "[[[0]]]",
                                 "[1, 1, 1, 1]",
                                 "[4, 8]",
                                 "[8, 4]",
                                 "[32]",
                                 "[-1, -1]",
                                 "[-1]",
                                 "[0, 4611686018427387904]",
                                 "[9223372036854775807, 9223372036854775807]",
                                 "[1152921504606846976, 1]",
                                 "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]",
                                 "{a: 1}",
                                 "[true, false]",
                                 "[.inf, .nan]",
                                 "[x, x]",
                                 "\"ab,bc->ac\"",
                                 "\"...->...\"",
                                 "\"->\"",
                                 "\"aa->a\"",
                                 "\"ab,,->\"",
                                 "\"ab->abb\"",
                                 "\"abcdefghijklmnopqrstuvwxyz->a\"",
                                 "\"ab\"",
                                 "\"ab->ba\""})
            made.push_back(yaml_of(text));
        return made;
    }();
    return table;
}

namespace {

const std::vector<Yaml>& numbers() {
    static const std::vector<Yaml> table = [] {
        std::vector<Yaml> made;
        for (const Yaml& extreme : extremes())
            if (extreme.kind() == "a number") made.push_back(extreme);
        return made;
    }();
    return table;
}

} // namespace

std::vector<Yaml*> nodes_of(Yaml& root) {
    std::vector<Yaml*> nodes;
    collect(root, nodes);
    return nodes;
}

void disturb(Yaml& root, Tape& tape) {
    const std::vector<Yaml*> nodes = nodes_of(root);
    std::vector<Yaml*> scalars;
    for (Yaml* node : nodes)
        if (node->scalar()) scalars.push_back(node);
    // Mostly a number becomes another number and a name another name of the file: what is of the wrong kind is refused
    // before anybody computes with it.
    if (!scalars.empty() && !tape.chance(3)) {
        Yaml& node = *scalars[tape.choose(scalars.size())];
        const bool is_number = node.kind() == "a number";
        const Yaml copy = is_number && !tape.chance(4) ? numbers()[tape.choose(numbers().size())]
                                                       : *scalars[tape.choose(scalars.size())];
        node = copy;
        return;
    }
    Yaml& node = *nodes[tape.choose(nodes.size())];
    YamlList* list = std::get_if<YamlList>(&node.value);
    YamlMap* map = std::get_if<YamlMap>(&node.value);
    switch (tape.choose(6)) {
    case 0:
        if (list && !list->empty()) {
            const Yaml item = (*list)[tape.choose(list->size())];
            list->insert(list->end(), 1 + tape.choose(3), item);
            return;
        }
        break;
    case 1:
        if (list && !list->empty()) {
            list->erase(list->begin() + static_cast<std::ptrdiff_t>(tape.choose(list->size())));
            return;
        }
        if (map && !map->empty()) {
            map->erase(map->begin() + static_cast<std::ptrdiff_t>(tape.choose(map->size())));
            return;
        }
        break;
    case 2: {
        const Yaml copy = *nodes[tape.choose(nodes.size())];
        node = copy;
        return;
    }
    case 3: {
        const Yaml copy = node;
        node.value = YamlList(1 + tape.choose(2), copy);
        return;
    }
    default:
        break;
    }
    node = extremes()[tape.choose(extremes().size())];
}

} // namespace shard
