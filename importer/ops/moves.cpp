// Ops that move elements and compute nothing.
#include "importer/model/op_context.h"
#include "importer/model/slice_at.h"
#include "importer/model/transposed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

bool import_broadcast(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1, "takes 1 operand")) return false;
    const Shape from = context.type(0).shape;
    const std::optional<std::vector<i64>> dims =
        context.dims({"dims", "broadcast_dimensions"}, type->shape.size(), from.size());
    if (!dims) return false;
    for (size_t i = 0; i < from.size(); ++i)
        if (!context.expect(from[i] == 1 || from[i] == type->shape[static_cast<size_t>((*dims)[i])],
                            "repeats dims of size 1 alone"))
            return false;
    context.set(0, context.draft.broadcast(context.operand(0), type->shape, *dims));
    return true;
}

bool import_reshape(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1 &&
                                     element_count(context.type(0).shape) == element_count(type->shape),
                                 "keeps the number of elements"))
        return false;
    context.set(0, context.draft.reshape(context.operand(0), type->shape));
    return true;
}

bool import_transpose(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1, "takes 1 operand")) return false;
    const size_t rank = context.type(0).shape.size();
    const std::optional<std::vector<i64>> dims = context.dims({"dims", "permutation"}, rank, rank);
    if (!dims) return false;
    context.set(0, transposed(context.draft, context.operand(0), *dims));
    return true;
}

bool import_reverse(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1, "takes 1 operand")) return false;
    const std::optional<std::vector<i64>> dims = context.dims({"dims", "dimensions"}, type->shape.size());
    if (!dims) return false;
    context.set(0, context.draft.add("rev", {context.operand(0)}, fmt::format(", dims: {}", list_text(*dims)), *type));
    return true;
}

// What a slice along one dim takes of values that were put together there, if it lies within one of them.
std::optional<DraftId> slice_of_joined(Draft& draft, DraftId joined, i64 dim, i64 start, i64 limit) {
    const DraftEntry* const entry = draft.entry_of(joined);
    if (entry == nullptr || entry->op != "concatenate" || entry->arguments != fmt::format(", dim: {}", dim))
        return std::nullopt;
    for (const DraftId part : entry->operands) {
        DraftType type = draft.type(part);
        i64& size = type.shape[static_cast<size_t>(dim)];
        if (start >= 0 && limit <= size) {
            if (start == 0 && limit == size) return part;
            size = limit - start;
            return draft.add("slice", {part}, fmt::format(", dim: [{}], start: [{}], limit: [{}]", dim, start, limit),
                             type);
        }
        start -= size;
        limit -= size;
    }
    return std::nullopt;
}

// Of what is listed, as it is or repeated.
std::optional<DraftNumber> known_element(const Draft& draft, DraftId value, const std::vector<i64>& index) {
    const DraftValue& of = draft[value];
    if (of.number) return of.number;
    if (of.of >= 0) {
        const Shape& shape = draft.type(of.of).shape;
        std::vector<i64> inner;
        for (size_t d = 0; d < shape.size(); ++d)
            inner.push_back(shape[d] == 1 ? 0 : index[static_cast<size_t>(of.dims[d])]);
        return known_element(draft, of.of, inner);
    }
    if (of.listed == nullptr) return std::nullopt;
    i64 place = 0;
    for (size_t d = 0; d < index.size(); ++d) place = place * of.type.shape[d] + index[d];
    return (*of.listed)[static_cast<size_t>(place)];
}

