// A team of workers that runs resumable tasks, one per device, however many devices there are. A task runs until it
// is done or has to wait; a waiting device is taken up again after wake(device). The calling thread is one of the
// workers.
//
// Who owns what: the queue and the devices' states belong to `mutex_`; a device's own data belongs to the worker that
// runs its task, and passes to the next one through the mutex.
#pragma once

#include "plans/base/base.h"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace shard {

enum class Progress { done, waiting };

class Scheduler {
    enum class State : unsigned char { idle, ready, running, running_again, waiting };

public:
    // Starts workers - 1 threads, or as many as the machine gives.
    Scheduler(int workers, i64 devices);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    // Runs task(device) for every device until all are done. An exception of a task is thrown here, after the others
    // stopped. Internal error if all devices that are left wait for each other.
    void run(const std::function<Progress(int)>& task);

    // Takes up a waiting device again; if it is running, it will be run once more. Any thread may call it.
    void wake(int device);

    static constexpr i64 bytes_per_device = static_cast<i64>(sizeof(int) + sizeof(State));

private:
    void work(bool caller);
    void finish(std::unique_lock<std::mutex>& lock, int device, Progress progress);
    void add_ready(int device);
    int take_ready();

    std::mutex mutex_;
    std::condition_variable changed_;
    // Nothing is allocated once the team works: what a worker throws is then only what a task threw. A device is in the
    // queue at most once, so a ring of all of them holds it.
    std::vector<int> ready_;
    size_t first_ready_ = 0, ready_count_ = 0;
    std::vector<State> states_;
    const std::function<Progress(int)>* task_ = nullptr;
    i64 left_ = 0;    // devices not done
    i64 running_ = 0; // devices on a worker now
    bool stop_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

} // namespace shard
