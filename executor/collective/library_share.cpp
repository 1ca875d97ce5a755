#include "executor/collective/library_share.h"

#include <algorithm>
#include <limits>

namespace shard {

namespace {

LibraryCall::Kind kind_of(const CollectiveDef::Uses& uses) {
    if (uses.reduce) return uses.to ? LibraryCall::Kind::reduce_scatter : LibraryCall::Kind::all_reduce;
    return uses.to ? LibraryCall::Kind::all_to_all : LibraryCall::Kind::all_gather;
}

// Blocks that lie one behind the other, in the order of ranks.
bool is_in_order(const std::vector<i64>& offsets, const std::vector<std::vector<CopyDim>>& dims, i64 bytes) {
    for (size_t rank = 0; rank < offsets.size(); ++rank) {
        const std::vector<CopyDim> loops = normalised(dims[rank]);
        const bool is_run = loops.empty() || (loops.size() == 1 && loops[0].to == 1 && loops[0].from == 1);
        if (!is_run || offsets[rank] != static_cast<i64>(rank) * bytes) return false;
    }
    return true;
}

} // namespace

bool is_library_call(const Collective& collective, const TensorType& before, const TensorType& after, size_t members,
                     const Transport& transport) {
    const CollectiveDef::Uses& uses = collective.def->uses;
    if (uses.orders || uses.root || (!uses.reduce && !uses.from)) return false;
    constexpr i64 most = std::numeric_limits<int>::max(); // a count of the library
    const i64 all = std::max(before.bytes(), after.bytes()), count = static_cast<i64>(members);
    if (before.bytes() == 0 || all > most || (uses.to && uses.from && all > most / count)) return false;
    return !uses.reduce || transport.reduces(info(before.dtype).name, name(collective.reduce));
}

LibraryShare::LibraryShare(const ShareOf& share_of, size_t own_rank, int group) {
    const Share own = share_of(own_rank);
    const CollectiveDef::Uses& uses = own.collective.def->uses;
    const i64 count = static_cast<i64>(own.members.size());
    element_bytes_ = byte_size(own.before.dtype);
    call_ = {.kind = kind_of(uses),
             .group = group,
             .from = own.input(),
             .to = own.output(),
             .bytes = uses.to ? own.before.bytes() / count : own.before.bytes(),
             .number = info(own.before.dtype).name,
             .combine = name(own.collective.reduce)};
    std::vector<i64> offsets(own.members.size());
    std::vector<std::vector<CopyDim>> dims(own.members.size());
    if (uses.to) { // what each member takes of this device's input
        for (size_t rank = 0; rank < own.members.size(); ++rank) {
            const ShareBlock block = block_from(share_of(rank), uses.from ? own_rank : rank);
            offsets[rank] = flat_index(own.before.shape, block.in_start) * element_bytes_;
            dims[rank] = box_copy(block.extent, block.extent, own.before.shape);
        }
        if (!is_in_order(offsets, dims, call_.bytes)) {
            for (size_t rank = 0; rank < offsets.size(); ++rank)
                given_.push_back({const_cast<std::byte*>(own.input()) + offsets[rank],
                                  static_cast<i64>(rank) * call_.bytes, dims[rank]});
            staging_bytes_ = count * call_.bytes;
        }
    }
    if (uses.from) { // where what each member gives belongs
        for (size_t rank = 0; rank < own.members.size(); ++rank) {
            const ShareBlock block = block_from(own, rank);
            offsets[rank] = flat_index(own.after.shape, block.out_start) * element_bytes_;
            dims[rank] = box_copy(block.extent, own.after.shape, block.extent);
        }
        if (!is_in_order(offsets, dims, call_.bytes)) {
            takes_at_ = staging_bytes_;
            for (size_t rank = 0; rank < offsets.size(); ++rank)
                taken_.push_back(
                    {own.output() + offsets[rank], takes_at_ + static_cast<i64>(rank) * call_.bytes, dims[rank]});
            staging_bytes_ += count * call_.bytes;
        }
    }
}

void LibraryShare::start(Ranks& ranks, Ranks::Ended ended) {
    if (staging_bytes_ > 0) staging_ = std::make_unique_for_overwrite<std::byte[]>(staging_bytes_);
    LibraryCall call = call_;
    for (const Piece& piece : given_)
        copy_strided(staging_.get() + piece.staged_at, piece.place, element_bytes_, piece.dims);
    if (!given_.empty()) call.from = staging_.get();
    if (takes_at_ >= 0) call.to = staging_.get() + takes_at_;
    ranks.call(call, std::move(ended));
}

void LibraryShare::finish() {
    for (const Piece& piece : taken_)
        copy_strided(piece.place, staging_.get() + piece.staged_at, element_bytes_, piece.dims);
    staging_.reset();
}

} // namespace shard
