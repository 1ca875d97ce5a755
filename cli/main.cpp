#include "cli/command.h"
#include "cli/interrupt.h"
#include "executor/memory.h"

#include <cstdlib>
#include <iostream>
#include <new>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

bool wants_color(int descriptor) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
}

int terminal_width() {
    winsize size = {};
    return isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 40 ? size.ws_col
                                                                                                          : 120;
}

} // namespace

int main(int argc, char** argv) {
    // To throw takes memory too: with less than this left, nothing could be said when it ends.
    if (!shard::can_map(shard::i64{1} << 20)) return shard::report_out_of_memory(std::cerr);
    shard::prepare_signals();
    shard::DiskFiles files;
    shard::Env env{std::cin,
                   std::cout,
                   std::cerr,
                   files,
                   wants_color(STDOUT_FILENO),
                   wants_color(STDERR_FILENO),
                   terminal_width(),
                   isatty(STDERR_FILENO) != 0};
    try {
        return shard::run_cli(std::vector<std::string>(argv + 1, argv + argc), env);
    } catch (const std::bad_alloc&) { // run_cli reports its own
        return shard::report_out_of_memory(env.err);
    }
}
