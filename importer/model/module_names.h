// What a block is called as a module.
//
// Where the parameters of repetition r have its number, h_3_mlp_w of the fourth, they are h.3.mlp_w: an instance, the
// repetition, a name of the module's. Numbers that begin later are said, h_from_2.0.mlp_w of h_2_mlp_w; parameters that are
// numbered otherwise are called as those of the first repetition, block.1.Dense_0_w of Dense_2_w. Calls are instances
// by themselves: h_3.mlp_w.
#pragma once

#include "importer/model/draft_block.h"

#include <set>
#include <unordered_map>

namespace shard {

// Names that are there once: w, w_2, w_3.
class NameGiver {
public:
    std::string give(const std::string& best);

private:
    std::set<std::string> taken_;
    std::map<std::string, int> count_;
};

struct ModuleNames {
    std::string name, instance;
    std::vector<std::string> calls;                 // instances of calls, by repetition
    std::string scope;                              // that names of its values begin with in the draft
    std::unordered_map<DraftId, std::string> names; // in it, of what the second repetition reads and makes
    std::vector<DraftId> arrays;                    // parameters and stacks, of the second repetition
};

// Parameters and stacks of the draft are renamed, as the model calls them. `names`: of the model, `modules`: of its modules.
ModuleNames module_names(Draft& draft, const DraftBlock& block, NameGiver& modules, NameGiver& names);

} // namespace shard
