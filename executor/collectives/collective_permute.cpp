#include "executor/collective/share.h"

#include <algorithm>

namespace shard {

namespace {

// Ranks to ranks; who is no destination gets zeros.
void pairwise_permute(const Share& share, Traffic& traffic) {
    for (const auto& [source, destination] : share.collective.pairs)
        if (destination == static_cast<i64>(share.rank)) return copy_from(share, source, traffic);
    traffic.clear(share.output(), share.before.bytes());
}

} // namespace

void share_collective_permute(const Share& share, Traffic& traffic) {
    if (is_pairwise(share.collective)) return pairwise_permute(share, traffic);
    const Collective& collective = share.collective;
    std::vector<i64> source = coordinates_of(share.mesh, share.members[share.rank]);
    const i64 place = linear_coordinate(share.mesh, source, collective.target_order);
    set_linear_coordinate(share.mesh, source, collective.source_order, place);
    const i64 position = position_of(share.mesh, source);
    const std::vector<i64>::const_iterator found = std::find(share.members.begin(), share.members.end(), position);
    internal_check(found != share.members.end(), "collective_permute leaves its group");
    copy_from(share, found - share.members.begin(), traffic);
}

} // namespace shard
