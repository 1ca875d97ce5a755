// Logical names of the dims of a draft's inputs, and how long each is.
#pragma once

#include "importer/model/draft.h"

#include <map>

namespace shard {

struct AxisNames {
    std::vector<std::pair<std::string, i64>> axes;        // in the order in which they are written
    std::map<DraftId, std::vector<std::string>> of_array; // by dim; "" without a name
};

} // namespace shard
