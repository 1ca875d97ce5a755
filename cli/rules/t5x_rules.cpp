// A gin file of T5X, as far as it speaks of partitioning:
//
//     partitioning.PjitPartitioner.num_partitions = 4
//     partitioning.PjitPartitioner.logical_axis_rules = [('batch', 'data'), ('mlp', 'model'), ('embed', None)]
//
// Without rules those of T5X's standard_logical_axis_rules are meant.

#include "cli/rules/t5x_rules.h"

#include "planner/text/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace shard {

namespace {

// What stands behind `NAME.key =` or `key =`, to the end of its brackets or line; where it begins.
struct Binding {
    std::string text;
    int line = 0;
};

std::optional<Binding> binding(std::string_view text, std::string_view key) {
    int line = 1;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view row = text.substr(begin, end - begin);
        const size_t equals = row.find('=');
        std::string_view name = row.substr(0, equals == std::string_view::npos ? 0 : equals);
        while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
        if (const size_t dot = name.find_last_of("./"); dot != std::string_view::npos) name.remove_prefix(dot + 1);
        if (name != key) {
            begin = end + 1, ++line;
            continue;
        }
        Binding found{{}, line};
        int depth = 0;
        for (size_t i = begin + equals + 1; i < text.size(); ++i) {
            const char c = text[i];
            if (c == '#') { // to the end of the line
                while (i < text.size() && text[i] != '\n') ++i;
                found.text += ' ';
                if (depth == 0) break;
                continue;
            }
            depth += (c == '(' || c == '[') - (c == ')' || c == ']');
            if (c == '\n' && depth <= 0) break;
            // As YAML: tuples are lists.
            found.text += c == '(' ? '[' : c == ')' ? ']' : c == '\n' ? ' ' : c;
        }
        return found;
    }
    return std::nullopt;
}

std::vector<std::pair<std::string, std::vector<std::string>>> standard_rules() {
    return {{"batch", {"data"}}, {"vocab", {"model"}},     {"embed", {}},  {"mlp", {"model"}}, {"heads", {"model"}},
            {"kv", {}},          {"joined_kv", {"model"}}, {"length", {}}, {"layers", {}}};
}

} // namespace

std::optional<ForeignRules> read_t5x(const Sources& sources, int file, Diagnostics& diagnostics) {
    const std::string text(sources.text(file));
    ForeignRules found;
    const auto fail = [&](int line, std::string message) {
        diagnostics.error("E0810", {file, line, 1, 1}, std::move(message))
            .help("PjitPartitioner has num_partitions = 4 and logical_axis_rules = [('mlp', 'model'), ...]");
        return std::nullopt;
    };
    i64 model = 1;
    const std::optional<Binding> partitions = binding(text, "num_partitions"),
                                 submesh = binding(text, "model_parallel_submesh"),
                                 rules = binding(text, "logical_axis_rules");
    if (!partitions && !submesh && !rules) return fail(1, "nothing is said of partitioning");
    const auto numbers = [&](const Binding& bound) -> std::optional<std::vector<i64>> {
        Sources own;
        Diagnostics none;
        const YamlDocument yaml = parse_yaml(own, own.add("value", bound.text), none);
        std::vector<i64> values;
        if (!yaml) return std::nullopt;
        const YamlList one = {*yaml};
        for (const Yaml& item : yaml->list() != nullptr ? *yaml->list() : one) {
            const std::optional<i64> number = read_int(item, "a size", none);
            if (!number || *number < 1 || *number > 65536) return std::nullopt;
            values.push_back(*number);
        }
        return values;
    };
    if (const std::optional<Binding>& said = partitions ? partitions : submesh) {
        const std::optional<std::vector<i64>> sizes = numbers(*said);
        if (!sizes) return fail(said->line, "expected a whole number, or a tuple of them");
        for (const i64 size : *sizes)
            if ((model *= size) > 65536) return fail(said->line, "more partitions than devices there can be");
    }
    const Span place{file, partitions ? partitions->line : submesh ? submesh->line : 1, 1, 1};
    found.axes = {{"data", -1, 1, place, place}, {"model", model, 1, place, place}};
    if (!rules) {
        found.rules = standard_rules();
        return found;
    }
    Sources own;
    Diagnostics none;
    const YamlDocument yaml = parse_yaml(own, own.add("rules", rules->text), none);
    if (!yaml || yaml->list() == nullptr)
        return fail(rules->line, "logical_axis_rules: expected a list of pairs, written out");
    for (const Yaml& rule : *yaml->list()) {
        if (rule.list() == nullptr || rule.list()->size() != 2)
            return fail(rules->line, "logical_axis_rules: expected pairs of a logical axis and a mesh axis");
        const YamlScalar *const logical = (*rule.list())[0].scalar(), *const axis = (*rule.list())[1].scalar();
        if (logical == nullptr) return fail(rules->line, "logical_axis_rules: a logical axis is a name");
        found.rules.emplace_back(logical->text, std::vector<std::string>());
        if (axis != nullptr && axis->text != "None") found.rules.back().second.push_back(axis->text);
    }
    return found;
}

} // namespace shard
