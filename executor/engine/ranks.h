// The processes that run a plan together, called ranks: each holds the devices of a block of neighbouring positions of
// the mesh, and makes with them what the emulation makes with all (executor/run/run.h). The first rank reports.
//
//     8 devices, 2 ranks: rank 0 has positions 0 to 3, rank 1 has 4 to 7
//
// Besides the bytes of collectives, ranks meet: all of them come to the same points, and what the first one makes of
// everybody's message is what all go on with. One that ends early says so where the others meet, so that they end too.
#pragma once

#include "executor/engine/transport.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>

namespace shard {

// Ranks that have not come to where the others wait, and do not say that they wait too: they hang, or are too slow.
struct MissingRanks : std::runtime_error {
    MissingRanks(const std::string& waited_for, std::set<int> silent)
        : std::runtime_error(waited_for), ranks(std::move(silent)) {}
    std::set<int> ranks; // empty: all wait for each other
};

class Ranks {
public:
    using Ended = std::function<void()>;
    using Seconds = std::chrono::duration<double>;

    // A rank that waits longer than `timeout` while nothing happens finds out who is missing. 0: it waits.
    explicit Ranks(std::unique_ptr<Transport> transport, double timeout = 0);
    ~Ranks();

    int rank() const { return rank_; }
    int count() const { return count_; }
    bool is_first() const { return rank_ == 0; }
    const Transport& transport() const { return *transport_; }
    int make_group(std::span<const int> ranks) { return transport_->make_group(ranks); }

    // --- who has which devices; their number is a multiple of the ranks' ---
    i64 held(i64 devices) const { return devices / count_; }
    i64 first_position(i64 devices) const { return rank_ * held(devices); }
    int holder(i64 position, i64 devices) const { return static_cast<int>(position / held(devices)); }

    // --- messages; any thread. `ended` is called by whoever polls then ---
    static constexpr int first_tag = 4; // of others' messages
    void send(int rank, int tag, const std::byte* from, i64 bytes, Ended ended);
    void receive(int rank, int tag, std::byte* to, i64 bytes, Ended ended);
    void call(const LibraryCall& call, Ended ended); // a collective of the library's own
    bool poll();                                     // whether anything has ended
    // Nothing ends for a while: gives the processor away. `quiet` is how long it has been so.
    static void pause(Seconds quiet);
    // Polls until what began has ended: `left` is counted down by it. `what` is waited for, in words.
    void wait_for(const int& left, const std::string& what) { wait_for(left, what, false); }
    Seconds timeout() const { return timeout_; }
    // This rank waits, and has for too long: throws MissingRanks.
    [[noreturn]] void overdue(const std::string& waited_for);
    // Ends the processes of all ranks.
    [[noreturn]] void abort(int exit_code);

    // --- where all meet, in the same order on all; nullopt if another rank has ended ---
    using OnFirst = std::function<std::string(std::vector<std::string>& messages)>; // by rank
    std::optional<std::string> meet(const std::string& what, const std::string& own, const OnFirst& on_first);
    // Of each of some numbers the largest, or the sum, of all ranks.
    std::optional<std::vector<i64>> largest(const std::string& what, const std::vector<i64>& own);
    std::optional<std::vector<i64>> sum(const std::string& what, const std::vector<i64>& own);
    // Whether it is so on all ranks.
    bool all(const std::string& what, bool own);
    // The last meeting, which a rank may come to from anywhere and where nobody hurries.
    std::string finish(const std::string& own, const OnFirst& on_first);

private:
    struct Header {
        i64 bytes = 0;
        i64 is_end = 0;
    };
    std::optional<std::vector<i64>> combine(const std::string& what, const std::vector<i64>& own, i64 (*of)(i64, i64));
    void wait_for(const int& left, const std::string& what, bool patient);
    void send_text(int rank, int tag, bool is_end, const std::string& text, const std::string& what, bool patient);
    std::string receive_text(int rank, int tag, bool& is_end, const std::string& what, bool patient);
    void listen(int rank);
    int take_ticket(Ended ended);

    std::unique_ptr<Transport> transport_;
    Seconds timeout_;
    int rank_, count_;
    std::mutex mutex_;                              // of the transport and the tickets
    std::vector<Ended> ended_;                      // by ticket
    std::vector<int> unused_;                       // tickets
    std::vector<int> finished_;                     // of poll
    std::vector<std::optional<std::string>> early_; // by rank, on the first: what one said that ended early
    // Questions and answers say nothing but that they come.
    std::vector<i64> asked_; // by rank
    i64 question_ = 0, answer_ = 0, replies_ = 0;
    std::set<int> answered_;
};

} // namespace shard
