// Messages between the processes that run a plan together: what a library like MPI does for them, and no more, so that
// each library needs one small plugin (executor/engine/mpi/) and a test can be one within a process. Everything else,
// from collectives to who reports, is made of these (executor/collective/messages.h, executor/engine/ranks.h).
//
// Between two ranks, messages of one tag arrive in the order in which they were sent. One thread at a time may call it.
#pragma once

#include "plans/base/base.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

// A collective that the library carries out itself. Of n ranks each gives and gets, in the order of their ranks there:
//     all_reduce      `bytes`, and the combination of what all give; `from` may be `to`
//     all_gather      `bytes`, and n times as many
//     reduce_scatter  n times `bytes`, and `bytes` of the combination
//     all_to_all      n times `bytes`, and as many
struct LibraryCall {
    enum class Kind { all_reduce, all_gather, reduce_scatter, all_to_all };
    Kind kind = Kind::all_reduce;
    int group = -1;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    i64 bytes = 0;
    std::string_view number = "", combine = ""; // of reductions, as plans call them: "f32", "sum"
};

class Transport {
public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;             // this process, from 0
    virtual int ranks() const = 0;            // how many there are
    virtual int ranks_on_machine() const = 0; // that share this one's processors
    virtual int largest_tag() const = 0;      // tags are 0 to this
    virtual std::string library() const = 0;  // "Open MPI 4.1.4"

    // Begin, and return at once. The bytes stay where they are, and are not touched, until poll() gives the ticket.
    virtual void send(int rank, int tag, const std::byte* from, i64 bytes, int ticket) = 0;
    virtual void receive(int rank, int tag, std::byte* to, i64 bytes, int ticket) = 0;
    // Adds the tickets of what has ended since it was called last.
    virtual void poll(std::vector<int>& ended) = 0;

    // The library's own collectives, whose sums are rounded in an order of its own. A group is made by its ranks, which
    // make their groups in one order and then call in it in one order.
    virtual int make_group(std::span<const int> ranks) = 0;
    virtual bool reduces(std::string_view number, std::string_view combine) const = 0;
    virtual void call(const LibraryCall& call, int ticket) = 0;

    // Ends the processes of all ranks, this one too. For what nobody can go on from.
    virtual void abort(int exit_code) = 0;
};

// What a plugin has, by its name. nullptr if it was built for another version of this header.
inline constexpr int transport_version = 2;
using MakeTransport = Transport* (*)(int version);
inline constexpr const char* make_transport_name = "shardc_make_transport";

} // namespace shard
