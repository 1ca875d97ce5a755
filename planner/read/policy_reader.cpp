#include "planner/read/policy_reader.h"

#include "planner/text/yaml_values.h"

namespace shard {

PolicyDecl read_policy_map(const Yaml& yaml, Diagnostics& diagnostics) {
    PolicyDecl policy;
    policy.span = yaml.span;
    std::vector<std::string_view> names;
    for (const PolicyDef* def : all_policies()) names.push_back(def->name);
    if (!check_keys(yaml, names, "policy", diagnostics)) return policy;
    for (const YamlEntry& entry : *yaml.map())
        for (const PolicyDef* def : all_policies())
            if (def->name == entry.key) def->read(entry.value, policy.entries, diagnostics);
    return policy;
}

std::optional<PolicyDecl> read_policy(const Sources& sources, int file, Diagnostics& diagnostics) {
    const YamlDocument yaml = parse_yaml(sources, file, diagnostics);
    if (!yaml) return std::nullopt;
    const int before = diagnostics.error_count();
    PolicyDecl policy = read_policy_map(*yaml, diagnostics);
    if (diagnostics.error_count() > before) return std::nullopt;
    return policy;
}

} // namespace shard
