#include "planner/text/yaml_flow.h"

#include <fmt/format.h>

namespace shard {

std::string flow_text(const Yaml& yaml) {
    if (const YamlScalar* scalar = yaml.scalar())
        return scalar->quoted ? fmt::format("\"{}\"", scalar->text) : scalar->text;
    std::string text;
    if (const YamlList* list = yaml.list()) {
        for (const Yaml& item : *list) text += (text.empty() ? "" : ", ") + flow_text(item);
        return "[" + text + "]";
    }
    if (const YamlMap* map = yaml.map())
        for (const YamlEntry& entry : *map)
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", entry.key, flow_text(entry.value));
    return "{" + text + "}";
}

} // namespace shard
