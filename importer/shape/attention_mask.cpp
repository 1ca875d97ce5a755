#include "importer/shape/attention_mask.h"

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

using Part = AttentionMask::Part;

constexpr i64 most_exact = 1 << 22; // positions that are f32 are whole, and their sums

std::optional<double> number_in(const Draft& draft, DraftId value) {
    const DraftValue& of = draft[value];
    const std::optional<DraftNumber>& number = of.number ? of.number : of.filled;
    if (!number) return std::nullopt;
    return is_floating(of.type.dtype) ? number->real : static_cast<double>(number->integer);
}

bool is_number(const Draft& draft, DraftId value, double number) { return number_in(draft, value) == number; }

// a op b as b op a.
std::string_view turned(std::string_view op) {
    if (op == "ge") return "le";
    if (op == "le") return "ge";
    if (op == "gt") return "lt";
    if (op == "lt") return "gt";
    return op;
}

std::string_view opposite(std::string_view op) {
    if (op == "ge") return "lt";
    if (op == "le") return "gt";
    if (op == "gt") return "le";
    if (op == "lt") return "ge";
    return op == "eq" ? "ne" : "eq";
}

} // namespace

Part AttentionMaskReader::operand(const Part& part, size_t i, bool negate) const {
    const DraftEntry& entry = *draft_.entry_of(part.value);
    const DraftId of = entry.operands[i];
    return {of, factors_.aligned(draft_.type(of).shape, draft_.type(part.value).shape, part.dims),
            part.is_negated != negate};
}

Part AttentionMaskReader::source(Part part) {
    while (const DraftEntry* const entry = draft_.entry_of(part.value)) {
        std::optional<FactorDims> above = factors_.above(draft_, *entry, part.dims, {true, true});
        if (!above) break;
        part.value = entry->operands[0];
        part.dims = std::move(*above);
    }
    return part;
}

std::optional<AttentionMaskReader::Position> AttentionMaskReader::position(const Part& part) {
    if (--left_ < 0) return std::nullopt;
    const Part at = source(part);
    const DraftValue& value = draft_[at.value];
    const DType dtype = value.type.dtype;
    const bool is_whole = is_integer(dtype);
    if (!is_whole && dtype != DType::f32 && dtype != DType::f64) return std::nullopt;
    if (value.number && !is_whole && !(std::fabs(value.number->real) < most_exact)) return std::nullopt;
    const i64 number = !value.number ? 0 : is_whole ? value.number->integer : std::llround(value.number->real);
    if (value.number && !is_whole && static_cast<double>(number) != value.number->real) return std::nullopt;
    if (value.number) return Position{{}, number};
    if (value.is_count) return Position{factors_.parts(at.dims[0]), 0};
    const DraftEntry* const entry = draft_.entry_of(at.value);
    if (entry == nullptr) return std::nullopt;
    if (entry->op == "cast" && is_integer(draft_.type(entry->operands[0]).dtype) &&
        (is_whole || factors_.size(factors_.all(at.dims)) < most_exact))
        return position(operand(at, 0));
    if (entry->op != "add" && entry->op != "sub") return std::nullopt;
    const std::optional<Position> a = position(operand(at, 0)), b = position(operand(at, 1));
    const bool is_sum = entry->op == "add";
    if (!a || !b || !(b->along.empty() || (is_sum && a->along.empty()))) return std::nullopt;
    Position sum;
    sum.along = b->along.empty() ? a->along : b->along;
    if (is_sum ? __builtin_add_overflow(a->first, b->first, &sum.first)
               : __builtin_sub_overflow(a->first, b->first, &sum.first))
        return std::nullopt;
    return sum;
}

// Of a comparison; i - j with a number is i with j and the number.
std::optional<std::pair<AttentionMaskReader::Position, AttentionMaskReader::Position>>
AttentionMaskReader::compared(const Part& part) {
    std::optional<Position> sides[] = {position(operand(part, 0)), position(operand(part, 1))};
    for (const size_t side : {0, 1}) {
        const std::optional<Position>& number = sides[1 - side];
        if (sides[side] || !number || !number->along.empty()) continue;
        const Part of = source(operand(part, side));
        const DraftEntry* const entry = draft_.entry_of(of.value);
        if (entry == nullptr || entry->op != "sub" || !is_integer(draft_.type(of.value).dtype)) return std::nullopt;
        const std::optional<Position> from = position(operand(of, 0));
        std::optional<Position> taken = position(operand(of, 1));
        if (!from || !taken || __builtin_add_overflow(taken->first, number->first, &taken->first)) return std::nullopt;
        sides[side] = from;
        sides[1 - side] = taken;
        break;
    }
    if (!sides[0] || !sides[1]) return std::nullopt;
    return std::pair(*sides[0], *sides[1]);
}

