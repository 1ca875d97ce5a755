#include "importer/shape/global_norm_forms.h"

#include <algorithm>

namespace shard {

namespace {

// sum(x * x) over all dims, or of one number x * x: x.
std::optional<DraftId> squared(Taking& taking, DraftId value, DType dtype) {
    const Draft& draft = taking.draft();
    const size_t mark = taking.mark();
    DraftId squares = value;
    if (const std::optional<Taking::Reduced> sum = taking.sum(value)) {
        if (sum->dims.size() != draft.type(sum->of).shape.size()) return std::nullopt;
        squares = sum->of;
    } else {
        taking.back_to(mark);
    }
    const DraftEntry* const square = taking.made_by(squares, "mul");
    if (square == nullptr || square->operands[0] != square->operands[1]) return std::nullopt;
    const DraftId x = square->operands[0];
    return draft.type(x) == DraftType{dtype, draft.type(squares).shape} ? std::optional<DraftId>(x) : std::nullopt;
}

// sqrt(((squares + squares) + squares) + ...): added in the order in which the composite adds.
std::optional<Composite> global_norm(Taking& taking, const DraftEntry& root) {
    const DraftType type = taking.draft().type(root.results[0]);
    if (!type.shape.empty() || !is_floating(type.dtype)) return std::nullopt;
    std::vector<DraftId> operands; // the last one first
    const auto take_squares = [&](DraftId value) {
        const size_t mark = taking.mark();
        const std::optional<DraftId> x = squared(taking, value, type.dtype);
        if (x) operands.push_back(*x);
        if (!x) taking.back_to(mark);
        return x.has_value();
    };
    DraftId rest = root.operands[0];
    while (!take_squares(rest)) {
        const DraftEntry* const sum = taking.made_by(rest, "add");
        if (sum == nullptr) return std::nullopt;
        const size_t last = take_squares(sum->operands[1]) ? 1 : take_squares(sum->operands[0]) ? 0 : 2;
        if (last == 2) return std::nullopt;
        rest = sum->operands[1 - last];
    }
    const auto is_array = [&](DraftId x) { return !taking.draft().type(x).shape.empty(); };
    if (std::none_of(operands.begin(), operands.end(), is_array)) return std::nullopt;
    std::reverse(operands.begin(), operands.end());
    return Composite{"global_norm", std::move(operands), {}};
}

} // namespace

std::vector<CompositeForm> global_norm_forms() { return {{"sqrt", global_norm}}; }

} // namespace shard
