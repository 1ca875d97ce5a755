// SIGINT, SIGTERM and SIGHUP: a run ends after its step, everything else at once, and nothing half-written stays.
#include "cli/terminal/interrupt.h"

#include "plans/disk/output_file.h"
#include "plans/disk/temporaries.h"
#include "test_paths.h"
#include "tests/support/child_process.h"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shard {
namespace {

namespace fs = std::filesystem;

// Of this process alone: tests run side by side.
const std::string folder = std::string(SHARDC_TEST_DIR) + "/signals_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;

void sleep(int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

// "run MODEL LAYOUT ..." of a model that trains as long as it is let.
std::string training() {
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder + "/model.yaml") << "model: line\naxes: {batch: 4, in: 2}\n"
                                             "inputs: {x: {axes: [batch, in], init: ones}}\n"
                                             "params: {w: {axes: [in], init: ones}}\n"
                                             "graph: [{y: {mul: [x, w]}}]\noutputs: [y]\ntrain:\n"
                                             "  targets: {t: {axes: [batch, in], init: zeros}}\n"
                                             "  loss: {mse: [y, t]}\n"
                                             "  optimizer: {sgd: {learning_rate: 0.25, momentum: 0.5}}\n";
    std::ofstream(folder + "/layout.yaml") << "mesh: {data: 2}\nrules: [{batch: data}, {in: ~}]\n";
    return "run " + folder + "/model.yaml " + folder + "/layout.yaml --mode train --steps 1000000 --log " + folder +
           "/log --save " + folder + "/ck ";
}

int temporaries_below(const std::string& at) {
    int found = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(at))
        found += is_temporary_name(entry.path().filename().string()) ? 1 : 0;
    return found;
}

// Until something is in a file.
void wait_for(const std::string& path, ChildProcess& child) {
    std::error_code error;
    const auto is_there = [&] { return fs::exists(path) && fs::file_size(path, error) > 0 && !error; };
    while (!is_there() && !child.ended()) sleep(1000);
    REQUIRE(is_there());
}

} // namespace

TEST_CASE("run: SIGINT, SIGTERM and SIGHUP end it after the running step, with what it reached saved") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        CAPTURE(signal);
        ChildProcess child(training(), folder + "/out", folder + "/err");
        wait_for(folder + "/log", child);
        child.signal(signal);
        CHECK(child.wait() == 128 + signal);
        const std::string log = text_of(folder + "/log"),
                          steps = std::to_string(std::count(log.begin(), log.end(), '\n'));
        CHECK(text_of(folder + "/err") == "saved step " + steps + " to " + folder + "/ck/step-" + steps + "\n");
        CHECK(text_of(folder + "/out").find("stopped after " + steps + " of ") != std::string::npos);
        CHECK(text_of(folder + "/ck/latest") == "step-" + steps + "\n");
    }
}

TEST_CASE("run: a signal that the caller ignores, as nohup and a shell's background do, does not end it") {
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        CAPTURE(signal);
        const std::string line = training();
        std::signal(signal, SIG_IGN); // a child inherits it
        ChildProcess child(line);
        std::signal(signal, SIG_DFL);
        wait_for(folder + "/log", child);
        child.signal(signal);
        const auto size = fs::file_size(folder + "/log");
        while (fs::file_size(folder + "/log") < size + 1000 && !child.ended()) sleep(1000);
        const int other = signal == SIGTERM ? SIGINT : SIGTERM;
        child.signal(other);
        CHECK(child.wait() == 128 + other);
    }
}

TEST_CASE("run: a signal in a run that makes no steps is not swallowed") {
    training();
    // One step, which goes to its end: a second or more of multiplications.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        CAPTURE(signal);
        std::ofstream(folder + "/model.yaml") << "model: long\ninputs: {x: {shape: [2048, 2048], init: zeros}}\n"
                                                 "graph: [{y: {dot: [x, x]}}, {y: {dot: [y, x]}}, {y: {dot: [y, x]}}]\n"
                                                 "outputs: [y]\n";
        ChildProcess child("run " + folder + "/model.yaml " + folder + "/layout.yaml --workers 1");
        sleep(300000);
        child.signal(signal);
        CHECK(child.wait() == 128 + signal);
    }
}

#if defined(__SANITIZE_THREAD__)
constexpr bool signals_are_kept_back = true; // its runtime delivers none while a thread waits in open()
#else
constexpr bool signals_are_kept_back = false;
#endif

TEST_CASE("run: a log that is a pipe nobody reads is waited for until the first signal" *
          doctest::skip(signals_are_kept_back)) {
    const std::string line = training();
    REQUIRE(::mkfifo((folder + "/log").c_str(), 0666) == 0);
    ChildProcess child(line);
    sleep(300000);
    CHECK_FALSE(child.ended());
    child.signal(SIGTERM);
    CHECK(child.wait() == 143);
}

TEST_CASE("a signal at any moment leaves nothing half-written, a kill what the next save removes") {
    std::mt19937 random(5);
    for (int times = 0; times < 12; ++times) {
        const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGKILL};
        const int signal = signals[times % 4];
        CAPTURE(times);
        const std::string line = training();
        ChildProcess child(line + "--save-every 1");
        if (times % 8 < 4) wait_for(folder + "/ck/latest", child);
        sleep(static_cast<int>(random() % 20000));
        child.signal(signal);
        sleep(static_cast<int>(random() % 1000));
        if (times % 3 == 0) child.signal(signal); // the second one does not wait for the step
        CHECK(child.wait() >= 128);
        if (signal != SIGKILL) CHECK(temporaries_below(folder) == 0);
        ChildProcess next(line + "--save-every 1");
        const fs::file_time_type none = fs::file_time_type::min();
        std::error_code error;
        const fs::file_time_type before =
            fs::exists(folder + "/ck/latest") ? fs::last_write_time(folder + "/ck/latest") : none;
        while (!next.ended() &&
               (!fs::exists(folder + "/ck/latest") || fs::last_write_time(folder + "/ck/latest", error) == before))
            sleep(1000);
        next.signal(SIGTERM);
        CHECK(next.wait() == 143);
        CHECK(temporaries_below(folder) == 0);
        CHECK(std::distance(fs::directory_iterator(folder + "/ck"), fs::directory_iterator()) == 2);
    }
}

TEST_CASE("outside of a run a signal ends the process as usual, and what is half-written goes away") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU}) {
        const std::string result = in_child([&] {
            const rlimit no_core = {0, 0};
            ::setrlimit(RLIMIT_CORE, &no_core);
            prepare_signals();
            const std::string side = folder + "/" + temporary_name();
            const Temporary made_before(side), file(side + "/file"), alone(folder + "/" + temporary_name());
            ::mkdir(side.c_str(), 0777);
            std::ofstream(file.path()) << "half";
            std::ofstream(alone.path()) << "half";
            std::ofstream(folder + "/whole") << "whole";
            std::raise(signal);
            return std::string("went on");
        });
        CHECK(result == "signal " + std::to_string(signal));
        CHECK(temporaries_below(folder) == 0);
        CHECK(text_of(folder + "/whole") == "whole");
    }
    // The second signal in a run does the same.
    CHECK(in_child([&] {
              prepare_signals();
              const Interrupt interrupt;
              std::raise(SIGTERM);
              if (!interrupt.requested()) return std::string("not noted");
              const Temporary alone(folder + "/" + temporary_name());
              std::ofstream(alone.path()) << "half";
              std::raise(SIGINT);
              return std::string("went on");
          }) == "signal " + std::to_string(SIGINT));
    CHECK(temporaries_below(folder) == 0);
}

} // namespace shard
