// A composite that entries compute: what is written in their place. activation_forms.h and others recognise them.
#pragma once

#include "importer/shape/taking.h"

namespace shard {

// What a composite needs that is no entry yet, as a transpose of an operand.
struct CompositeStep {
    std::string op, literal;
    std::vector<DraftId> operands; // of_step(n) is what step n makes
    std::string arguments;
    DraftType type;
};
constexpr DraftId of_step(size_t number) { return -2 - static_cast<DraftId>(number); }

struct Composite {
    std::string op;
    std::vector<DraftId> operands; // of_step(n) too
    std::string arguments;         // ", dim: 2"
    std::vector<CompositeStep> steps = {};
    bool is_inside = false; // as DraftEntry has it
};

struct CompositeForm {
    std::string_view root; // the op of the last entry
    // Of that entry; what it takes is left out, if nothing else reads it.
    std::optional<Composite> (*recognise)(Taking& taking, const DraftEntry& root);
};

} // namespace shard
