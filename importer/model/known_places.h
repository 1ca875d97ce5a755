// Coordinates of a lookup that are one known number for all indices, as the first of c[1, i] is: what stands there is a
// slice of the table, and the lookup is one of that slice.
#pragma once

#include "importer/model/lookup_form.h"

namespace shard {

class KnownPlaces {
public:
    // Takes them out of the starts, but for the last one. Those beyond the table are moved into it by a gather.
    KnownPlaces(LookupStarts& starts, const Draft& draft, const Shape& table, bool is_gather);

    const Shape& left() const { return left_; }                         // of the table, without those dims
    bool is_outside() const { return is_outside_; }                     // a scatter that meets nothing
    DraftId part_of(Draft& draft, DraftId table) const;                 // the slice, of that shape
    DraftId with_part(Draft& draft, DraftId table, DraftId part) const; // the table with another slice there

private:
    Shape one_there() const; // the slice with its dims of size 1

    Shape table_, left_;
    std::vector<i64> dims_, places_;
    bool is_outside_ = false;
};

} // namespace shard
