// Entries of a graph: `- h: {dot: [x, w1]}`. See Entry in planner/model/model.h for what becomes what.
#pragma once

#include "planner/read/entry_context.h"

namespace shard {

// Appends to `entries`; false if something was reported.
bool read_graph(const Yaml& yaml, const EntryContext& context, std::vector<Entry>& entries, Diagnostics& diagnostics);

// One entry, of its name: `loss: {mse: [z, label]}`.
std::optional<Entry> read_entry(const YamlEntry& named, const EntryContext& context, Diagnostics& diagnostics);

// Names that a module may not have: ops, composites and forms.
bool is_op_name(std::string_view name);

} // namespace shard
