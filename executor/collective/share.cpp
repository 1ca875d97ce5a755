#include "executor/collective/share.h"

namespace shard {

#define REGISTER(stem) void share_##stem(const Share&, Traffic&);
#include "collective_registry.inc"
#undef REGISTER

void carry_out_share(const Share& share, Traffic& traffic) {
    const std::string_view kind = share.collective.def->name;
#define REGISTER(stem)                                                                                                 \
    if (kind == #stem) return share_##stem(share, traffic);
#include "collective_registry.inc"
#undef REGISTER
    internal_error("a collective of no kind");
}

ShareBlock block_from(const Share& share, size_t member) {
    const std::vector<i64> own = coordinates_of(share.mesh, share.members[share.rank]);
    const std::vector<i64> other = coordinates_of(share.mesh, share.members[member]);
    ShareBlock block = {share.before.shape, std::vector<i64>(share.before.shape.size(), 0), {}};
    block.out_start = block.in_start;
    for (const AxisMove& move : share.collective.moves) {
        if (move.to >= 0) { // the dim shrinks: the own block of it
            const size_t d = move.to;
            block.extent[d] = share.after.shape[d];
            block.in_start[d] = linear_coordinate(share.mesh, own, move.axes) * block.extent[d];
        }
        if (move.from >= 0) { // the dim grows: the member's place in it
            const size_t d = move.from;
            block.out_start[d] = linear_coordinate(share.mesh, other, move.axes) * share.before.shape[d];
        }
    }
    return block;
}

// Starts at the own rank, so that not everyone reads the same member at once.
void exchange_blocks(const Share& share, Traffic& traffic) {
    const i64 element = byte_size(share.before.dtype);
    for (size_t i = 0; i < share.members.size(); ++i) {
        const size_t member = (share.rank + i) % share.members.size();
        const ShareBlock block = block_from(share, member);
        traffic.copy_box(share.output() + flat_index(share.after.shape, block.out_start) * element,
                         share.inputs[member] + flat_index(share.before.shape, block.in_start) * element, element,
                         box_copy(block.extent, share.after.shape, share.before.shape));
    }
}

void copy_from(const Share& share, size_t member, Traffic& traffic) {
    if (share.inputs[member] != share.output())
        traffic.copy(share.output(), share.inputs[member], share.before.bytes());
}

} // namespace shard
