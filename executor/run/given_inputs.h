// Whether what is given to a run fits the inputs that the plan has: names, shapes, element types (what is converted and
// what is refused: executor/elements/stored_type.h).
#pragma once

#include "executor/elements/stored_type.h"
#include "executor/run/run.h"

namespace shard {

// Whether a tensor of this type and shape, of a file say, can be given for an input, or as data for one: a leading dim
// of steps, and an input that no output updates. E0602, E0603.
bool check_input(const Plan& plan, const std::string& name, const StoredType& type, const Shape& shape,
                 Diagnostics& diagnostics);
bool check_data(const Plan& plan, const std::string& name, const StoredType& type, const Shape& shape,
                Diagnostics& diagnostics);
// Names of what can be given: of every input (--input), or of those that no step updates (--data).
std::vector<std::string_view> names_of_inputs(const Plan& plan, bool for_data);
// All that the options give.
bool check_inputs(const Plan& plan, const RunOptions& options, Diagnostics& diagnostics);

} // namespace shard
