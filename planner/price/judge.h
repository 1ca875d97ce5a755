// The judge pass: policy and budgets -> findings.
#pragma once

#include "planner/model/policy.h"

namespace shard {

// Policy and budgets -> findings (P01xx), appended to diagnostics. `plan` is priced.
void judge(const Plan& plan, const PolicyDecl& policy, Diagnostics& diagnostics);

} // namespace shard
