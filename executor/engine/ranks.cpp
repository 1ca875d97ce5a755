#include "executor/engine/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace shard {

namespace {

enum Tag { message_tag, reply_tag, question_tag, answer_tag };
static_assert(answer_tag < Ranks::first_tag);

using Steady = std::chrono::steady_clock;

} // namespace

Ranks::Ranks(std::unique_ptr<Transport> transport, double timeout)
    : transport_(std::move(transport)), timeout_(timeout), rank_(transport_->rank()), count_(transport_->ranks()),
      early_(count_), asked_(count_, 0) {
    if (timeout_.count() <= 0) return;
    for (int other = 0; other < count_; ++other)
        if (other != rank_) listen(other);
}

Ranks::~Ranks() = default;

int Ranks::take_ticket(Ended ended) {
    if (unused_.empty()) {
        unused_.push_back(static_cast<int>(ended_.size()));
        ended_.emplace_back();
    }
    const int ticket = unused_.back();
    unused_.pop_back();
    ended_[ticket] = std::move(ended);
    return ticket;
}

void Ranks::send(int rank, int tag, const std::byte* from, i64 bytes, Ended ended) {
    const std::lock_guard<std::mutex> lock(mutex_);
    transport_->send(rank, tag, from, bytes, take_ticket(std::move(ended)));
}

void Ranks::receive(int rank, int tag, std::byte* to, i64 bytes, Ended ended) {
    const std::lock_guard<std::mutex> lock(mutex_);
    transport_->receive(rank, tag, to, bytes, take_ticket(std::move(ended)));
}

void Ranks::call(const LibraryCall& call, Ended ended) {
    const std::lock_guard<std::mutex> lock(mutex_);
    transport_->call(call, take_ticket(std::move(ended)));
}

bool Ranks::poll() {
    std::vector<Ended> calls;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        finished_.clear();
        transport_->poll(finished_);
        for (int ticket : finished_) {
            calls.push_back(std::move(ended_[ticket]));
            unused_.push_back(ticket);
        }
    }
    for (const Ended& call : calls) call();
    return !calls.empty();
}

// A rank on a processor of its own asks again at once; where ranks share one, the others get it.
void Ranks::pause(Seconds quiet) {
    constexpr Seconds patience = std::chrono::milliseconds(1);
    if (quiet < patience)
        std::this_thread::yield();
    else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

// Who is asked answers as soon as it polls, which it does wherever it waits.
void Ranks::listen(int rank) {
    receive(rank, question_tag, reinterpret_cast<std::byte*>(&asked_[rank]), sizeof asked_[rank], [this, rank] {
        send(rank, answer_tag, reinterpret_cast<const std::byte*>(&answer_), sizeof answer_, [] {});
        listen(rank);
    });
}

void Ranks::overdue(const std::string& waited_for) {
    static constexpr Seconds grace = std::chrono::seconds(2), for_others = std::chrono::seconds(10);
    for (int other = 0; other < count_; ++other) {
        if (other == rank_) continue;
        receive(other, answer_tag, reinterpret_cast<std::byte*>(&replies_), sizeof replies_, [this, other] {
            const std::lock_guard<std::mutex> lock(mutex_);
            answered_.insert(other);
        });
        send(other, question_tag, reinterpret_cast<const std::byte*>(&question_), sizeof question_, [] {});
    }
    const auto serve = [this](Seconds time) {
        for (const Steady::time_point begin = Steady::now(); Steady::now() - begin < time;)
            if (!poll()) pause(grace);
    };
    serve(grace);
    std::set<int> silent;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (int other = 0; other < count_; ++other)
            if (other != rank_ && !answered_.contains(other)) silent.insert(other);
    }
    int speaker = 0; // the first that is alive says it, and ends all
    while (silent.contains(speaker)) ++speaker;
    if (rank_ != speaker) serve(for_others);
    throw MissingRanks(waited_for, std::move(silent));
}

void Ranks::abort(int exit_code) {
    transport_->abort(exit_code);
    std::_Exit(exit_code);
}

void Ranks::wait_for(const int& left, const std::string& what, bool patient) {
    Steady::time_point last = Steady::now();
    while (left > 0) {
        const Steady::time_point now = Steady::now();
        if (poll()) {
            last = now;
            continue;
        }
        if (!patient && timeout_.count() > 0 && now - last > timeout_) overdue(what);
        pause(now - last);
    }
}