bool AttentionMaskReader::read_comparison(const Part& part, AttentionMask& into) {
    const DraftEntry& entry = *draft_.entry_of(part.value);
    std::string_view op = part.is_negated ? opposite(entry.op) : std::string_view(entry.op);
    const std::optional<std::pair<Position, Position>> sides = compared(part);
    if (!sides) return false;
    const Factors keys = factors_.parts(keys_);
    Position query = sides->first, key = sides->second;
    if (query.along == keys) {
        std::swap(query, key);
        op = turned(op);
    }
    if (key.along != keys || query.along.empty() || (!into.queries.empty() && into.queries != query.along))
        return false;
    // i + query.first op j + key.first
    i64 bound = 0;
    if (__builtin_sub_overflow(key.first, query.first, &bound) || std::abs(bound) > (i64{1} << 40)) return false;
    std::optional<i64> low, high;
    if (op == "ge") low = bound;
    if (op == "gt") low = bound + 1;
    if (op == "le") high = bound;
    if (op == "lt") high = bound - 1;
    if (!low && !high) return false;
    if (low && (!into.low || *low > *into.low)) into.low = low;
    if (high && (!into.high || *high < *into.high)) into.high = high;
    into.queries = query.along;
    into.compared.push_back(part);
    return true;
}

// a == b, of one value along the queries and along the keys.
bool AttentionMaskReader::read_segments(const Part& part, AttentionMask& into) {
    const DraftEntry& entry = *draft_.entry_of(part.value);
    if ((entry.op == "eq") == part.is_negated || into.segments.value >= 0) return false;
    Part left = source(operand(part, 0)), right = source(operand(part, 1));
    if (left.value != right.value || !is_integer(draft_.type(left.value).dtype)) return false;
    const Factors keys = factors_.parts(keys_);
    const auto place_of_keys = [&](const Part& of) {
        size_t place = 0;
        while (place < of.dims.size() && factors_.parts(of.dims[place]) != keys) ++place;
        return place;
    };
    size_t place = place_of_keys(right);
    if (place == right.dims.size()) {
        std::swap(left, right);
        place = place_of_keys(right);
    }
    if (place == right.dims.size()) return false;
    for (size_t d = 0; d < left.dims.size(); ++d)
        if (d != place && factors_.parts(left.dims[d]) != factors_.parts(right.dims[d])) return false;
    const Factors queries = factors_.parts(left.dims[place]);
    if (queries.empty() || (!into.queries.empty() && into.queries != queries)) return false;
    into.queries = queries;
    into.segments = left;
    return true;
}

bool AttentionMaskReader::read_number(const Part& part, AttentionMask& into) {
    if (--left_ < 0) return false;
    const Part at = source(part);
    const DraftEntry* const entry = draft_.entry_of(at.value);
    if (entry == nullptr) return false;
    if (entry->op == "cast" && draft_.type(entry->operands[0]).dtype == DType::boolean) {
        read_truth(operand(at, 0), into);
        return true;
    }
    if (entry->op == "cast") return false; // a small number may become 0
    if (entry->op == "mul" && !at.is_negated) {
        AttentionMask both = into;
        if (!read_number(operand(at, 0), both) || !read_number(operand(at, 1), both)) return false;
        into = std::move(both);
        return true;
    }
    if (entry->op != "select") return false;
    for (const size_t zero : {size_t{1}, size_t{2}})
        if (is_number(draft_, entry->operands[zero], 0) &&
            number_in(draft_, entry->operands[3 - zero]).value_or(0) != 0) {
            read_truth(operand(at, 0, zero == 1), into);
            return true;
        }
    return false;
}

