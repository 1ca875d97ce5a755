// Collectives of groups whose devices are not all in this process. They are the same shares that devices in one memory
// carry out (executor/collective/share.h): what a share reads of a device elsewhere comes as a message into the place
// where it is needed, or beside it, and what it writes there goes as one. Which messages there are follows from the
// shares themselves, which both sides look at: nothing is said about a kind of collective here. So results have the same
// bits, and the same bytes are moved, as in the emulation.
//
// A device's part of a collective:
//     start     posts the receives of its share's operands, and sends what others' shares read of it
//     wait      when the operands are there: its share, and the results that it makes for others are sent;
//               when what others read of it has left, so that it may be written over: receives of results from others
//
// Where it was asked for, what the library has a collective of its own for goes by that (executor/collective/
// library_share.h): then sums are rounded in an order of its own. Of what it moves it says nothing, so the bytes of the
// share are counted.
//
// All devices start and await collectives in the same order, so a message between two of them needs no name: the tag is
// who sends it to whom, and whether it is an operand or a result.
#pragma once

#include "executor/collective/library_share.h"
#include "executor/collective/share.h"
#include "executor/devices/arenas.h"
#include "executor/devices/program.h"
#include "executor/engine/ranks.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>

namespace shard {

// A call of Traffic, as written down: a copy has one source and one target.
struct Movement {
    std::vector<std::byte*> targets;
    std::vector<const std::byte*> sources; // of zeros none
    std::optional<ReduceOp> reduce;
    DType dtype = DType::f32; // of what is reduced
    i64 element_bytes = 1;
    std::vector<CopyDim> dims;

    i64 bytes() const { return element_bytes * elements_of(dims); }
};

class Messages {
public:
    Messages(const Plan& plan, const Program& program, const Arenas& arenas, Ranks& ranks,
             std::function<void(int)> wake);

    // From here on these devices, each of another rank, use the library's collectives. All ranks say it of the same
    // groups in the same order; those that hold none of a group's devices leave it out.
    void use_library(const std::vector<i64>& members);

    bool is_local(i64 position) const { return ranks_.holder(position, devices_) == ranks_.rank(); }
    static bool are_tags_enough(const Ranks& ranks, i64 devices);

    void start(int collective, int device, const ShareOf& share_of, size_t own_rank);
    bool operands_here(int collective, int device);
    // The device's share, when its operands are here, and those of the group's devices in this process. Bytes moved.
    i64 carry_out(int collective, int device);
    // And what others write into its output; then nobody reads its input any more.
    bool results_here(int collective, int device);

    // For a worker without work: looks for messages. `all_wait`: every device of this process does. The time that they
    // wait is counted from begin().
    void begin() { last_ = waiting_since_ = std::chrono::steady_clock::now(); }
    void progress(bool all_wait);

private:
    // One message: a run of bytes in an arena, or packed into the staging memory.
    struct Part {
        int rank = 0, tag = 0;
        i64 bytes = 0;
        std::byte* place = nullptr; // where the run is, or what is packed
        i64 staged_at = -1;         // -1: it is not
        i64 element_bytes = 1;
        std::vector<CopyDim> dims = {}; // of what is packed
    };
    // A movement of the own share, with what of it is elsewhere.
    struct Task {
        Movement movement;              // targets: those in this process
        std::vector<i64> staged_at;     // by source; -1: it is read where it is
        std::vector<bool> is_elsewhere; // by source
        bool is_received = false;       // the message comes into the target
    };
    // A device's part of a collective.
    struct Exchange {
        std::vector<Task> tasks;
        std::vector<Part> operands, sends, replies, results;
        i64 wire_bytes = 0, staging_bytes = 0;
        std::unique_ptr<std::byte[]> staging; // while it is under way
        std::optional<LibraryShare> library;  // in place of all of that: then operands_left is 1 until it has ended
        std::atomic<int> operands_left = 0, sends_left = 0, replies_left = 0, results_left = 0;
        std::atomic<bool> results_awaited = false;
    };

    std::unique_ptr<Exchange> prepare(int device, const ShareOf& share_of, size_t own_rank) const;
    void add_own(Exchange& exchange, int device, const Share& share) const;
    void add_for_other(Exchange& exchange, int device, i64 other, const Share& share) const;
    int tag_of(i64 source, i64 target, bool is_result) const;
    int rank_of(i64 position) const { return ranks_.holder(position, devices_); }
    bool in_arena_of(i64 position, const std::byte* at) const { return arenas_.holder(at) == position; }
    Exchange& at(int collective, int device) const { return *exchanges_[collective][device - first_]; }
    std::string waited_for() const;

    const Plan& plan_;
    const Program& program_;
    const Arenas& arenas_;
    Ranks& ranks_;
    std::function<void(int)> wake_;
    i64 devices_, held_, first_;
    mutable std::mutex mutex_;                                      // of the table
    std::vector<std::vector<std::unique_ptr<Exchange>>> exchanges_; // by collective and device
    std::map<std::vector<i64>, int> library_groups_;                // by members
    // Of who makes progress: when a message came or went, and since when all have waited for one.
    std::chrono::steady_clock::time_point last_, waiting_since_;
};

// What a share consists of.
std::vector<Movement> movements_of(const Share& share);

} // namespace shard
