// An explanation for people.
#pragma once

#include "cli/explain/explanation.h"

namespace shard {

std::string explanation_text(const Compiled& compiled, const Explanation& explanation, const Paint& paint);

} // namespace shard
