#include "importer/model/identities.h"

#include <cmath>

namespace shard {

namespace {

bool is(const Draft& draft, DraftId value, double number) {
    const DraftValue& of = draft[value];
    if (!of.number) return false;
    return is_floating(of.type.dtype) ? of.number->real == number : static_cast<double>(of.number->integer) == number;
}

// What max and min never choose, of the type.
bool is_end(const Draft& draft, DraftId value, bool least) {
    const DraftValue& of = draft[value];
    if (!of.number) return false;
    if (is_floating(of.type.dtype)) return std::isinf(of.number->real) && (of.number->real < 0) == least;
    const DTypeInfo& type = info(of.type.dtype);
    return least ? of.number->integer == type.lowest
                 : of.number->integer > 0 && static_cast<std::uint64_t>(of.number->integer) == type.highest;
}

} // namespace

std::optional<DraftId> same_value(const Draft& draft, std::string_view op, const std::vector<DraftId>& operands,
                                  const DraftType& type) {
    std::optional<DraftId> same;
    if (op == "select" && operands.size() == 3) {
        if (draft[operands[0]].number) same = operands[draft[operands[0]].number->integer != 0 ? 1 : 2];
        if (operands[1] == operands[2]) same = operands[1];
        if (type.dtype == DType::boolean && is(draft, operands[1], 1) && is(draft, operands[2], 0)) same = operands[0];
    } else if (operands.size() == 2) {
        for (const size_t i : {size_t{0}, size_t{1}}) {
            const DraftId number = operands[1 - i];
            const bool first = i == 0; // what is left is the first operand
            if ((op == "max" && is_end(draft, number, true)) || (op == "min" && is_end(draft, number, false)) ||
                (op == "bit_and" && is_end(draft, number, false) && !is_signed(type.dtype)) || // all of the bits
                (op == "and" && is(draft, number, 1)) || (op == "or" && is(draft, number, 0)) ||
                (op == "ne" && type.dtype == draft.type(number).dtype && is(draft, number, 0)) || // of truths
                (op == "mul" && is(draft, number, 1)) || (op == "div" && first && is(draft, number, 1)) ||
                (op == "sub" && first && is(draft, number, 0)) || (op == "add" && is(draft, number, 0)))
                same = operands[i];
            if ((op == "and" && is(draft, number, 0)) ||
                (op == "or" && type.dtype == DType::boolean && is(draft, number, 1)))
                same = number;
        }
    }
    return same && draft.type(*same) == type ? same : std::nullopt;
}

} // namespace shard
