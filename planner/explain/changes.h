// Edits that a user may make of a layout or a model, to be tried by planning again.
#pragma once

#include "planner/pipeline/compilation.h"

namespace shard {

struct Change {
    std::string text; // "without the constraint at model.yaml:12"
    Layout layout;
    std::vector<Span> without_constraints = {};
};

// One constraint, override or rule dropped, a rule over other axes or over one more, fsdp over another axis or dropped.
// Order and number depend on the input alone.
std::vector<Change> possible_changes(const Compilation& compilation, const Sources& sources);

// An input or parameter: replicated, or one axis on one dim, by an override. Nothing for other tensors.
void override_tensor(const Compilation& compilation, const std::string& tensor, std::vector<Change>& changes);

} // namespace shard