// [0:8, 2:6:2] of the pretty form, three lists of the generic one.
bool import_slice(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1, "takes 1 operand")) return false;
    const Shape from = context.type(0).shape;
    std::vector<i64> start, limit, stride;
    if (find_item(context.op.items, {"start_indices"}) != nullptr) {
        const std::optional<std::vector<i64>> a = context.integers({"start_indices"}, from.size()),
                                              b = context.integers({"limit_indices"}, from.size()),
                                              c = context.integers({"strides"}, from.size());
        if (!a || !b || !c) return false;
        start = *a, limit = *b, stride = *c;
    } else {
        for (const MlirItem& item : context.op.items) {
            // Attributes that have a key stand behind the ranges.
            if (item.parts.empty() || item.parts[0].kind != MlirAttribute::Kind::list || !item.key.empty()) continue;
            for (const MlirItem& range : item.parts[0].items) {
                for (const MlirAttribute& number : range.parts)
                    if (!context.expect(number.kind == MlirAttribute::Kind::integer, "has ranges of numbers"))
                        return false;
                start.push_back(range.parts.empty() ? 0 : range.parts[0].integer);
                limit.push_back(range.parts.size() < 2 ? 0 : range.parts[1].integer);
                stride.push_back(range.parts.size() < 3 ? 1 : range.parts[2].integer);
            }
        }
    }
    if (!context.expect(start.size() == from.size(), "needs a range for each dim")) return false;
    // Only the dims of which something is left out.
    std::vector<i64> dims, starts, limits, strides;
    for (size_t i = 0; i < from.size(); ++i) {
        if (!context.expect(start[i] >= 0 && start[i] <= limit[i] && limit[i] <= from[i] && stride[i] > 0,
                            "has a range beyond its operand"))
            return false;
        if (start[i] == 0 && limit[i] == from[i] && stride[i] == 1) continue;
        dims.push_back(static_cast<i64>(i));
        starts.push_back(start[i]);
        limits.push_back(limit[i]);
        strides.push_back(stride[i]);
    }
    if (dims.empty()) {
        context.set(0, context.operand(0));
        return true;
    }
    bool is_one = type->shape.size() == from.size();
    for (size_t i = 0; i < from.size() && is_one; ++i)
        is_one = type->shape[i] == 1 && start[i] < limit[i] && limit[i] - start[i] <= stride[i];
    const std::optional<DraftNumber> element =
        is_one ? known_element(context.draft, context.operand(0), start) : std::nullopt;
    if (element) {
        context.set(0, context.draft.number(*type, *element));
        return true;
    }
    if (dims.size() == 1 && strides[0] == 1)
        if (const std::optional<DraftId> part =
                slice_of_joined(context.draft, context.operand(0), dims[0], starts[0], limits[0])) {
            context.set(0, *part);
            return true;
        }
    std::string arguments =
        fmt::format(", dim: {}, start: {}, limit: {}", list_text(dims), list_text(starts), list_text(limits));
    if (std::any_of(strides.begin(), strides.end(), [](i64 s) { return s != 1; }))
        arguments += fmt::format(", stride: {}", list_text(strides));
    context.set(0, context.draft.add("slice", {context.operand(0)}, std::move(arguments), *type));
    return true;
}

// Of single numbers that are known, as the words of a key, their list.
std::optional<std::vector<DraftNumber>> numbers_of(const Draft& draft, const std::vector<DraftId>& values) {
    std::vector<DraftNumber> numbers;
    for (const DraftId value : values) {
        const std::optional<DraftNumber>& number = draft[value].number;
        if (!number || draft.type(value).shape != Shape{1}) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers.size() > 1 ? std::optional(numbers) : std::nullopt;
}

bool import_concatenate(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const std::optional<i64> dim = context.integer({"dim", "dimension"});
    if (!type || !dim ||
        !context.expect(context.operand_count() > 0 && *dim >= 0 && *dim < static_cast<i64>(type->shape.size()),
                        "puts values together along a dim that they have"))
        return false;
    // What is empty adds nothing, and models have no such arrays.
    std::vector<DraftId> values;
    for (size_t i = 0; i < context.operand_count(); ++i)
        if (element_count(context.type(i).shape) > 0) values.push_back(context.operand(i));
    if (values.empty()) {
        context.set(0, context.draft.number(*type, {}));
        return true;
    }
    if (const std::optional<std::vector<DraftNumber>> known = numbers_of(context.draft, values)) {
        context.set(0, context.draft.list(*type, *known));
        return true;
    }
    context.set(0, values.size() == 1
                       ? values[0]
                       : context.draft.add("concatenate", values, fmt::format(", dim: {}", *dim), *type));
    return true;
}

bool import_pad(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 2 && context.type(1).shape.empty(),
                                 "takes a value and a number to pad it with"))
        return false;
    const size_t rank = type->shape.size();
    const std::optional<std::vector<i64>> low = context.integers({"low", "edge_padding_low"}, rank),
                                          high = context.integers({"high", "edge_padding_high"}, rank),
                                          interior = context.integers({"interior", "interior_padding"}, rank);
    if (!low || !high || !interior) return false;
    Draft& draft = context.draft;
    const DraftId value = context.operand(0), with = context.operand(1);
    const std::optional<DraftNumber> padded = draft[value].number, number = draft[with].number;
    const bool is_same = padded && number &&
                         (is_floating(type->dtype) ? padded->real == number->real : padded->integer == number->integer);
    if (is_same || element_count(context.type(0).shape) == 0) { // nothing is left but what it is padded with
        context.set(0, draft.broadcast(with, type->shape, {}));
        return true;
    }
    std::vector<i64> dims, lows, highs, interiors;
    for (size_t i = 0; i < rank; ++i) {
        if ((*low)[i] == 0 && (*high)[i] == 0 && (*interior)[i] == 0) continue;
        dims.push_back(static_cast<i64>(i));
        lows.push_back((*low)[i]);
        highs.push_back((*high)[i]);
        interiors.push_back((*interior)[i]);
    }
    std::string arguments =
        fmt::format(", dim: {}, low: {}, high: {}", list_text(dims), list_text(lows), list_text(highs));
    if (std::any_of(interiors.begin(), interiors.end(), [](i64 n) { return n != 0; }))
        arguments += fmt::format(", interior: {}", list_text(interiors));
    const auto pad = [&](DraftId of, std::string_view by) {
        const std::string value_text = by == "0" ? std::string() : fmt::format(", value: {}", by);
        return draft.add("pad", {of}, arguments + value_text, {draft.type(of).dtype, type->shape});
    };
    if (dims.empty()) {
        context.set(0, value);
    } else if (number) {
        context.set(0, pad(value, number_text(type->dtype, *number)));
    } else { // a value that is computed stands where padding does
        const DraftId inside = pad(draft.number({DType::i32, context.type(0).shape}, {1, 1}), "0");
        const DraftId is_inside =
            draft.pointwise("ne", {inside, draft.number({DType::i32, {}}, {})}, {DType::boolean, type->shape});
        context.set(0, draft.pointwise("select", {is_inside, pad(value, "0"), with}, *type));
    }
    return true;
}

