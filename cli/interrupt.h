// Ctrl-C while a run is under way: the first one asks it to stop after the running step, so that what was reached can
// be reported and saved; the second one ends the process as usual.
#pragma once

#include <atomic>
#include <csignal>

namespace shard {

// Catches SIGINT during its life. One at a time.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    const std::atomic<bool>& requested() const;

private:
    struct sigaction before_ = {};
};

} // namespace shard
