// What a scatter of StableHLO becomes where models have no op of it: updates that take the place of what is there, and
// factors. Dims of a batch stay dims of all that is computed, and can be split as those of the table are.
#pragma once

#include "importer/model/lookup_form.h"

namespace shard {

// What a scatter makes of what is there and of an update: the model's op, or "" if the update alone stays.
struct Combining {
    std::string_view op;      // "add"
    std::string_view scatter; // "scatter_add", or "" if models have none
};

// Whether one window at most is written along the scattered dims for each place of the batch:
// jax.vmap(lambda c, u, i: dynamic_update_slice(c, u, (i, 0))).
bool is_one_window(const LookupStarts& starts);

// Each place of the table chooses between what is there and its place of the window:
//
//     select(iota == i, u, c)                                      a window of one place
//     select(i <= iota < i + 4, u looked up at iota - i, c)        of four
//
// -1 if updates have other dims than the window and the batch.
DraftId with_window(Draft& draft, const LookupStarts& starts, const Combining& combining, DraftId table,
                    const Shape& shape, DraftId updates);

// Several updates for each place of the batch, in the order of the form (`updates` has the dims of what a gather would
// find). Of updates that go to one row the last stays, as XLA on CPU does it.
DraftId with_rows(Draft& draft, const LookupForm& form, DraftId table, DraftId updates);
// Each row times all updates that are sent there.
DraftId times_rows(Draft& draft, const LookupForm& form, DraftId table, DraftId updates);

} // namespace shard
