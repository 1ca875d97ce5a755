#include "executor/collectives/collective_share.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace shard {

namespace {

void all_reduce(const Share& share, Traffic& traffic) {
    const i64 n = static_cast<i64>(share.members.size()), rank = static_cast<i64>(share.rank);
    const i64 count = share.before.elements(), element = byte_size(share.before.dtype);
    const i64 begin = rank * count / n, end = (rank + 1) * count / n;
    std::vector<const std::byte*> sources(share.inputs.begin(), share.inputs.end());
    std::vector<std::byte*> targets(share.outputs.begin(), share.outputs.end());
    for (const std::byte*& source : sources) source += begin * element;
    for (std::byte*& target : targets) target += begin * element;
    traffic.reduce(targets, sources, share.collective.reduce, share.before.dtype, end - begin);
}

// Where the block that comes from a member lies: in its input, and in the own output.
struct Block {
    Shape extent;
    std::vector<i64> in_start, out_start;
};

Block block_from(const Share& share, size_t member) {
    const std::vector<i64> own = coordinates_of(share.mesh, share.members[share.rank]);
    const std::vector<i64> other = coordinates_of(share.mesh, share.members[member]);
    Block block = {share.before.shape, std::vector<i64>(share.before.shape.size(), 0), {}};
    block.out_start = block.in_start;
    for (const AxisMove& move : share.collective.moves) {
        if (move.to >= 0) { // the dim shrinks: the own block of it
            const size_t d = static_cast<size_t>(move.to);
            block.extent[d] = share.after.shape[d];
            block.in_start[d] = linear_coordinate(share.mesh, own, move.axes) * block.extent[d];
        }
        if (move.from >= 0) { // the dim grows: the member's place in it
            const size_t d = static_cast<size_t>(move.from);
            block.out_start[d] = linear_coordinate(share.mesh, other, move.axes) * share.before.shape[d];
        }
    }
    return block;
}

// all_gather and all_to_all. Starts at the own rank, so that not everyone reads the same member at once.
void exchange(const Share& share, Traffic& traffic) {
    const i64 element = byte_size(share.before.dtype);
    for (size_t i = 0; i < share.members.size(); ++i) {
        const size_t member = (share.rank + i) % share.members.size();
        const Block block = block_from(share, member);
        traffic.copy_box(share.output() + flat_index(share.after.shape, block.out_start) * element,
                         share.inputs[member] + flat_index(share.before.shape, block.in_start) * element, element,
                         box_copy(block.extent, share.after.shape, share.before.shape));
    }
}

// The own block, reduced run by run: the output is contiguous, the inputs are where the block is.
void reduce_scatter(const Share& share, Traffic& traffic) {
    const i64 element = byte_size(share.before.dtype);
    const Block block = block_from(share, share.rank);
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

void copy_from(const Share& share, size_t member, Traffic& traffic) {
    if (share.inputs[member] != share.output())
        traffic.copy(share.output(), share.inputs[member], share.before.bytes());
}

// Ranks to ranks; who is no destination gets zeros.
void pairwise_permute(const Share& share, Traffic& traffic) {
    for (const auto& [source, destination] : share.collective.pairs)
        if (destination == static_cast<i64>(share.rank)) return copy_from(share, static_cast<size_t>(source), traffic);
    std::memset(share.output(), 0, static_cast<size_t>(share.before.bytes()));
}

void collective_permute(const Share& share, Traffic& traffic) {
    if (is_pairwise(share.collective)) return pairwise_permute(share, traffic);
    const Collective& collective = share.collective;
    std::vector<i64> source = coordinates_of(share.mesh, share.members[share.rank]);
    const i64 place = linear_coordinate(share.mesh, source, collective.target_order);
    set_linear_coordinate(share.mesh, source, collective.source_order, place);
    const i64 position = position_of(share.mesh, source);
    const std::vector<i64>::const_iterator found = std::find(share.members.begin(), share.members.end(), position);
    internal_check(found != share.members.end(), "collective_permute leaves its group");
    copy_from(share, static_cast<size_t>(found - share.members.begin()), traffic);
}

} // namespace

void carry_out_share(const Share& share, Traffic& traffic) {
    const std::string_view kind = share.collective.def->name;
    if (kind == "all_reduce") return all_reduce(share, traffic);
    if (kind == "all_gather" || kind == "all_to_all") return exchange(share, traffic);
    if (kind == "reduce_scatter") return reduce_scatter(share, traffic);
    if (kind == "collective_permute") return collective_permute(share, traffic);
    if (kind == "broadcast") return copy_from(share, static_cast<size_t>(share.collective.root), traffic);
    internal_error("the shared-memory backend does not know the collective " + std::string(kind));
}

} // namespace shard
