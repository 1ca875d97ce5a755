#include "exporter/target/target.h"

namespace shard {

#define REGISTER(stem) const TargetDef& target_##stem();
#include "target_registry.inc"
#undef REGISTER

const std::vector<const TargetDef*>& all_targets() {
    static const std::vector<const TargetDef*> targets = {
#define REGISTER(stem) &target_##stem(),
#include "target_registry.inc"
#undef REGISTER
    };
    return targets;
}

const TargetDef* find_target(std::string_view name) {
    for (const TargetDef* target : all_targets())
        if (target->name == name) return target;
    return nullptr;
}

} // namespace shard