void Ranks::send_text(int rank, int tag, bool is_end, const std::string& text, const std::string& what, bool patient) {
    const Header header = {std::ssize(text), is_end ? 1 : 0};
    int left = 2;
    send(rank, tag, reinterpret_cast<const std::byte*>(&header), sizeof header, [&left] { --left; });
    send(rank, tag, reinterpret_cast<const std::byte*>(text.data()), header.bytes, [&left] { --left; });
    wait_for(left, what, patient);
}

std::string Ranks::receive_text(int rank, int tag, bool& is_end, const std::string& what, bool patient) {
    Header header;
    int left = 1;
    receive(rank, tag, reinterpret_cast<std::byte*>(&header), sizeof header, [&left] { --left; });
    wait_for(left, what, patient);
    std::string text(header.bytes, '\0');
    left = 1;
    receive(rank, tag, reinterpret_cast<std::byte*>(text.data()), header.bytes, [&left] { --left; });
    wait_for(left, what, patient);
    is_end = header.is_end != 0;
    return text;
}

std::optional<std::string> Ranks::meet(const std::string& what, const std::string& own, const OnFirst& on_first) {
    bool any_ended = false;
    if (!is_first()) {
        send_text(0, message_tag, false, own, what, false);
        std::string reply = receive_text(0, reply_tag, any_ended, what, false);
        if (any_ended) return std::nullopt;
        return reply;
    }
    std::vector<std::string> messages(count_);
    messages[0] = own;
    for (int other = 1; other < count_; ++other) {
        if (early_[other]) {
            any_ended = true;
            continue;
        }
        bool is_end = false;
        messages[other] = receive_text(other, message_tag, is_end, what, false);
        if (is_end) early_[other] = std::move(messages[other]);
        any_ended = any_ended || is_end;
    }
    const std::string reply = any_ended ? std::string() : on_first(messages);
    for (int other = 1; other < count_; ++other)
        if (!early_[other]) send_text(other, reply_tag, any_ended, reply, what, false);
    if (any_ended) return std::nullopt;
    return reply;
}

std::string Ranks::finish(const std::string& own, const OnFirst& on_first) {
    bool is_end = true;
    if (!is_first()) {
        send_text(0, message_tag, true, own, "", true);
        return receive_text(0, reply_tag, is_end, "", true);
    }
    std::vector<std::string> messages(count_);
    messages[0] = own;
    for (int other = 1; other < count_; ++other) {
        if (early_[other]) messages[other] = *early_[other];
        for (is_end = early_[other].has_value(); !is_end;) {
            messages[other] = receive_text(other, message_tag, is_end, "", true);
            if (!is_end) send_text(other, reply_tag, true, "", "", true); // it meets nobody any more
        }
    }
    const std::string reply = on_first(messages);
    for (int other = 1; other < count_; ++other) send_text(other, reply_tag, true, reply, "", true);
    return reply;
}

std::optional<std::vector<i64>> Ranks::combine(const std::string& what, const std::vector<i64>& own,
                                               i64 (*of)(i64, i64)) {
    const auto text_of = [](const std::vector<i64>& numbers) {
        return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(i64));
    };
    const auto numbers_of = [&own](const std::string& text) {
        internal_check(text.size() == own.size() * sizeof(i64), "ranks meet with other numbers");
        std::vector<i64> numbers(own.size());
        if (!text.empty()) std::memcpy(numbers.data(), text.data(), text.size());
        return numbers;
    };
    const std::optional<std::string> reply = meet(what, text_of(own), [&](std::vector<std::string>& messages) {
        std::vector<i64> all = numbers_of(messages.front());
        for (size_t rank = 1; rank < messages.size(); ++rank) {
            const std::vector<i64> numbers = numbers_of(messages[rank]);
            for (size_t i = 0; i < all.size(); ++i) all[i] = of(all[i], numbers[i]);
        }
        return text_of(all);
    });
    if (!reply) return std::nullopt;
    return numbers_of(*reply);
}

std::optional<std::vector<i64>> Ranks::largest(const std::string& what, const std::vector<i64>& own) {
    return combine(what, own, [](i64 a, i64 b) { return std::max(a, b); });
}

std::optional<std::vector<i64>> Ranks::sum(const std::string& what, const std::vector<i64>& own) {
    return combine(what, own, [](i64 a, i64 b) { return a + b; });
}

bool Ranks::all(const std::string& what, bool own) {
    const std::optional<std::vector<i64>> failed = largest(what, {own ? 0 : 1});
    return failed && failed->front() == 0;
}

} // namespace shard
