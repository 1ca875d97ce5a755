#include "importer/model/number_range.h"

#include "importer/model/fold.h"
#include "plans/base/parse_number.h"

#include <algorithm>

namespace shard {

namespace {

constexpr int most_deep = 24; // ops above: those of random bits are hundreds

using Range = std::optional<NumberRange>;

Range of_type(DType dtype) {
    if (!is_integer(dtype)) return std::nullopt;
    const DTypeInfo& type = info(dtype);
    if (type.highest > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return NumberRange{type.lowest, static_cast<i64>(type.highest)};
}

// Ops whose results are elements of their first operand.
bool gives_elements(std::string_view op) {
    for (const std::string_view one : {"reshape", "broadcast", "transpose", "slice", "rev", "dynamic_slice", "gather",
                                       "reduce_max", "reduce_min", "constrain", "cummax", "cummin"})
        if (op == one) return true;
    return false;
}

class Ranges {
public:
    explicit Ranges(const Draft& draft) : draft_(draft) {}

    Range of(DraftId id, int deep) {
        const DraftValue& value = draft_[id];
        const Range whole = of_type(value.type.dtype);
        if (!whole) return std::nullopt;
        if (value.number) return NumberRange{value.number->integer, value.number->integer};
        if (value.is_carried) return whole;
        if (value.filled) return NumberRange{value.filled->integer, value.filled->integer};
        if (value.of >= 0) return of(value.of, deep);
        const DraftEntry* const entry = draft_.entry_of(id);
        if (entry == nullptr || deep == 0) return whole;
        const auto [it, is_new] = known_.try_emplace(id, *whole);
        if (!is_new) return it->second;
        const Range own = of_entry(*entry, id, deep - 1);
        // Beyond the type's ends numbers come round.
        if (own && own->least >= whole->least && own->most <= whole->most) known_[id] = *own;
        return known_[id];
    }

private:
    Range of_entry(const DraftEntry& entry, DraftId id, int deep) {
        const std::string_view op = entry.op;
        if (op == "iota" && draft_[id].is_count) return NumberRange{0, draft_.type(id).shape[0] - 1};
        if (op == "argsort" || (op == "top_k" && id == entry.results.back())) return positions(entry);
        if (op == "axis_index") return NumberRange{0, INT32_MAX};
        if (const auto& numbers = draft_[id].listed) return listed(*numbers);
        if (entry.operands.empty()) return std::nullopt;
        if (op == "cast" && draft_.type(entry.operands[0]).dtype == DType::boolean) return NumberRange{0, 1};
        if (gives_elements(op) || op == "cast") return of(entry.operands[0], deep);
        if (op == "concatenate") return united(entry.operands, deep);
        if (op == "select") return united({entry.operands[1], entry.operands[2]}, deep);
        return entry.operands.size() == 2 ? of_two(op, entry, deep) : std::nullopt;
    }

    Range of_two(std::string_view op, const DraftEntry& entry, int deep) {
        const Range a = of(entry.operands[0], deep), b = of(entry.operands[1], deep);
        if (!a || !b) return std::nullopt;
        NumberRange result;
        if (op == "max") return NumberRange{std::max(a->least, b->least), std::max(a->most, b->most)};
        if (op == "min") return NumberRange{std::min(a->least, b->least), std::min(a->most, b->most)};
        if (op == "add" && !__builtin_add_overflow(a->least, b->least, &result.least) &&
            !__builtin_add_overflow(a->most, b->most, &result.most))
            return result;
        if (op == "sub" && !__builtin_sub_overflow(a->least, b->most, &result.least) &&
            !__builtin_sub_overflow(a->most, b->least, &result.most))
            return result;
        if (op == "mul" && a->least >= 0 && b->least >= 0 && !__builtin_mul_overflow(a->most, b->most, &result.most)) {
            result.least = a->least * b->least;
            return result;
        }
        if (op == "rem" && a->least >= 0 && b->least > 0) return NumberRange{0, std::min(a->most, b->most - 1)};
        if (op == "bit_and" && a->least >= 0) return NumberRange{0, a->most};
        if (op == "bit_and" && b->least >= 0) return NumberRange{0, b->most};
        return std::nullopt;
    }

    Range united(const std::vector<DraftId>& values, int deep) {
        Range all;
        for (const DraftId value : values) {
            const Range own = of(value, deep);
            if (!own) return std::nullopt;
            all = all ? NumberRange{std::min(all->least, own->least), std::max(all->most, own->most)} : *own;
        }
        return all;
    }

    // Places along a dim of the operand.
    Range positions(const DraftEntry& entry) const {
        const Shape& shape = draft_.type(entry.operands[0]).shape;
        return NumberRange{0, shape.empty() ? 0 : *std::max_element(shape.begin(), shape.end()) - 1};
    }

    static Range listed(const std::vector<DraftNumber>& numbers) {
        Range all;
        for (const DraftNumber& number : numbers)
            all = all ? NumberRange{std::min(all->least, number.integer), std::max(all->most, number.integer)}
                      : NumberRange{number.integer, number.integer};
        return all;
    }

    const Draft& draft_;
    std::map<DraftId, NumberRange> known_;
};

} // namespace

std::optional<NumberRange> range_of(const Draft& draft, DraftId value) { return Ranges(draft).of(value, most_deep); }

std::optional<bool> known_comparison(const Draft& draft, std::string_view op, DraftId a, DraftId b) {
    if (!compared<i64>(op, 0, 0) || !is_integer(draft.type(a).dtype)) return std::nullopt;
    // One side at least is a number in all that is asked: the other's ops are looked at only then.
    if (!draft[a].number && !draft[b].number) return std::nullopt;
    const std::optional<NumberRange> left = range_of(draft, a), right = range_of(draft, b);
    if (!left || !right) return std::nullopt;
    if (op == "eq" || op == "ne") {
        if (left->most < right->least || right->most < left->least) return op == "ne";
        return std::nullopt;
    }
    const bool at_ends[] = {*compared(op, left->least, right->most), *compared(op, left->most, right->least)};
    return at_ends[0] == at_ends[1] ? std::optional<bool>(at_ends[0]) : std::nullopt;
}

} // namespace shard
