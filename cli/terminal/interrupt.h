// Signals that end the program: SIGINT (Ctrl-C), SIGTERM (kill), SIGHUP (the terminal is gone). They end it as usual,
// but first what is half-written is removed. While a run is under way the first one only asks it to stop after the
// running step, so that what was reached can be reported and saved; the second one ends the process. Other signals that
// end a process (SIGQUIT, SIGUSR1, ...) always do, and remove what is half-written too.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace shard {

// For the whole process, in main(): signals remove what is half-written, and a limit of file sizes is an error of the
// write that meets it. One that is ignored, as nohup and a shell's background ask, stays so, here and below.
void prepare_signals();

// Catches the signals during its life. One at a time.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    const std::atomic<bool>& requested() const;
    // Ends its life; what comes now is as it was before. As a shell says which signal ended a command: 130, 143, 129; 0
    // if none came.
    int finish();

private:
    bool finished_ = false;
    std::array<struct sigaction, 3> before_ = {};
};

} // namespace shard
