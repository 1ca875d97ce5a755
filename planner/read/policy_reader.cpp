#include "planner/read/policy_reader.h"

#include "planner/model/names.h"
#include "planner/text/quantity.h"
#include "planner/text/yaml_values.h"
#include "plans/collective/collective.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

std::vector<std::string> read_collectives(const Yaml& yaml, Diagnostics& diagnostics) {
    std::vector<std::string> kinds;
    if (yaml.list() == nullptr) {
        diagnostics.error("E0113", yaml.span, fmt::format("forbid_collectives: expected a list, found {}", yaml.kind()))
            .help("write forbid_collectives: [all_to_all]");
        return kinds;
    }
    std::vector<std::string_view> known;
    for (const CollectiveDef* def : all_collectives()) known.push_back(def->name);
    for (const Yaml& item : *yaml.list()) {
        const std::optional<std::string> kind = read_string(item, "forbid_collectives", diagnostics);
        if (!kind) continue;
        if (std::find(known.begin(), known.end(), *kind) == known.end()) {
            DiagnosticBuilder error =
                diagnostics.error("E0118", item.span, fmt::format("unknown collective '{}'", *kind));
            error.help(fmt::format("collectives: {}", fmt::join(known, ", ")));
            suggest(error, *kind, known);
            continue;
        }
        kinds.push_back(*kind);
    }
    return kinds;
}

} // namespace

Span PolicyDecl::place(std::string_view key) const {
    for (const auto& [name, where] : entries)
        if (name == key) return where;
    return span;
}

PolicyDecl read_policy_map(const Yaml& yaml, Diagnostics& diagnostics) {
    PolicyDecl policy;
    policy.span = yaml.span;
    if (!check_keys(yaml,
                    {"max_memory_per_device", "max_wire_bytes_per_device", "max_collectives", "forbid_collectives",
                     "max_replicated_param_bytes", "max_step_seconds"},
                    "policy", diagnostics))
        return policy;
    for (const YamlEntry& entry : *yaml.map())
        policy.entries.emplace_back(entry.key, entry.value.is_null() ? entry.key_span : entry.value.span);
    const auto bytes = [&](std::string_view key) -> std::optional<i64> {
        const Yaml* value = yaml.find(key);
        return value == nullptr ? std::nullopt : read_bytes(*value, key, diagnostics);
    };
    policy.max_memory_per_device = bytes("max_memory_per_device");
    policy.max_wire_bytes_per_device = bytes("max_wire_bytes_per_device");
    policy.max_replicated_param_bytes = bytes("max_replicated_param_bytes");
    if (const Yaml* value = yaml.find("max_collectives")) {
        policy.max_collectives = read_int(*value, "max_collectives", diagnostics);
        if (policy.max_collectives && *policy.max_collectives < 0)
            diagnostics.error("E0115", value->span, "max_collectives: must not be negative")
                .help("write 0 to allow none");
    }
    if (const Yaml* value = yaml.find("forbid_collectives"))
        policy.forbid_collectives = read_collectives(*value, diagnostics);
    if (const Yaml* value = yaml.find("max_step_seconds")) {
        policy.max_step_seconds = read_double(*value, "max_step_seconds", diagnostics);
        if (policy.max_step_seconds && *policy.max_step_seconds < 0)
            diagnostics.error("E0115", value->span, "max_step_seconds: must not be negative")
                .help("write seconds, such as 0.5");
    }
    return policy;
}

std::optional<PolicyDecl> read_policy(const Sources& sources, int file, Diagnostics& diagnostics) {
    const std::optional<Yaml> yaml = parse_yaml(sources, file, diagnostics);
    if (!yaml) return std::nullopt;
    const int before = diagnostics.error_count();
    PolicyDecl policy = read_policy_map(*yaml, diagnostics);
    if (diagnostics.error_count() > before) return std::nullopt;
    return policy;
}

} // namespace shard
