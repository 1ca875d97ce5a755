#include "importer/model/simplified.h"

#include "importer/model/fold.h"
#include "importer/model/identities.h"
#include "importer/model/number_range.h"
#include "importer/model/truths.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

namespace shard {

namespace {

// max(x, 0) of an x that is never less, min(x, 7) of one that is never more.
std::optional<DraftId> bounded(const Draft& draft, std::string_view op, const std::vector<DraftId>& operands) {
    const bool is_max = op == "max";
    if (operands.size() != 2 || (!is_max && op != "min")) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const std::optional<DraftNumber>& bound = draft[operands[1 - i]].number;
        const std::optional<NumberRange> range = bound ? range_of(draft, operands[i]) : std::nullopt;
        if (range && (is_max ? range->least >= bound->integer : range->most <= bound->integer)) return operands[i];
        if (range && (is_max ? range->most <= bound->integer : range->least >= bound->integer)) return operands[1 - i];
    }
    return std::nullopt;
}

std::string_view argument(const DraftEntry& entry, std::string_view key) {
    const std::string_view text = entry.arguments;
    return text.starts_with(key) ? text.substr(key.size()) : std::string_view();
}

Shape without(Shape shape, i64 dim) {
    shape.erase(shape.begin() + dim);
    return shape;
}

// Of a broadcast, what is broadcast there.
DraftId place_of_broadcast(Draft& draft, const DraftValue& value, i64 dim, i64 at) {
    DraftId of = value.of;
    std::vector<i64> dims;
    for (size_t i = 0; i < value.dims.size(); ++i) {
        if (value.dims[i] == dim)
            of = place_along(draft, value.of, static_cast<i64>(i), draft.type(value.of).shape[i] == 1 ? 0 : at);
        else
            dims.push_back(value.dims[i] - (value.dims[i] > dim ? 1 : 0));
    }
    return draft.broadcast(of, without(value.type.shape, dim), dims);
}

} // namespace

std::optional<DraftId> without_op(Draft& draft, std::string_view op, const std::vector<DraftId>& operands,
                                  const DraftType& type) {
    if (const std::optional<DraftId> known = fold(draft, op, operands, type)) return known;
    if (const std::optional<DraftId> same = same_value(draft, op, operands, type)) return same;
    if (operands.size() != 2) return std::nullopt;
    if (const std::optional<bool> truth = known_comparison(draft, op, operands[0], operands[1]))
        return draft.number(type, {0, *truth});
    if (const std::optional<DraftId> truth = compared_truth(draft, op, operands[0], operands[1], type)) return truth;
    const std::optional<DraftId> same = is_integer(type.dtype) ? bounded(draft, op, operands) : std::nullopt;
    if (same && draft[*same].number) return draft.number(type, *draft[*same].number);
    return same && draft.type(*same) == type ? same : std::nullopt;
}

DraftId simplified(Draft& draft, const std::string& op, const std::vector<DraftId>& operands, const DraftType& type) {
    const std::optional<DraftId> known = without_op(draft, op, operands, type);
    return known ? *known : draft.pointwise(op, operands, type);
}

DraftId place_along(Draft& draft, DraftId id, i64 dim, i64 at) {
    const DraftValue value = draft[id].from >= 0 ? draft[draft[id].from] : draft[id];
    const DraftType type{value.type.dtype, without(value.type.shape, dim)};
    if (value.number || value.filled) return draft.number(type, value.number ? *value.number : *value.filled);
    if (value.of >= 0) return place_of_broadcast(draft, value, dim, at);
    if (value.type.shape[static_cast<size_t>(dim)] == 1) return draft.reshape(id, type.shape);
    const DraftEntry* const entry = draft.entry_of(id);
    if (entry != nullptr && entry->op == "concatenate" && argument(*entry, ", dim: ") == std::to_string(dim)) {
        i64 begin = 0;
        for (const DraftId operand : entry->operands) {
            const i64 size = draft.type(operand).shape[static_cast<size_t>(dim)];
            if (at < begin + size) return place_along(draft, operand, dim, at - begin);
            begin += size;
        }
    }
    if (value.listed != nullptr && is_integer(type.dtype) && value.type.shape.size() == 1)
        return draft.number(type, (*value.listed)[static_cast<size_t>(at)]);
    if (entry != nullptr && (entry->op == "max" || entry->op == "min")) {
        const std::string op = entry->op;
        std::vector<DraftId> operands = entry->operands;
        for (DraftId& operand : operands) {
            const Shape& shape = draft.type(operand).shape;
            const i64 own = dim - std::ssize(value.type.shape) + std::ssize(shape);
            if (draft[operand].number && !shape.empty() && own >= 0)
                operand = draft.number({type.dtype, {}}, *draft[operand].number);
            else if (!draft[operand].number && own >= 0)
                operand = place_along(draft, operand, own, shape[static_cast<size_t>(own)] == 1 ? 0 : at);
        }
        return simplified(draft, op, operands, type);
    }
    const DraftId part =
        draft.add("slice", {id}, fmt::format(", dim: [{}], start: [{}], limit: [{}]", dim, at, at + 1), [&] {
            DraftType one = value.type;
            one.shape[static_cast<size_t>(dim)] = 1;
            return one;
        }());
    return draft.reshape(part, type.shape);
}

} // namespace shard
