#include "tests/support/thread_ranks.h"

#include "executor/collective/traffic.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <thread>

namespace shard {

namespace {

// A message that is sent, until the other side has taken it.
struct Sent {
    const std::byte* from = nullptr;
    i64 bytes = 0;
    bool taken = false;
};

// A collective that all of a group come to, until the last of them has its result.
struct Together {
    std::map<size_t, LibraryCall> calls; // by rank of the group
    size_t made = 0;
};

struct Office {
    std::mutex mutex;
    std::map<std::tuple<int, int, int>, std::deque<std::shared_ptr<Sent>>> boxes; // by from, to, tag
    // By ranks, which of their groups, and which of its calls.
    std::map<std::tuple<std::vector<int>, int, int>, std::shared_ptr<Together>> collectives;
    int calls = 0;
};

// What a rank gets of a collective, in the words of executor/engine/transport.h.
std::vector<std::byte> result_of(const Together& together, size_t rank) {
    const LibraryCall& own = together.calls.at(rank);
    const size_t bytes = own.bytes;
    const bool gathers = own.kind == LibraryCall::Kind::all_gather || own.kind == LibraryCall::Kind::all_to_all;
    const bool splits = own.kind == LibraryCall::Kind::reduce_scatter || own.kind == LibraryCall::Kind::all_to_all;
    std::vector<std::byte> result(gathers ? bytes * together.calls.size() : bytes);
    std::vector<const std::byte*> sources;
    for (const auto& [other, call] : together.calls) sources.push_back(call.from + (splits ? rank * bytes : 0));
    if (gathers) {
        for (size_t other = 0; other < sources.size(); ++other)
            std::memcpy(result.data() + other * bytes, sources[other], bytes);
        return result;
    }
    const DType dtype = *parse_dtype(own.number);
    std::byte* const to = result.data();
    ArenaTraffic(nullptr, 0)
        .reduce({&to, 1}, sources, *parse_reduce_op(own.combine), dtype, {{own.bytes / byte_size(dtype), 1, 1}});
    return result;
}

class ThreadTransport final : public Transport {
public:
    ThreadTransport(Office& office, int rank, int ranks) : office_(office), rank_(rank), ranks_(ranks) {}
    int rank() const override { return rank_; }
    int ranks() const override { return ranks_; }
    int ranks_on_machine() const override { return ranks_; }
    int largest_tag() const override { return 32767; }
    std::string library() const override { return "threads"; }

