#include "importer/model/known_places.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

KnownPlaces::KnownPlaces(LookupStarts& starts, const Draft& draft, const Shape& table, bool is_gather)
    : table_(table), left_(table) {
    for (size_t i = 0; i < starts.dims.size() && starts.dims.size() > 1;) {
        const i64 dim = starts.dims[i], last = table[static_cast<size_t>(dim)] - 1;
        const std::optional<DraftNumber>& number = draft[starts.coordinates[i]].number;
        if (!number || !holds_dim(starts.dropped, dim)) {
            ++i;
            continue;
        }
        is_outside_ = is_outside_ || (!is_gather && (number->integer < 0 || number->integer > last));
        dims_.push_back(dim);
        places_.push_back(std::clamp<i64>(number->integer, 0, last));
        starts.dims.erase(starts.dims.begin() + static_cast<std::ptrdiff_t>(i));
        starts.coordinates.erase(starts.coordinates.begin() + static_cast<std::ptrdiff_t>(i));
        std::erase(starts.dropped, dim);
    }
    std::vector<i64> gone = dims_;
    std::sort(gone.rbegin(), gone.rend());
    for (const i64 dim : gone) {
        left_.erase(left_.begin() + dim);
        starts.sizes.erase(starts.sizes.begin() + dim);
        for (std::vector<i64>* const dims : {&starts.dims, &starts.dropped, &starts.batch})
            for (i64& own : *dims) own -= own > dim ? 1 : 0;
    }
}

Shape KnownPlaces::one_there() const {
    Shape one = table_;
    for (const i64 dim : dims_) one[static_cast<size_t>(dim)] = 1;
    return one;
}

DraftId KnownPlaces::part_of(Draft& draft, DraftId table) const {
    if (dims_.empty()) return table;
    const DraftType type{draft.type(table).dtype, one_there()};
    if (draft[table].number) return draft.number({type.dtype, left_}, *draft[table].number);
    std::vector<i64> limits;
    for (const i64 place : places_) limits.push_back(place + 1);
    if (type.shape != table_)
        table = draft.add(
            "slice", {table},
            fmt::format(", dim: {}, start: {}, limit: {}", list_text(dims_), list_text(places_), list_text(limits)),
            type);
    return draft.reshape(table, left_);
}

DraftId KnownPlaces::with_part(Draft& draft, DraftId table, DraftId part) const {
    if (dims_.empty()) return part;
    part = draft.reshape(part, one_there());
    if (one_there() == table_) return part;
    std::vector<DraftId> operands = {table, part};
    for (const i64 place : places_) operands.push_back(draft.number({DType::i32, {}}, {0, place}));
    return draft.add("dynamic_update_slice", operands, fmt::format(", dim: {}", list_text(dims_)),
                     {draft.type(table).dtype, table_});
}

} // namespace shard
