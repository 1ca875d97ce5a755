// Ops that go element by element, without those that change nothing and those whose result is known.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// The result, if no op is needed for it: of numbers (importer/model/fold.h), of an operand that the op gives back
// (importer/model/identities.h), of whole numbers whose range decides (importer/model/number_range.h).
std::optional<DraftId> without_op(Draft& draft, std::string_view op, const std::vector<DraftId>& operands,
                                  const DraftType& type);

// The same, or the op's entry.
DraftId simplified(Draft& draft, const std::string& op, const std::vector<DraftId>& operands, const DraftType& type);

// Of a value along one dim of it the place `at`, without that dim: a part of a concatenation is that operand.
DraftId place_along(Draft& draft, DraftId value, i64 dim, i64 at);

} // namespace shard
