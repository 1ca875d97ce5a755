#include "cli/command/arguments.h"
#include "cli/command/command.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/out_of_memory.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

// What jemalloc, where it is linked, does: memory that is given back stays with the process for a while, since the next pass
// asks for as much again. Of what is bought anew, each page is a fault.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:20000,muzzy_decay_ms:20000";
}

namespace {

bool wants_color(int descriptor) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
}

// The terminal's; of what is no terminal, what COLUMNS says.
size_t terminal_width() {
    constexpr long least = 40, most = 10'000;
    winsize size = {};
    long columns = 0;
    if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    else if (const char* said = std::getenv("COLUMNS"))
        columns = std::strtol(said, nullptr, 10);
    return columns > least && columns < most ? static_cast<size_t>(columns) : shard::no_terminal_width;
}

// A stream that the caller closed (`>&-`) would give its number to the next file that is opened, and what is printed
// would go into that file. So the number is taken, by something that fails as a closed stream does.
void hold_closed_streams() {
    for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
            static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

} // namespace

int main(int argc, char** argv) {
    hold_closed_streams();
    shard::end_where_memory_is_refused();
    shard::prepare_signals();
    std::signal(SIGPIPE, SIG_IGN);    // then the write says that nobody reads
    std::ios::sync_with_stdio(false); // the streams' own buffers, which tell an error from an end
    shard::DiskFiles files;
    shard::Env env{std::cin,
                   std::cout,
                   std::cerr,
                   files,
                   wants_color(STDOUT_FILENO),
                   wants_color(STDERR_FILENO),
                   terminal_width(),
                   isatty(STDERR_FILENO) != 0};
    return shard::run_cli(std::vector<std::string>(argv + 1, argv + argc), env);
}
