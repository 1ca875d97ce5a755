// shardc.yaml: what `shardc check` checks where nothing is named. Every model with every layout; what an entry of
// `models` says itself stands in the place of what the file says of all.
//
//     models:
//       - models/mlp.yaml
//       - {model: models/gpt.yaml, layouts: [layouts/gpt/*.yaml], mode: train, set: {batch: 64}}
//     layouts: [layouts/*.yaml]
//     policies: [ci/policy.yaml, {max_collectives: 12}]
//     strict: true
//     baseline: ci/baseline.json
//     tolerance: {wire_bytes: 1%, step_seconds: 5%}
//
// Paths are relative to the file, and may be patterns. The form is schemas/config.schema.json's.
#pragma once

#include "cli/check/tolerance.h"
#include "planner/model/policy.h"

namespace shard {

inline constexpr std::string_view config_name = "shardc.yaml";

struct ConfiguredPath {
    std::string path;
    Span span;
};

// A policy file, or a policy that is written here.
struct ConfiguredPolicy {
    ConfiguredPath file;
    std::optional<PolicyDecl> read;
};

struct ConfiguredModel {
    ConfiguredPath model;
    std::string name; // in results; its path if it has no other
    std::vector<ConfiguredPath> layouts;
    std::vector<ConfiguredPolicy> policies;
    std::string mode = "forward";
    std::vector<std::string> settings; // "batch=64"
    bool strict = false;
    std::optional<ConfiguredPath> baseline;
    Tolerance tolerance = {};
};

struct CheckConfig {
    std::vector<ConfiguredModel> models;
};

// Nothing if anything is wrong.
std::optional<CheckConfig> read_config(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
