#include "cli/interrupt.h"

namespace shard {

namespace {

// A signal handler reaches nothing but what lives as long as the process.
std::atomic<bool>& interrupted() {
    static std::atomic<bool> flag = false;
    static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");
    return flag;
}

extern "C" void note_interrupt(int) { interrupted() = true; }

} // namespace

Interrupt::Interrupt() {
    interrupted() = false;
    struct sigaction action = {};
    action.sa_handler = note_interrupt;
    // The usual action is back after the first signal; system calls under way go on.
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &before_, nullptr); }

const std::atomic<bool>& Interrupt::requested() const { return interrupted(); }

} // namespace shard
