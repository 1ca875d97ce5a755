#include "plans/base/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <vector>

namespace shard {

size_t useful_threads() {
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) return 1;
    return std::max<size_t>(std::thread::hardware_concurrency(), 1);
}

void in_parallel(size_t count, const std::function<void(size_t)>& work) {
    std::vector<std::exception_ptr> thrown(count);
    std::atomic<size_t> next = 0;
    const auto take = [&] {
        for (size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                thrown[i] = std::current_exception();
            }
        }
    };
    std::vector<std::thread> others;
    const size_t threads = std::min(useful_threads(), count);
    others.reserve(threads);
    try {
        while (others.size() + 1 < threads) others.emplace_back(take);
    } catch (const std::system_error&) { // this thread does what is left
    }
    take();
    for (std::thread& other : others) other.join();
    for (const std::exception_ptr& exception : thrown)
        if (exception) std::rethrow_exception(exception);
}

} // namespace shard
