// The program on a terminal of its own: a pseudo terminal of so many columns.
#include "test_paths.h"
#include "tests/support/child_process.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace shard {

namespace {

// A report as it is shown. 0 columns: the terminal does not say.
std::string on_terminal(unsigned short columns) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0);
    REQUIRE(grantpt(terminal) == 0);
    REQUIRE(unlockpt(terminal) == 0);
    const winsize size{24, columns, 0, 0};
    REQUIRE(ioctl(terminal, TIOCSWINSZ, &size) == 0);
    const std::string name = ptsname(terminal);
    const int held = open(name.c_str(), O_RDWR | O_NOCTTY); // so that the end of the child is no end of the terminal
    ChildProcess child("plan " SHARDC_SOURCE_DIR "/examples/dot_relu_dot/model.yaml " SHARDC_SOURCE_DIR
                       "/examples/dot_relu_dot/layout.yaml",
                       name);
    std::string text;
    for (pollfd readable{terminal, POLLIN, 0}; poll(&readable, 1, child.ended() ? 0 : 20) > 0 || !child.ended();) {
        if ((readable.revents & POLLIN) == 0) continue;
        char block[4096];
        const ssize_t got = read(terminal, block, sizeof block);
        if (got > 0) text.append(block, static_cast<size_t>(got));
    }
    CHECK(child.wait() == 0);
    close(held);
    close(terminal);
    return text;
}

size_t longest_line(unsigned short columns) {
    std::istringstream lines(on_terminal(columns));
    size_t longest = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with('\r')) line.pop_back();
        longest = std::max(longest, line.size());
    }
    return longest;
}

} // namespace

TEST_CASE("a report is as wide as the terminal, where that is known and not absurdly narrow") {
    setenv("NO_COLOR", "1", 1);
    const size_t usual = longest_line(120);
    CHECK(usual > 90);
    CHECK(usual <= 120);
    CHECK(longest_line(80) <= 80);
    CHECK(longest_line(0) == usual);
    CHECK(longest_line(40) == usual);
    CHECK(longest_line(41) < usual);
    unsetenv("NO_COLOR");
}

TEST_CASE("a terminal has colours, unless it is dumb or NO_COLOR is not empty") {
    const char* before = std::getenv("TERM");
    const std::string usual = before == nullptr ? "" : before;
    const auto has_colors = [](const char* terminal, const char* no_color) {
        if (terminal != nullptr) setenv("TERM", terminal, 1);
        if (terminal == nullptr) unsetenv("TERM");
        if (no_color != nullptr) setenv("NO_COLOR", no_color, 1);
        if (no_color == nullptr) unsetenv("NO_COLOR");
        return on_terminal(80).find("\x1b[") != std::string::npos;
    };
    CHECK(has_colors("xterm", nullptr));
    CHECK(has_colors("xterm", "")); // https://no-color.org: "when present and not an empty string"
    CHECK_FALSE(has_colors("xterm", "1"));
    CHECK_FALSE(has_colors("dumb", nullptr));
    CHECK_FALSE(has_colors(nullptr, nullptr));
    unsetenv("NO_COLOR");
    if (before != nullptr) setenv("TERM", usual.c_str(), 1);
}

} // namespace shard
