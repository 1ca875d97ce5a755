#include "importer/shape/element.h"

#include "importer/model/arguments.h"
#include "plans/kernel/lookup.h"

#include <algorithm>

namespace shard {

namespace {

// Dims that a reshape puts together or takes apart have to be places that are known; the others stay as they are.
std::optional<std::vector<Place>> reshaped(const std::vector<Place>& index, const Shape& shape, const Shape& from) {
    std::vector<size_t> own, others; // dims that are not of size 1
    for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] != 1) own.push_back(d);
    for (size_t d = 0; d < from.size(); ++d)
        if (from[d] != 1) others.push_back(d);
    std::vector<Place> places(from.size());
    for (size_t i = 0, j = 0; i < own.size() && j < others.size();) {
        const size_t first = i, first_other = j;
        i64 size = shape[own[i++]], other = from[others[j++]];
        while (size != other) {
            if (size < other ? i == own.size() : j == others.size()) return std::nullopt;
            if (size < other)
                size *= shape[own[i++]];
            else
                other *= from[others[j++]];
        }
        if (i == first + 1 && j == first_other + 1) {
            places[others[first_other]] = index[own[first]];
            continue;
        }
        i64 number = 0;
        for (size_t k = first; k < i; ++k) {
            if (!index[own[k]].is_number()) return std::nullopt;
            number = number * shape[own[k]] + index[own[k]].at;
        }
        for (size_t k = j; k-- > first_other;) {
            places[others[k]].at = number % from[others[k]];
            number /= from[others[k]];
        }
    }
    return places;
}

} // namespace

std::optional<Element> moved_from(const Draft& draft, const Element& element) {
    const DraftEntry* const entry = draft.entry_of(element.value);
    if (entry == nullptr || entry->operands.empty()) return std::nullopt;
    const std::string& op = entry->op;
    Element found{entry->operands[0], {}};
    const Shape &shape = draft.type(element.value).shape, &from = draft.type(found.value).shape;
    if (op == "reshape") {
        std::optional<std::vector<Place>> index = reshaped(element.index, shape, from);
        if (!index) return std::nullopt;
        found.index = std::move(*index);
        return found;
    }
    if (op == "transpose" || op == "broadcast") {
        const bool is_transpose = op == "transpose";
        const std::vector<i64> dims = listed(entry->arguments, is_transpose ? "permutation" : "dims");
        if (dims.size() != from.size()) return std::nullopt;
        found.index.resize(from.size());
        for (size_t d = 0; d < dims.size(); ++d) {
            const size_t made = is_transpose ? d : static_cast<size_t>(dims[d]);
            const size_t own = is_transpose ? static_cast<size_t>(dims[d]) : d;
            if (from[own] != 1) found.index[own] = element.index[made];
        }
        return found;
    }
    if (op == "slice") {
        const std::vector<i64> dims = listed(entry->arguments, "dim"), starts = listed(entry->arguments, "start"),
                               strides = listed(entry->arguments, "stride");
        if (dims.size() != starts.size() || dims.empty() || (!strides.empty() && strides.size() != dims.size()))
            return std::nullopt;
        found.index = element.index;
        for (size_t i = 0; i < dims.size(); ++i) {
            Place& place = found.index[static_cast<size_t>(dims[i])];
            const i64 stride = strides.empty() ? 1 : strides[i];
            if (stride != 1 && !place.is_number()) return std::nullopt;
            place.at = starts[i] + stride * place.at;
        }
        return found;
    }
    if (op != "concatenate") return std::nullopt;
    const std::vector<i64> dim = listed(entry->arguments, "dim");
    if (dim.size() != 1) return std::nullopt;
    found.index = element.index;
    Place& place = found.index[static_cast<size_t>(dim[0])];
    if (!place.is_number()) return std::nullopt;
    for (const DraftId operand : entry->operands) {
        const i64 size = draft.type(operand).shape[static_cast<size_t>(dim[0])];
        if (place.at < size) {
            found.value = operand;
            return found;
        }
        place.at -= size;
    }
    return std::nullopt;
}

std::optional<Element> looked_up(const Draft& draft, const Element& element) {
    const DraftEntry* const entry = draft.entry_of(element.value);
    if (entry == nullptr || entry->op != "gather" || entry->operands.size() != 2 ||
        entry->arguments.find("batch") != std::string::npos)
        return std::nullopt;
    const std::vector<i64> axis = listed(entry->arguments, "dim");
    const Shape &table = draft.type(entry->operands[0]).shape, &indices = draft.type(entry->operands[1]).shape;
    if (axis.size() != 1 || axis[0] < 0 || axis[0] >= std::ssize(table)) return std::nullopt;
    const LookupDims dims = lookup_dims({static_cast<int>(axis[0]), {}}, table.size(), indices.size());
    const auto of_indices = std::make_shared<Element>(Element{entry->operands[1], std::vector<Place>(indices.size())});
    for (size_t d = 0; d < indices.size(); ++d)
        if (indices[d] != 1) of_indices->index[d] = element.index[static_cast<size_t>(dims.indices[d])];
    Element found{entry->operands[0], std::vector<Place>(table.size())};
    for (size_t d = 0; d < table.size(); ++d)
        if (dims.table[d] >= 0 && table[d] != 1) found.index[d] = element.index[static_cast<size_t>(dims.table[d])];
    if (!entry->is_inside) of_indices->last = table[static_cast<size_t>(axis[0])] - 1;
    found.index[static_cast<size_t>(axis[0])].by = of_indices;
    return found;
}

Element of_operand(const Draft& draft, const Element& element, DraftId operand) {
    const Shape& shape = draft.type(operand).shape;
    Element found{operand, std::vector<Place>(shape.size())};
    for (size_t back = 1; back <= std::min(shape.size(), element.index.size()); ++back)
        if (shape[shape.size() - back] != 1)
            found.index[shape.size() - back] = element.index[element.index.size() - back];
    return found;
}

bool are_alike(const Draft& draft, DraftId a, DraftId b, int deep) {
    if (a == b) return true;
    const DraftValue &x = draft[a], &y = draft[b];
    if (x.number && y.number)
        return x.type == y.type && x.number->real == y.number->real && x.number->integer == y.number->integer;
    const DraftEntry *const left = draft.entry_of(a), *const right = draft.entry_of(b);
    if (deep == 0 || left == nullptr || right == nullptr || left->region != nullptr || right->region != nullptr ||
        x.type != y.type || left->op != right->op || left->literal != right->literal ||
        left->arguments != right->arguments || left->over != right->over || left->results.size() != 1 ||
        right->results.size() != 1 || left->is_inside != right->is_inside ||
        left->operands.size() != right->operands.size())
        return false;
    for (size_t i = 0; i < left->operands.size(); ++i)
        if (!are_alike(draft, left->operands[i], right->operands[i], deep - 1)) return false;
    return true;
}

} // namespace shard
