// The `gradient:` of a module. See GradientDecl in planner/model/model.h.
#pragma once

#include "planner/read/entry_context.h"

namespace shard {

// `module`: its inputs, parameters, graph and outputs, which the names refer to.
// nullopt after reporting: E0244 for names that are none of these.
std::optional<GradientDecl> read_gradient(const Yaml& yaml, const ModuleDecl& module, const EntryContext& context,
                                          Diagnostics& diagnostics);

} // namespace shard
