#include "executor/devices/scheduler.h"

#include "executor/machine/memory.h"

#include <signal.h>

#include <new>
#include <system_error>
#include <utility>

namespace shard {

namespace {

// Signals come to the thread that runs the command, never beside it: what it writes stands still while a handler looks.
// Threads that are made meanwhile take none.
class NoSignals {
public:
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_ = {};
};

} // namespace

Scheduler::Scheduler(int workers, i64 devices) : ready_(devices), states_(devices, State::idle) {
    threads_.reserve(workers); // afterwards what fails leaves the threads that are there
    // The machine gives no more threads, or no memory for one: the team is as large as it got, at least the caller. The
    // stacks leave something for the run.
    constexpr i64 spare_bytes = i64{32} << 20;
    const NoSignals no_signals;
    try {
        for (int w = 1; w < workers && can_map(spare_bytes); ++w) threads_.emplace_back([this] { work(false); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
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

void Scheduler::run(const std::function<Progress(int)>& task, const std::function<void(bool)>& progress) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        task_ = &task;
        progress_ = progress ? &progress : nullptr;
        left_ = static_cast<i64>(states_.size());
        for (size_t d = 0; d < states_.size(); ++d) {
            states_[d] = State::ready;
            add_ready(static_cast<int>(d));
        }
    }
    changed_.notify_all();
    work(true);
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = nullptr;
    progress_ = nullptr;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Scheduler::wake(int device) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        State& state = states_[device];
        if (state == State::running) state = State::running_again;
        if (state != State::waiting) return;
        state = State::ready;
        add_ready(device);
    }
    changed_.notify_one();
}

void Scheduler::add_ready(int device) { ready_[(first_ready_ + ready_count_++) % ready_.size()] = device; }

int Scheduler::take_ready() {
    const int device = ready_[first_ready_];
    first_ready_ = (first_ready_ + 1) % ready_.size();
    --ready_count_;
    return device;
}

// The caller leaves when the run is over, the other threads when the team is dissolved.
void Scheduler::work(bool caller) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        ++idle_;
        while (!stop_ && ready_count_ == 0 && shared_ == nullptr &&
               !(caller && left_ == 0 && running_ == 0 && !looking_)) {
            if (progress_ != nullptr && left_ > 0 && !looking_)
                look_outside(lock);
            else
                changed_.wait(lock);
        }
        --idle_;
        if (ready_count_ > 0)
            run_device(lock);
        else if (shared_ != nullptr)
            run_part(lock, *shared_);
        else
            return;
    }
}

void Scheduler::run_device(std::unique_lock<std::mutex>& lock) {
    const int device = take_ready();
    states_[device] = State::running;
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

void Scheduler::run_part(std::unique_lock<std::mutex>& lock, Shared& shared) {
    const i64 i = shared.next++;
    ++shared.running;
    if (shared.next == shared.count) remove(shared);
    lock.unlock();
    std::exception_ptr failure;
    try {
        shared.part(i);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    if (failure && !shared.failure) shared.failure = failure;
    if (failure && shared.next < shared.count) { // no other part is begun
        shared.next = shared.count;
        remove(shared);
    }
    if (--shared.running == 0 && shared.next == shared.count) parts_done_.notify_all();
}

void Scheduler::remove(const Shared& shared) {
    Shared** at = &shared_;
    while (*at != &shared) at = &(*at)->older;
    *at = shared.older;
}

void Scheduler::share(i64 count, const std::function<void(i64)>& part) {
    if (idle_ == 0 || count < 2) {
        for (i64 i = 0; i < count; ++i) part(i);
        return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    Shared shared = {part, count, 0, 0, nullptr, shared_};
    shared_ = &shared;
    changed_.notify_all();
    while (shared.next < shared.count) run_part(lock, shared);
    parts_done_.wait(lock, [&] { return shared.running == 0; });
    if (shared.failure) std::rethrow_exception(shared.failure);
}

// Once; whoever has nothing to do then may look next.
void Scheduler::look_outside(std::unique_lock<std::mutex>& lock) {
    looking_ = true;
    const bool all_wait = running_ == 0;
    const std::function<void(bool)>& progress = *progress_;
    lock.unlock();
    std::exception_ptr failure;
    try {
        progress(all_wait);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    looking_ = false;
    if (failure && !failure_) failure_ = failure;
    if (failure_) {
        left_ = 0;
        ready_count_ = 0;
    }
    if (ready_count_ > 0 || shared_ != nullptr || left_ == 0) changed_.notify_all();
}

void Scheduler::finish(std::unique_lock<std::mutex>& lock, int device, Progress progress) {
    internal_check(lock.owns_lock(), "the scheduler's state is used under its mutex");
    State& state = states_[device];
    --running_;
    if (progress == Progress::done) {
        state = State::idle;
        --left_;
    } else if (state == State::running_again) {
        state = State::ready;
        add_ready(device);
    } else {
        state = State::waiting;
    }
    if (running_ == 0 && ready_count_ == 0 && left_ > 0 && !failure_ && progress_ == nullptr)
        failure_ = std::make_exception_ptr(InternalError("the devices wait for each other"));
    if (failure_) { // no device is started any more
        left_ = 0;
        ready_count_ = 0;
    }
    if (left_ == 0 && running_ == 0) changed_.notify_all();
}

} // namespace shard
