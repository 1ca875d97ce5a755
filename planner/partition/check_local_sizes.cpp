#include "planner/partition/check_local_sizes.h"

#include "plans/base/saturating.h"

#include <fmt/format.h>

namespace shard {

// A value that is made whole on a device takes more there than its sharding says.
bool check_local_sizes(const Local& local, Diagnostics& diagnostics) {
    constexpr i64 arena_limit = i64{1} << 56; // of a plan
    i64 sum = 0;
    for (const Value& value : local.graph.values) {
        sum = add_saturating(sum, value.type.bytes());
        if (sum <= arena_limit) continue;
        diagnostics
            .error("E0401", value.span,
                   fmt::format("too large to plan at '{}', of which a device would hold {}", value.name,
                               shape_text(value.type.shape)))
            .help("split it where it is read, or look for an axis size with too many digits");
        return false;
    }
    return true;
}

} // namespace shard
