#include "importer/shape/lookup_forms.h"

#include "importer/model/arguments.h"

#include <cmath>

namespace shard {

namespace {

// What a value is but for dims of size 1.
DraftId whole_of(const Draft& draft, DraftId value) {
    const DraftEntry* entry = draft.entry_of(value);
    while (entry != nullptr && entry->op == "reshape") {
        Shape from = draft.type(entry->operands[0]).shape, to = draft.type(value).shape;
        std::erase(from, 1);
        std::erase(to, 1);
        if (from != to) break;
        value = entry->operands[0];
        entry = draft.entry_of(value);
    }
    return value;
}

// index >= 0 and index <= last
bool is_inside(Taking& taking, DraftId truth, DraftId index, i64 last) {
    const Draft& draft = taking.draft();
    const DraftEntry* entry = taking.made(truth);
    while (entry != nullptr && (entry->op == "reshape" || entry->op == "broadcast"))
        entry = taking.made(entry->operands[0]);
    if (entry == nullptr || entry->op != "and") return false;
    bool is_low = false, is_high = false;
    for (const DraftId side : entry->operands) {
        const DraftEntry* const compared = taking.made(side);
        if (compared == nullptr || compared->operands.size() != 2 || !draft[compared->operands[1]].number ||
            whole_of(draft, compared->operands[0]) != whole_of(draft, index))
            return false;
        const i64 number = draft[compared->operands[1]].number->integer;
        is_low = is_low || (compared->op == "ge" && number == 0);
        is_high = is_high || (compared->op == "le" && number == last);
    }
    return is_low && is_high;
}

std::optional<Composite> lookup(Taking& taking, const DraftEntry& root) {
    const std::optional<double> otherwise = taking.number(root.operands[2]);
    const DraftEntry* const gather = taking.made_by(root.operands[1], "gather");
    if (!otherwise || !std::isnan(*otherwise) || gather == nullptr || gather->operands.size() != 2) return std::nullopt;
    const std::vector<i64> dim = listed(gather->arguments, "dim");
    const Shape& table = taking.draft().type(gather->operands[0]).shape;
    if (dim.size() != 1 || dim[0] < 0 || dim[0] >= std::ssize(table) ||
        taking.draft().type(root.results[0]) != taking.draft().type(root.operands[1]) ||
        !is_inside(taking, root.operands[0], gather->operands[1], table[static_cast<size_t>(dim[0])] - 1))
        return std::nullopt;
    Composite found{"gather", gather->operands, gather->arguments};
    found.is_inside = true;
    return found;
}

} // namespace

std::vector<CompositeForm> lookup_forms() { return {{"select", lookup}}; }

} // namespace shard
