#include "planner/redistribute/xla_detour.h"

#include "plans/base/saturating.h"

namespace shard {

std::optional<XlaDetour> xla_detour(const Mesh& mesh, const Hardware& hardware, const TensorType& global,
                                    const Sharding& from, const Sharding& to) {
    i64 least = reshard_as_xla(mesh, hardware, global, from, to).wire_bytes_total;
    std::optional<XlaDetour> best;
    Sharding at = from;
    for (const RedistributionStep& step : redistribute(mesh, hardware, global, from, to).steps) {
        at = sharding_after(step, at);
        if (!at.partial.empty()) continue;
        const i64 bytes = add_saturating(reshard_as_xla(mesh, hardware, global, from, at).wire_bytes_total,
                                         reshard_as_xla(mesh, hardware, global, at, to).wire_bytes_total);
        if (bytes >= least) continue;
        least = bytes;
        best = XlaDetour{at, bytes};
    }
    return best;
}

} // namespace shard
