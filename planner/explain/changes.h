// Edits that a user may make of a layout or a model, to be tried by planning again.
#pragma once

#include "planner/pipeline/compilation.h"

#include <span>

namespace shard {

struct Change {
    std::string text; // "without the constraint at model.yaml:12"
    Layout layout;
    std::vector<Span> without_constraints = {};
    Span place = {};          // what is edited, or the array that it is about
    bool splits_more = false; // a rule that keeps a dim whole would split it
};

// One constraint, override or rule dropped, a rule over other axes or over one more, fsdp over another axis, dropped, or
// with `gather: auto`.
// Order and number depend on the input alone.
std::vector<Change> possible_changes(const Compilation& compilation, const Sources& sources);

// What to write for it: `text`, and the semantics that it was planned with where they begin to matter (W0306).
std::string text_of(const Change& change, const Compilation& without);

// A tensor replicated, or split over one axis on one dim, by an override of its section of the layout.
void override_tensor(const Compilation& compilation, const std::string& tensor, std::vector<Change>& changes);

// How many changes are worth their time, of a model of this size: a plan of thousands of nodes takes a while, of several
// mesh axes the longer; never fewer than `least`.
size_t most_tries(const Compilation& compilation, size_t least);

// Leaves `most` of them, where there are more: first what edits one of the `named` places, last rules that would split
// what they keep whole.
void keep_most_promising(std::vector<Change>& changes, size_t most, std::span<const Span> named = {});

} // namespace shard
