#include "importer/model/scales.h"

#include <algorithm>
#include <array>

namespace shard {

namespace {

constexpr std::array norms = {"batch_norm", "layer_norm", "rms_norm"};

// Operands 1 of norms, and of products those whose other operand is no number that the program has.
bool scales(const Draft& draft, const DraftEntry& entry, size_t operand) {
    if (std::find(norms.begin(), norms.end(), entry.op) != norms.end()) return operand == 1;
    return entry.op == "mul" && entry.operands.size() == 2 && !draft[entry.operands[1 - operand]].number;
}

// The same elements, in another shape or type.
bool moves(const DraftEntry& entry) {
    return entry.op == "reshape" || entry.op == "broadcast" || entry.op == "cast" || entry.op == "transpose";
}

} // namespace

std::vector<bool> scales_of(const Draft& draft) {
    std::vector<bool> found(static_cast<size_t>(draft.value_count()));
    for (size_t i = draft.entry_count(); i-- > 0;) {
        const DraftEntry& entry = draft.entry(i);
        for (size_t o = 0; o < entry.operands.size(); ++o)
            if (scales(draft, entry, o) || (moves(entry) && found[static_cast<size_t>(entry.results[0])]))
                found[static_cast<size_t>(entry.operands[o])] = true;
    }
    for (DraftId id = 0; id < draft.value_count(); ++id) {
        const DraftType& type = draft.type(id);
        if (!is_floating(type.dtype) || type.shape.size() > 1) found[static_cast<size_t>(id)] = false;
    }
    return found;
}

} // namespace shard
