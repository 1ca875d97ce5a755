// Ops that change nothing: what tracing leaves behind.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// The operand that the op gives back in every element, bit for bit but for the sign of a zero: of max(x, -inf), x + 0,
// x * 1, x and true, a choice that is known, or is none.
std::optional<DraftId> same_value(const Draft& draft, std::string_view op, const std::vector<DraftId>& operands,
                                  const DraftType& type);

} // namespace shard
