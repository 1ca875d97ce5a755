// Which override of a layout applies to which array.
#pragma once

#include "planner/seed/seed.h"

namespace shard {

// An array as overrides name it: its path, and whether a later binding of the name hides it ("a" when there is an
// "a#2").
struct OverrideTarget {
    std::string path;
    bool hidden = false;
};

// Per target the index of the last override whose pattern matches, -1 if none does. A pattern without '#' means the
// last binding of a name. Overrides that match nothing are warned of (W0301); `section` is their key in the layout.
std::vector<int> match_overrides(std::span<const Override> overrides, const std::vector<OverrideTarget>& targets,
                                 std::string_view section, Diagnostics& diagnostics);

// By ValueId: inputs and parameters of which `inputs` and `params` of the layout say all, whatever its rules say.
std::vector<bool> overridden_declarations(const Graph& graph, const Layout& layout);

// The targets of `values:`: first by ValueId, where what is no result of an op has an empty path, then by index into
// Graph::aliases.
std::vector<OverrideTarget> value_targets(const Graph& graph);

} // namespace shard
