// How entries of a graph call: which module, with what arguments. What a call does is in planner/build/model_builder.h.
#pragma once

#include "planner/graph/builder.h"
#include "planner/model/model.h"

#include <map>

namespace shard {

// Whether the modules of the model call each other without end: E0230 with the way round.
bool check_recursion(const Model& model, Diagnostics& diagnostics);

const YamlEntry* argument(const Entry& entry, std::string_view key); // nullptr if it was not written
// The module that the entry calls, by its name or as the value of a form; nullptr if it calls none.
const ModuleDecl* called_module(const Model& model, const Entry& entry);
// E0203, with the nearest name.
void report_unknown_op(const Model& model, const Entry& entry, Diagnostics& diagnostics);

// The instance's name that a call gives, else the module's.
std::optional<std::string> read_instance_name(const Model& model, const ModuleDecl& module, const Entry& entry,
                                              Diagnostics& diagnostics);

// W0201 for results, inputs and parameters that nobody reads; of a module's, the first instance speaks for all.
// `named`: the results that the user named, in order; `read_as`: of inputs, the value that stands for one where it is
// read.
void warn_unused(Builder& builder, std::span<const ValueId> named, const std::map<ValueId, ValueId>& read_as);

} // namespace shard
