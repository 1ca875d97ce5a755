#include "tests/support/thread_ranks.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

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

struct Office {
    std::mutex mutex;
    std::map<std::tuple<int, int, int>, std::deque<std::shared_ptr<Sent>>> boxes; // by from, to, tag
};

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
        std::erase_if(sent_, [&](const std::pair<std::shared_ptr<Sent>, int>& sent) {
            if (!sent.first->taken) return false;
            ended.push_back(sent.second);
            return true;
        });
    }
    void abort(int exit_code) override { throw std::runtime_error(fmt::format("aborted with {}", exit_code)); }

private:
    struct Awaited {
        int rank, tag;
        std::byte* to;
        i64 bytes;
        int ticket;
    };
    Office& office_;
    int rank_, ranks_;
    std::vector<Awaited> awaited_;
    std::vector<std::pair<std::shared_ptr<Sent>, int>> sent_;
};

} // namespace

void on_thread_ranks(int count, const std::function<void(Ranks& ranks)>& body, double timeout) {
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
}

RunResult run_on_thread_ranks(const Plan& plan, const RunOptions& options, int count) {
    std::vector<std::optional<RunResult>> results(count);
    std::vector<Diagnostics> diagnostics(count);
    on_thread_ranks(count, [&](Ranks& ranks) {
        RunOptions own = options;
        own.ranks = &ranks;
        if (!ranks.is_first()) {
            own.after_step = nullptr;
            own.at_end = nullptr;
        }
        results[ranks.rank()] = run_plan(plan, own, diagnostics[ranks.rank()]);
    });
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
