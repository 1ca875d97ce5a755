// The judge pass: policy and budgets -> findings.
#pragma once

#include "planner/model/policy.h"

namespace shard {

// Policy and budgets -> findings (P01xx), appended to diagnostics. `plan` is priced; `hardware`: where the layout names
// what it does not fit.
void judge(const Plan& plan, const PolicyDecl& policy, Diagnostics& diagnostics, Span hardware = {});

} // namespace shard
