// One element of a value, and the element that it was before it was moved. Of the dims of a result some are counted,
// and the others are left as they are: an element stands for all that have those places.
//
//     (batch, length, 5)                of a result
//     (batch, length, 2, 1)             if that is a reshape of (..., half, 2)
//     (length, 1)                       if that is broadcast along the batch, and sliced
#pragma once

#include "importer/model/draft.h"

#include <memory>

namespace shard {

struct Element;

struct Place {
    int along = -1;                              // the dim of the result that it is along, or -1
    i64 at = 0;                                  // behind its place there, or alone
    std::shared_ptr<const Element> by = nullptr; // the index that it was looked up by, or null
    bool is_number() const { return along < 0 && by == nullptr; }
    bool operator==(const Place&) const = default;
};

struct Element {
    DraftId value = -1;
    std::vector<Place> index;
    i64 last = -1; // of an index: what is outside of 0 ... last is moved there; -1 if nothing is
};

// Of a transpose, reshape, broadcast, slice or concatenation, what the element was; nullopt if it is made by something
// else, or if it was no single element.
std::optional<Element> moved_from(const Draft& draft, const Element& element);
// Of a lookup, the element of the table.
std::optional<Element> looked_up(const Draft& draft, const Element& element);
// Of an op that goes element by element, with numpy's broadcasting.
Element of_operand(const Draft& draft, const Element& element, DraftId operand);

// Whether two values are computed by the same few ops of the same values: each lookup makes its indices for itself.
bool are_alike(const Draft& draft, DraftId a, DraftId b, int deep = 8);

} // namespace shard
