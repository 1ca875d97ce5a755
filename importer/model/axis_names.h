// Logical names of the dims of a draft's inputs, and how long each is.
#pragma once

#include "importer/model/draft.h"

#include <functional>
#include <map>

namespace shard {

// Names that a file gives to the dims of arguments (`import --axes`); of several that match one the last counts.
struct GivenAxes {
    std::string pattern; // as written
    std::function<bool(const std::string& path)> matches;
    std::vector<std::string> axes; // by dim; "" without a name
    Span span;
};
using NamesByArray = std::map<DraftId, std::vector<std::string>>;

struct AxisNames {
    std::vector<std::pair<std::string, i64>> axes; // in the order in which they are written
    NamesByArray of_array;                         // by dim; "" without a name
};

} // namespace shard
