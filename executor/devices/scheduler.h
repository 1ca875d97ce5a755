// A team of workers that runs resumable tasks, one per device, however many devices there are. A task runs until it
// is done or has to wait; a waiting device is taken up again after wake(device). The calling thread is one of the
// workers. Workers that find no device help a task that shares what it does. What devices wait for may come from
// outside: one worker without work looks for it then.
//
// Who owns what: the queue, the devices' states and what is shared belong to `mutex_`; a device's own data belongs to
// the worker that runs its task, and passes to the next one through the mutex.
#pragma once

#include "executor/kernels/team.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace shard {

enum class Progress { done, waiting };

class Scheduler final : public Team {
    enum class State : unsigned char { idle, ready, running, running_again, waiting };

public:
    // Starts workers - 1 threads, or as many as the machine gives.
    Scheduler(int workers, i64 devices);
    ~Scheduler() override;
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    // Runs task(device) for every device until all are done. An exception of a task is thrown here, after the others
    // stopped. `progress`, if there is one, is called again and again while a worker has nothing to do, and told whether
    // all devices that are left wait; without it, that is an internal error.
    void run(const std::function<Progress(int)>& task, const std::function<void(bool all_wait)>& progress = {});

    // Takes up a waiting device again; if it is running, it will be run once more. Any thread may call it.
    void wake(int device);

    // By a task, on its worker.
    void share(i64 count, const std::function<void(i64)>& part) override;

    static constexpr i64 bytes_per_device = static_cast<i64>(sizeof(int) + sizeof(State));

private:
    // Of a task that is running, on its stack.
    struct Shared {
        const std::function<void(i64)>& part;
        i64 count, next = 0, running = 0;
        std::exception_ptr failure;
        Shared* older; // shared before, and not all taken
    };

    void work(bool caller);
    void run_device(std::unique_lock<std::mutex>& lock);
    void run_part(std::unique_lock<std::mutex>& lock, Shared& shared);
    void remove(const Shared& shared);
    void look_outside(std::unique_lock<std::mutex>& lock);
    void finish(std::unique_lock<std::mutex>& lock, int device, Progress progress);
    void add_ready(int device);
    int take_ready();

    std::mutex mutex_;
    std::condition_variable changed_, parts_done_;
    // Nothing is allocated once the team works: what a worker throws is then only what a task threw. A device is in the
    // queue at most once, so a ring of all of them holds it.
    std::vector<int> ready_;
    size_t first_ready_ = 0, ready_count_ = 0;
    std::vector<State> states_;
    const std::function<Progress(int)>* task_ = nullptr;
    const std::function<void(bool)>* progress_ = nullptr;
    bool looking_ = false;      // one of them looks outside
    i64 left_ = 0;              // devices not done
    i64 running_ = 0;           // devices on a worker now
    Shared* shared_ = nullptr;  // the newest of which parts are left
    std::atomic<int> idle_ = 0; // workers that wait; looked at without the mutex to share nothing where nobody is
    bool stop_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

} // namespace shard
