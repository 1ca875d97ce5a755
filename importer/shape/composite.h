// A composite that entries compute: what is written in their place. activation_forms.h and others recognise them.
#pragma once

#include "importer/shape/taking.h"

namespace shard {

struct Composite {
    std::string op;
    std::vector<DraftId> operands;
    std::string arguments; // ", dim: 2"
};

struct CompositeForm {
    std::string_view root; // the op of the last entry
    // Of that entry; what it takes is left out, if nothing else reads it.
    std::optional<Composite> (*recognise)(Taking& taking, const DraftEntry& root);
};

} // namespace shard
