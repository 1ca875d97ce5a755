#include "importer/model/truths.h"

#include "importer/model/fold.h"

#include <utility>

namespace shard {

namespace {

// A truth, and the numbers that stand for it.
struct Made {
    DraftId truth = -1;
    DraftNumber if_true, if_false;
};

std::optional<DraftNumber> number_of(const Draft& draft, DraftId value) {
    const DraftValue& of = draft[value];
    return of.number ? of.number : of.filled;
}

// The truth that a value is made of by a cast, or by a choice between two numbers.
std::optional<Made> made_of(const Draft& draft, DraftId value) {
    const DraftEntry* const entry = draft.sure_entry_of(value);
    if (entry == nullptr || entry->operands.empty()) return std::nullopt;
    const DType dtype = draft.type(value).dtype;
    const DraftId first = entry->operands[0];
    if (draft.type(first).dtype != DType::boolean) return std::nullopt;
    if (entry->op == "cast" && is_integer(dtype)) return Made{first, {0, 1}, {0, 0}};
    if (entry->op == "cast" && is_floating(dtype)) return Made{first, {1, 0}, {0, 0}};
    if (entry->op != "select") return std::nullopt;
    const std::optional<DraftNumber> if_true = number_of(draft, entry->operands[1]),
                                     if_false = number_of(draft, entry->operands[2]);
    return if_true && if_false ? std::optional(Made{first, *if_true, *if_false}) : std::nullopt;
}

} // namespace

std::optional<DraftId> compared_truth(Draft& draft, std::string_view op, DraftId a, DraftId b, const DraftType& type) {
    const bool is_first = number_of(draft, b).has_value(); // what is made of a truth
    const std::optional<DraftNumber> number = number_of(draft, is_first ? b : a);
    const std::optional<Made> made = number ? made_of(draft, is_first ? a : b) : std::nullopt;
    if (!made) return std::nullopt;
    const auto holds = [&](const DraftNumber& one) -> std::optional<bool> {
        const std::pair sides = is_first ? std::pair(one, *number) : std::pair(*number, one);
        return is_floating(draft.type(a).dtype) ? compared(op, sides.first.real, sides.second.real)
                                                : compared(op, sides.first.integer, sides.second.integer);
    };
    const std::optional<bool> if_true = holds(made->if_true), if_false = holds(made->if_false);
    if (!if_true || !if_false) return std::nullopt;
    if (*if_true == *if_false) return draft.number(type, {0, *if_true});
    if (draft.type(made->truth) != type) return std::nullopt;
    if (*if_true) return made->truth;
    const DraftEntry* const entry = draft.sure_entry_of(made->truth);
    if (entry != nullptr && entry->op == "not") return entry->operands[0];
    return draft.pointwise("not", {made->truth}, type);
}

} // namespace shard
