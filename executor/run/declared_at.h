#pragma once

#include "plans/plan/plan.h"

namespace shard {

// Where the model declares one of the plan's tensors: a place in Plan::sources.
Span declared_at(const Plan& plan, std::string_view tensor);

} // namespace shard