// Starts that are known to be in bounds make a slice; dims that are taken whole need none.
bool import_dynamic_slice(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const size_t rank = type ? type->shape.size() : 0;
    if (!type || !context.expect(context.operand_count() == rank + 1, "takes a value and a start for each dim"))
        return false;
    const Shape from = context.type(0).shape;
    const std::optional<std::vector<i64>> said = context.integers({"sizes", "slice_sizes"}, rank);
    if (!said || !context.expect(from.size() == rank && *said == type->shape, "has a result of its sizes"))
        return false;
    std::vector<DraftId> starts;
    for (size_t i = 0; i < rank; ++i) {
        if (!context.expect(context.type(i + 1).shape.empty() && is_integer(context.type(i + 1).dtype) &&
                                type->shape[i] <= from[i],
                            "begins at whole numbers and fits its operand"))
            return false;
        starts.push_back(context.operand(i + 1));
    }
    context.set(0, slice_at(context.draft, context.operand(0), type->shape, starts));
    return true;
}

bool import_dynamic_update_slice(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const size_t rank = type ? type->shape.size() : 0;
    if (!type || !context.expect(context.operand_count() == rank + 2 && context.type(0).shape == type->shape &&
                                     context.type(1).shape.size() == rank,
                                 "takes a value, an update and a start for each dim"))
        return false;
    if (element_count(context.type(1).shape) == 0) { // writes nothing
        context.set(0, context.operand(0));
        return true;
    }
    std::vector<i64> dims;
    std::vector<DraftId> operands = {context.operand(0), context.operand(1)};
    for (size_t i = 0; i < rank; ++i) {
        if (context.type(1).shape[i] == type->shape[i]) continue;
        dims.push_back(static_cast<i64>(i));
        operands.push_back(context.operand(i + 2));
    }
    context.set(0, dims.empty() ? context.operand(1)
                                : context.draft.add("dynamic_update_slice", operands,
                                                    fmt::format(", dim: {}", list_text(dims)), *type));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_moves() {
    return {{"stablehlo.broadcast_in_dim", import_broadcast},
            {"stablehlo.reshape", import_reshape},
            {"stablehlo.transpose", import_transpose},
            {"stablehlo.reverse", import_reverse},
            {"stablehlo.slice", import_slice},
            {"stablehlo.concatenate", import_concatenate},
            {"stablehlo.pad", import_pad},
            {"stablehlo.dynamic_slice", import_dynamic_slice},
            {"stablehlo.dynamic_update_slice", import_dynamic_update_slice}};
}

} // namespace shard
