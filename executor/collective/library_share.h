// One device's part of a collective that the transport's library carries out itself, as MPI_Iallreduce: what it gives,
// packed where it does not lie as the library takes it, and where what comes belongs.
//
// For groups with one device in each of their ranks, and kinds and numbers that the library has; the others go by
// messages (executor/collective/messages.h). All ranks come to the same answer.
#pragma once

#include "executor/collective/share.h"
#include "executor/engine/ranks.h"

#include <functional>
#include <memory>

namespace shard {

using ShareOf = std::function<Share(size_t rank)>; // the share of a member of the group

// Whether the library has a call for it; `before` and `after` are the local types.
bool is_library_call(const Collective& collective, const TensorType& before, const TensorType& after, size_t members,
                     const Transport& transport);

class LibraryShare {
public:
    LibraryShare(const ShareOf& share_of, size_t own_rank, int group);

    // Packs and calls; nobody writes over the input, or reads the output, until `ended` was called and finish().
    void start(Ranks& ranks, Ranks::Ended ended);
    void finish();

private:
    // A block of the arena that lies in the staging memory in one piece.
    struct Piece {
        std::byte* place = nullptr;
        i64 staged_at = 0;
        std::vector<CopyDim> dims; // from the arena for what is given, into it for what comes
    };
    std::vector<Piece> given_, taken_;
    LibraryCall call_;
    i64 element_bytes_ = 1, staging_bytes_ = 0, takes_at_ = -1; // -1: it comes where it belongs
    std::unique_ptr<std::byte[]> staging_;
};

} // namespace shard
