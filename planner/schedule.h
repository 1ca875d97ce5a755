// The schedule pass: local graph -> plan steps with arena offsets, aliases and exact peak. The price pass: plan +
// hardware -> report.
#pragma once

#include "planner/layout.h"
#include "planner/partition.h"
#include "plans/plan.h"

namespace shard {

// What the plan's numbers stand for in the local graph.
struct ScheduleMap {
    std::vector<std::vector<ValueId>> values; // by buffer: those that it holds, one after the other
    std::vector<NodeId> starts;               // by token
};

// Order (the local graph's), waits placed at the first use, releases at the last, lifetime-based offsets. Places of
// steps are named by `sources`.
Plan schedule(const Local& local, const Mesh& mesh, const Sources& sources = {}, ScheduleMap* map = nullptr);

// Fills plan.report: tensors (global values by their propagated sharding), collectives, FLOPs, memory, time.
void price(Plan& plan, const Graph& graph, const Local& local, const ScheduleMap& map, const Propagation& propagation,
           const Hardware& hardware, const Sources& sources);

// Policy and budgets -> findings (P01xx), appended to diagnostics. `plan` is priced.
void judge(const Plan& plan, const PolicyDecl& policy, Diagnostics& diagnostics);

// Embeds the texts of `files` (model, layout, and the hardware profile if it is a file) and the diagnostics, whose
// places then are indices into plan.sources.
void attach_sources(Plan& plan, const Sources& sources, std::span<const int> files, const Diagnostics& diagnostics);

// Built-in profile by name, or a YAML file relative to the layout; E03xx if neither. A file that `sources` already hold
// is not read again: a plan file brings its own.
std::optional<Hardware> load_hardware(std::string_view name, Span span, Sources& sources, Diagnostics& diagnostics);
// Where in `sources` that file is; -1 if it was not read, as built-in profiles are not.
int find_hardware(std::string_view name, Span span, const Sources& sources);
std::vector<std::string> builtin_hardware();
// Every mesh axis uses a link that the profile has; E0402. `spans` are those of the axes.
bool check_links(const Mesh& mesh, std::span<const Span> spans, const Hardware& hardware, Diagnostics& diagnostics);

// Sizes that 64-bit arithmetic can plan; E0401. Runs before partition, and after it for what that added.
bool check_sizes(const Graph& graph, const Mesh& mesh, const Propagation& propagation, Diagnostics& diagnostics);
bool check_local_sizes(const Local& local, Diagnostics& diagnostics);

} // namespace shard
