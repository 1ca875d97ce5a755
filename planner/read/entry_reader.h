// Entries of a graph: `- h: {dot: [x, w1]}`. See Entry in planner/model/model.h for what becomes what.
#pragma once

#include "planner/model/model.h"

namespace shard {

// `modules` are the names of the model's modules. Appends to `entries`; false if something was reported.
bool read_graph(const Yaml& yaml, const std::vector<std::string_view>& modules, std::vector<Entry>& entries,
                Diagnostics& diagnostics);

// One entry, of its name: `loss: {mse: [z, label]}`.
std::optional<Entry> read_entry(const YamlEntry& named, const std::vector<std::string_view>& modules,
                                Diagnostics& diagnostics);

// Names that a module may not have: ops, composites and forms.
bool is_op_name(std::string_view name);

} // namespace shard
