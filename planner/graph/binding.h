// Names that are bound anew: the first `a` of a graph is a, the second a#2. Who writes `a` means the last.
#pragma once

#include "plans/base/base.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// "a#2" is a, and "a#2.softmax.exp" is a.softmax.exp.
std::string without_binding(std::string_view path);
// By path: whether a later binding of the same name is among them.
std::vector<bool> bound_again(const std::vector<std::string>& paths);

// Which of many paths a pattern means: without a number last bindings alone, and never an empty path. What is no more
// than a name is looked up.
class MeantPaths {
public:
    MeantPaths(std::vector<std::string> paths, const std::vector<bool>& bound_again);
    std::vector<size_t> meant_by(std::string_view glob) const;     // places in the list
    const std::vector<std::string>& last() const { return last_; } // without bindings; empty of what is bound again

private:
    using Places = std::map<std::string, std::vector<size_t>, std::less<>>;
    std::vector<std::string> paths_, last_;
    Places by_path_, by_last_;
};

} // namespace shard
