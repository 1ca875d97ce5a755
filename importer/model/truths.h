// Comparisons of what truths were made into: a switch that is lowered for many at once compares its choice, a truth as a
// whole number, with each branch's number, and masks of 0 and a large negative number are compared to be masks again.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// Of lt, le, gt, ge, eq and ne, where one side is one number in every element: the truth, or `not` of it, that the other
// side was made of by a cast, or by a choice between two numbers; a number where both compare alike.
std::optional<DraftId> compared_truth(Draft& draft, std::string_view op, DraftId a, DraftId b, const DraftType& type);

} // namespace shard