    void send(int rank, int tag, const std::byte* from, i64 bytes, int ticket) override {
        const std::lock_guard<std::mutex> lock(office_.mutex);
        const std::shared_ptr<Sent> sent = std::make_shared<Sent>(Sent{from, bytes});
        office_.boxes[{rank_, rank, tag}].push_back(sent);
        sent_.emplace_back(sent, ticket);
    }
    void receive(int rank, int tag, std::byte* to, i64 bytes, int ticket) override {
        awaited_.push_back({rank, tag, to, bytes, ticket});
    }
    void poll(std::vector<int>& ended) override {
        const std::lock_guard<std::mutex> lock(office_.mutex);
        std::erase_if(awaited_, [&](const Awaited& awaited) {
            std::deque<std::shared_ptr<Sent>>& box = office_.boxes[{awaited.rank, rank_, awaited.tag}];
            if (box.empty()) return false;
            Sent& sent = *box.front();
            internal_check(sent.bytes == awaited.bytes, "a message of another size");
            if (sent.bytes > 0) std::memcpy(awaited.to, sent.from, sent.bytes);
            sent.taken = true;
            box.pop_front();
            ended.push_back(awaited.ticket);
            return true;
        });
        std::erase_if(called_, [&](Called& called) {
            Together& together = *called.together;
            if (together.calls.size() < called.ranks) return false;
            if (called.result.empty()) {
                called.result = result_of(together, called.rank);
                ++together.made;
            }
            if (together.made < called.ranks) return false; // others still read what is given
            std::memcpy(together.calls.at(called.rank).to, called.result.data(), called.result.size());
            ended.push_back(called.ticket);
            return true;
        });
        std::erase_if(sent_, [&](const std::pair<std::shared_ptr<Sent>, int>& sent) {
            if (!sent.first->taken) return false;
            ended.push_back(sent.second);
            return true;
        });
    }
    int make_group(std::span<const int> ranks) override {
        Group group = {{ranks.begin(), ranks.end()}, 0, 0};
        for (const Group& other : groups_) group.nth += other.ranks == group.ranks ? 1 : 0;
        groups_.push_back(std::move(group));
        return static_cast<int>(groups_.size()) - 1;
    }
    bool reduces(std::string_view number, std::string_view) const override { return number != "bf16"; }
    void call(const LibraryCall& call, int ticket) override {
        const std::lock_guard<std::mutex> lock(office_.mutex);
        Group& group = groups_[call.group];
        const size_t rank = std::find(group.ranks.begin(), group.ranks.end(), rank_) - group.ranks.begin();
        std::shared_ptr<Together>& together = office_.collectives[{group.ranks, group.nth, group.calls++}];
        if (!together) together = std::make_shared<Together>();
        together->calls[rank] = call;
        called_.push_back({together, rank, group.ranks.size(), {}, ticket});
        ++office_.calls;
    }
    void abort(int exit_code) override { throw std::runtime_error(fmt::format("aborted with {}", exit_code)); }

private:
    struct Awaited {
        int rank, tag;
        std::byte* to;
        i64 bytes;
        int ticket;
    };
    struct Group {
        std::vector<int> ranks;
        int nth = 0, calls = 0; // among groups of the same ranks
    };
    struct Called {
        std::shared_ptr<Together> together;
        size_t rank, ranks;
        std::vector<std::byte> result;
        int ticket;
    };
    Office& office_;
    int rank_, ranks_;
    std::vector<Group> groups_;
    std::vector<Called> called_;
    std::vector<Awaited> awaited_;
    std::vector<std::pair<std::shared_ptr<Sent>, int>> sent_;
};

} // namespace

int on_thread_ranks(int count, const std::function<void(Ranks& ranks)>& body, double timeout) {
    Office office;
    std::vector<std::exception_ptr> failures(count);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank)
        threads.emplace_back([&, rank] {
            try {
                Ranks ranks(std::make_unique<ThreadTransport>(office, rank, count), timeout);
                body(ranks);
            } catch (...) {
                failures[rank] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return office.calls;
}

RunResult run_on_thread_ranks(const Plan& plan, const RunOptions& options, int count, int* library_calls) {
    std::vector<std::optional<RunResult>> results(count);
    std::vector<Diagnostics> diagnostics(count);
    const int calls = on_thread_ranks(count, [&](Ranks& ranks) {
        RunOptions own = options;
        own.ranks = &ranks;
        if (!ranks.is_first()) {
            own.after_step = nullptr;
            own.at_end = nullptr;
        }
        results[ranks.rank()] = run_plan(plan, own, diagnostics[ranks.rank()]);
    });
    if (library_calls != nullptr) *library_calls = calls;
    for (int rank = 0; rank < count; ++rank) {
        for (const Diagnostic& diagnostic : diagnostics[rank].all()) FAIL_CHECK(diagnostic.message);
        REQUIRE(results[rank]);
    }
    return *results.front();
}

std::vector<std::string> differences_on_ranks(const Plan& plan, const RunOptions& options, const RunResult& alone,
                                              int count) {
    const RunResult together = run_on_thread_ranks(plan, options, count);
    std::vector<std::string> problems;
    for (const auto& [name, tensor] : alone.outputs)
        if (together.outputs.at(name).bytes != tensor.bytes)
            problems.push_back(fmt::format("on {} ranks '{}' has other bits", count, name));
    if (together.scalars.size() != alone.scalars.size()) problems.push_back("on ranks there are other scalars");
    for (const auto& [name, values] : alone.scalars)
        if (values.size() != together.scalars.at(name).size() ||
            std::memcmp(values.data(), together.scalars.at(name).data(), values.size() * sizeof(double)) != 0)
            problems.push_back(fmt::format("on {} ranks the steps have other values of '{}'", count, name));
    if (together.wire_bytes_by_start != alone.wire_bytes_by_start)
        problems.push_back(fmt::format("on {} ranks {} wire bytes were moved, {} by one process", count,
                                       together.wire_bytes_total, alone.wire_bytes_total));
    if (together.touched_peak_bytes != alone.touched_peak_bytes)
        problems.push_back(fmt::format("on {} ranks the peak was {} bytes, {} in one process", count,
                                       together.touched_peak_bytes, alone.touched_peak_bytes));
    return problems;
}

} // namespace shard