// x > 0, where x is a truth as a number, or the least of several numbers, all of which are then.
bool AttentionMaskReader::read_positive(const Part& part, AttentionMask& into) {
    const Part at = source(part);
    const DraftEntry* const entry = --left_ < 0 ? nullptr : draft_.entry_of(at.value);
    if (entry != nullptr && entry->op == "cast" && draft_.type(entry->operands[0]).dtype == DType::boolean) {
        read_truth(operand(at, 0), into);
        return true;
    }
    if (entry != nullptr && entry->op == "select" && is_number(draft_, entry->operands[2], 0) &&
        number_in(draft_, entry->operands[1]).value_or(0) > 0) {
        read_truth(operand(at, 0), into);
        return true;
    }
    if (entry == nullptr || entry->op != "min" || at.is_negated) return false;
    for (const size_t i : {size_t{0}, size_t{1}})
        if (const Part each = operand(at, i); !read_positive(each, into)) into.rest.push_back(each);
    return true;
}

void AttentionMaskReader::read_truth(const Part& part, AttentionMask& into) {
    const Part at = source(part);
    const DraftValue& value = draft_[at.value];
    if (value.number && (value.number->integer != 0) != at.is_negated) return; // all is seen
    const DraftEntry* const entry = draft_.entry_of(at.value);
    const std::string_view op = entry == nullptr || --left_ < 0 ? "" : std::string_view(entry->op);
    const auto is_truth = [&](size_t i) { return draft_.type(entry->operands[i]).dtype == DType::boolean; };
    if (op == (at.is_negated ? "or" : "and") && is_truth(0) && is_truth(1)) {
        read_truth(operand(at, 0), into);
        read_truth(operand(at, 1), into);
    } else if (op == "not" && is_truth(0)) {
        read_truth(operand(at, 0, true), into);
    } else if (op == "select" && !at.is_negated && is_number(draft_, entry->operands[2], 0)) {
        read_truth(operand(at, 0), into);
        read_truth(operand(at, 1), into);
    } else if (op == "select" && !at.is_negated && is_number(draft_, entry->operands[1], 0)) {
        read_truth(operand(at, 0, true), into);
        read_truth(operand(at, 2), into);
    } else if ((op == "ne" || op == "eq") && is_number(draft_, entry->operands[1], 0) &&
               read_number(operand(at, 0, op == "eq"), into)) {
        return;
    } else if (op == "gt" && is_number(draft_, entry->operands[1], 0) && read_positive(operand(at, 0), into)) {
        return;
    } else if ((op == "ge" || op == "gt" || op == "le" || op == "lt") && read_comparison(at, into)) {
        return;
    } else if ((op == "eq" || op == "ne") && read_segments(at, into)) {
        return;
    } else {
        into.rest.push_back(part);
    }
}

AttentionMask AttentionMaskReader::read(const Part& mask) {
    AttentionMask found;
    read_truth(mask, found);
    return found;
}

std::optional<AttentionMaskReader::Added> AttentionMaskReader::read_added(DraftId value, const FactorDims& dims) {
    const Part at = source({value, dims, false});
    const DraftEntry* const entry = draft_.entry_of(at.value);
    if (entry == nullptr) return std::nullopt;
    const auto number = [&](DraftId of) {
        return is_floating(draft_.type(of).dtype) ? number_in(draft_, of) : std::nullopt;
    };
    if (entry->op == "cast" && is_floating(draft_.type(entry->operands[0]).dtype)) {
        return read_added(entry->operands[0], at.dims);
    }
    if (entry->op == "select") {
        for (const size_t zero : {size_t{1}, size_t{2}})
            if (const std::optional<double> hidden = number(entry->operands[3 - zero]);
                hidden && is_number(draft_, entry->operands[zero], 0))
                return Added{read(operand(at, 0, zero == 2)), *hidden};
        return std::nullopt;
    }
    if (entry->op != "mul") return std::nullopt;
    // (1 - cast(mask)) * number
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const std::optional<double> hidden = number(entry->operands[i]);
        if (!hidden) continue;
        const Part factor = source(operand(at, 1 - i));
        const DraftEntry* const difference = draft_.entry_of(factor.value);
        if (difference == nullptr || difference->op != "sub" || !is_number(draft_, difference->operands[0], 1))
            return std::nullopt;
        AttentionMask mask;
        const Part seen = operand(factor, 1);
        const DraftEntry* const cast = draft_.entry_of(source(seen).value);
        if (cast == nullptr || cast->op != "cast" || draft_.type(cast->operands[0]).dtype != DType::boolean ||
            !read_number(seen, mask))
            return std::nullopt;
        return Added{std::move(mask), *hidden};
    }
    return std::nullopt;
}

} // namespace shard
