#include "planner/model/policy.h"

namespace shard {

#define REGISTER(stem) const PolicyDef& policy_##stem();
#include "policy_registry.inc"
#undef REGISTER

const std::vector<const PolicyDef*>& all_policies() {
    static const std::vector<const PolicyDef*> table = {
#define REGISTER(stem) &policy_##stem(),
#include "policy_registry.inc"
#undef REGISTER
    };
    return table;
}

PolicyDecl in_file(PolicyDecl policy, int file) {
    policy.span.file = file;
    for (PolicyEntry& entry : policy.entries) entry.span.file = file;
    return policy;
}

} // namespace shard
