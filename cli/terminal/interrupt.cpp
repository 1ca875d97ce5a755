#include "cli/terminal/interrupt.h"

#include "plans/disk/temporaries.h"

namespace shard {

namespace {

constexpr std::array<int, 3> ending_signals = {SIGINT, SIGTERM, SIGHUP};
// These end a process too, a run's as any other: a scheduler's warning, a limit of time, Ctrl-backslash.
constexpr std::array<int, 5> other_ending_signals = {SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

// A signal handler reaches nothing but what lives as long as the process.
struct Caught {
    std::atomic<bool> any = false;
    std::atomic<int> signal = 0;
};
Caught& caught() {
    static Caught state;
    static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
                  "a signal handler may set them");
    return state;
}

extern "C" void end_process(int signal) {
    remove_temporaries();
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    raise(signal); // comes when this handler returns
}

extern "C" void note_interrupt(int signal) {
    int none = 0;
    if (!caught().signal.compare_exchange_strong(none, signal)) end_process(signal);
    caught().any = true;
}

void handle(int signal, void (*handler)(int), struct sigaction* before) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    if (before != nullptr) *before = now;
    if (now.sa_handler == SIG_IGN) return;
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART; // system calls under way go on
    sigemptyset(&action.sa_mask);
    for (int other : ending_signals) sigaddset(&action.sa_mask, other); // one at a time
    for (int other : other_ending_signals) sigaddset(&action.sa_mask, other);
    sigaction(signal, &action, nullptr);
}

} // namespace

void prepare_signals() {
    for (int signal : ending_signals) handle(signal, end_process, nullptr);
    for (int signal : other_ending_signals) handle(signal, end_process, nullptr);
    std::signal(SIGXFSZ, SIG_IGN); // the write fails with EFBIG
}

Interrupt::Interrupt() {
    caught().any = false;
    caught().signal = 0;
    for (size_t i = 0; i < ending_signals.size(); ++i) handle(ending_signals[i], note_interrupt, &before_[i]);
}

Interrupt::~Interrupt() { finish(); }

const std::atomic<bool>& Interrupt::requested() const { return caught().any; }

int Interrupt::finish() {
    for (size_t i = 0; !finished_ && i < ending_signals.size(); ++i) sigaction(ending_signals[i], &before_[i], nullptr);
    finished_ = true;
    return caught().signal == 0 ? 0 : 128 + caught().signal;
}

} // namespace shard
