// Names that are bound anew: the first `a` of a graph is a, the second a#2. Who writes `a` means the last.
#pragma once

#include "plans/base/base.h"

#include <string>
#include <string_view>
#include <vector>

namespace shard {

// "a#2" is a, and "a#2.softmax.exp" is a.softmax.exp.
std::string without_binding(std::string_view path);
// By path: whether a later binding of the same name is among them.
std::vector<bool> bound_again(const std::vector<std::string>& paths);
// Whether a pattern means the path; without a number it means last bindings alone. Of an empty path it is not.
bool means(std::string_view glob, const std::string& path, bool is_bound_again);

} // namespace shard
