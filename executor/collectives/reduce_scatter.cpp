#include "executor/collective/share.h"

namespace shard {

// The own block, reduced run by run: the output is contiguous, the inputs are where the block is.
void share_reduce_scatter(const Share& share, Traffic& traffic) {
    const i64 element = byte_size(share.before.dtype);
    const ShareBlock block = block_from(share, share.rank);
    const i64 in_offset = flat_index(share.before.shape, block.in_start) * element;
    const std::vector<CopyDim> dims = normalised(box_copy(block.extent, share.after.shape, share.before.shape));
    const i64 run = dims.empty() ? 1 : dims.back().from == 1 ? dims.back().extent : 1;
    const size_t outer = dims.empty() || dims.back().from != 1 ? dims.size() : dims.size() - 1;
    std::vector<const std::byte*> sources(share.inputs.size());
    std::vector<i64> index(outer, 0);
    for (i64 done = 0; done < share.after.elements(); done += run) {
        i64 to = 0, from = 0;
        for (size_t d = 0; d < outer; ++d) {
            to += index[d] * dims[d].to;
            from += index[d] * dims[d].from;
        }
        for (size_t s = 0; s < sources.size(); ++s) sources[s] = share.inputs[s] + in_offset + from * element;
        std::byte* const target = share.output() + to * element;
        traffic.reduce({&target, 1}, sources, share.collective.reduce, share.before.dtype, run);
        for (size_t d = outer; d-- > 0;) {
            if (++index[d] < dims[d].extent) break;
            index[d] = 0;
        }
    }
}

} // namespace shard
