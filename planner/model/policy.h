// Policies: what a user asks of a plan, for CI to hold. One file per policy, planner/policies/<name>.cpp, defines
// `const PolicyDef& policy_<name>()`: how it is written and what breaks it. The layout's key `policy` holds some of
// them, a policy file (`check --policy`) is a map of them.
#pragma once

#include "planner/text/yaml.h"
#include "plans/plan/plan.h"

#include <functional>

namespace shard {

// Adds findings, at the place where the policy is written.
using PolicyTest = std::function<void(const Plan& plan, Span place, Diagnostics& diagnostics)>;

// What one line of a policy asks; a list of patterns is a line for each.
struct PolicyEntry {
    std::string key;
    Span span;
    PolicyTest test;
};

struct PolicyDecl {
    Span span;
    std::vector<PolicyEntry> entries; // in the order written
};
// The same policy, read elsewhere of a text that is `file` here.
PolicyDecl in_file(PolicyDecl policy, int file);

struct PolicyDef {
    std::string_view name; // its key
    std::string_view doc;  // what it asks, in a sentence, and how it is written in a line
    // Reports and leaves out what is wrong. `key` is where an empty value stands.
    void (*read)(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics);
};
const std::vector<const PolicyDef*>& all_policies(); // sorted by name

} // namespace shard
