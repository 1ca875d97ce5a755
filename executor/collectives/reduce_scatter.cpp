#include "executor/collective/share.h"

namespace shard {

// The own block: the output is contiguous, the inputs are where the block is.
void share_reduce_scatter(const Share& share, Traffic& traffic) {
    const i64 element = byte_size(share.before.dtype);
    const ShareBlock block = block_from(share, share.rank);
    const i64 in_offset = flat_index(share.before.shape, block.in_start) * element;
    std::vector<const std::byte*> sources(share.inputs.begin(), share.inputs.end());
    for (const std::byte*& source : sources) source += in_offset;
    std::byte* const target = share.output();
    traffic.reduce({&target, 1}, sources, share.collective.reduce, share.before.dtype,
                   box_copy(block.extent, share.after.shape, share.before.shape));
}

} // namespace shard
