// The one place that holds doctest's implementation and main(); every other test file only includes the header.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>

int main(int argc, char** argv) {
    // A shell that starts tests in the background ignores Ctrl-C for them, and what they start would inherit that.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    return doctest::Context(argc, argv).run();
}
