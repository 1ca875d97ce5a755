#include "executor/scheduler.h"

#include <system_error>
#include <utility>

namespace shard {

Scheduler::Scheduler(int workers, i64 devices) : states_(static_cast<size_t>(devices), State::idle) {
    try {
        for (int w = 1; w < workers; ++w) threads_.emplace_back([this] { work(false); });
    } catch (const std::system_error&) {
        // The machine gives no more threads: the team is as large as it got, at least the caller.
    }
}

Scheduler::~Scheduler() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Scheduler::run(const std::function<Progress(int)>& task) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        task_ = &task;
        left_ = static_cast<i64>(states_.size());
        for (size_t d = 0; d < states_.size(); ++d) {
            states_[d] = State::ready;
            ready_.push_back(static_cast<int>(d));
        }
    }
    changed_.notify_all();
    work(true);
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = nullptr;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Scheduler::wake(int device) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        State& state = states_[static_cast<size_t>(device)];
        if (state == State::running) state = State::running_again;
        if (state != State::waiting) return;
        state = State::ready;
        ready_.push_back(device);
    }
    changed_.notify_one();
}

// The caller leaves when the run is over, the other threads when the team is dissolved.
void Scheduler::work(bool caller) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return stop_ || !ready_.empty() || (caller && left_ == 0 && running_ == 0); });
        if (ready_.empty()) {
            if (stop_ || caller) return;
            continue;
        }
        const int device = ready_.front();
        ready_.pop_front();
        states_[static_cast<size_t>(device)] = State::running;
        ++running_;
        const std::function<Progress(int)>& task = *task_;
        lock.unlock();
        Progress progress = Progress::done;
        std::exception_ptr failure;
        try {
            progress = task(device);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure && !failure_) failure_ = failure;
        finish(lock, device, progress);
    }
}

void Scheduler::finish(std::unique_lock<std::mutex>& lock, int device, Progress progress) {
    internal_check(lock.owns_lock(), "the scheduler's state is used under its mutex");
    State& state = states_[static_cast<size_t>(device)];
    --running_;
    if (progress == Progress::done) {
        state = State::idle;
        --left_;
    } else if (state == State::running_again) {
        state = State::ready;
        ready_.push_back(device);
    } else {
        state = State::waiting;
    }
    if (running_ == 0 && ready_.empty() && left_ > 0 && !failure_)
        failure_ = std::make_exception_ptr(InternalError("the devices wait for each other"));
    if (failure_) { // no device is started any more
        left_ = 0;
        ready_.clear();
    }
    if (left_ == 0 && running_ == 0) changed_.notify_all();
}

} // namespace shard
