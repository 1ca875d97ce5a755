// A manual region of a draft: the program of one device, with values of its own. What enters and what leaves is said
// with its sharding, as a model writes it: [data, ~].
#pragma once

#include "importer/model/draft_block.h"

namespace shard {

struct DraftRegion {
    struct Border {
        DraftId value = -1; // of the body
        std::string sharding;
    };
    Draft body;
    DraftOrder order;            // of its text
    std::vector<Border> in, out; // one for each operand and result of the entry
    std::vector<std::string> axes;
    bool is_all = false; // the axes are those of the mesh
    bool check = true;   // what leaves is the same along axes that its sharding does not name
};

} // namespace shard
