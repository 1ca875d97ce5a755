// Memory that ends: whatever a command was doing then, it says E0601 and exits with 2.
#include "cli/terminal/out_of_memory.h"

#include "executor/devices/memory_checks.h"
#include "test_paths.h"
#include "tests/support/allocations.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <sstream>
#include <system_error>

#include <unistd.h>

namespace shard {
namespace {

#if !defined(SHARDC_CHECKS_MEMORY) && !defined(__SANITIZE_THREAD__)
constexpr bool has_plain_address_space = true;
#else
constexpr bool has_plain_address_space = false; // sanitizers map terabytes
#endif
#if defined(__SANITIZE_THREAD__)
// Children by the hundred end in the middle of a command, with threads that nobody joins: its runtime reports each as a
// leak, and a child takes it seconds.
constexpr bool children_end_in_threads = true;
#else
constexpr bool children_end_in_threads = false;
#endif

const std::string err_path = std::string(SHARDC_TEST_DIR) + "/out_of_memory_test.err";

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> lines_of(const std::string& script) {
    const std::string path = std::string(SHARDC_TEST_DIR) + "/out_of_memory_test.bash";
    std::ofstream(path) << script;
    FILE* pipe = popen(("bash " + path).c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::vector<std::string> lines = {""};
    for (int c; (c = std::fgetc(pipe)) != EOF;) {
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += static_cast<char>(c);
    }
    CHECK(pclose(pipe) == 0);
    lines.pop_back();
    return lines;
}

} // namespace

TEST_CASE("memory that is refused, at whatever moment and by whichever thread, is E0601" *
          doctest::skip(children_end_in_threads)) {
    const std::string files = "examples/dot_relu_dot/model.yaml examples/dot_relu_dot/layout.yaml";
    const std::vector<std::string> lines = {"--version",
                                            "explain E0601",
                                            "plan " + files,
                                            "plan " + files + " --format json",
                                            "check " + files,
                                            "explain " + files + " z",
                                            "run " + files + " --verify --workers 2"};
    for (const std::string& line : lines) {
        CAPTURE(line);
        MemoryFiles memory_files{SHARDC_SOURCE_DIR};
        const CommandResult whole = run_command(memory_files, line);
        REQUIRE(whole.code <= 1);
        const std::string expected = std::to_string(whole.code) + whole.out;
        // What the command prints; nothing if the process ended before.
        const auto run_refused = [&](i64 nth) {
            return in_child([&] {
                const int err = ::open(err_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
                ::dup2(err, STDERR_FILENO);
                end_where_memory_is_refused();
                const RefuseAllocation refuse(nth);
                const CommandResult result = run_command(memory_files, line);
                return std::to_string(result.code) + result.out;
            });
        };
        // All moments of the beginning, and then ever fewer: a command allocates some ten thousand times.
        i64 nth = 0;
        std::string printed;
        for (; (printed = run_refused(nth)).empty(); nth += 1 + nth / 40)
            REQUIRE(text_of(err_path) == "error[E0601]: out of memory\n  = help: more memory, or smaller sizes; "
                                         "`ulimit -v` and cgroups may limit what this process gets\n\n");
        CHECK(printed == expected);
        CHECK(nth > 100);
    }
    std::remove(err_path.c_str());
}

TEST_CASE("a size beyond any memory, and threads that the system refuses, are E0601 too") {
    std::ostringstream err;
    CHECK(report_out_of_memory(err) == 2);
    CHECK(err.str().starts_with("error[E0601]: out of memory\n"));
    struct Failing : MemoryFiles {
        explicit Failing(std::function<void()> action) : fail(std::move(action)) {}
        std::optional<std::string> read(const std::string&, std::string&) override {
            fail();
            return std::nullopt;
        }
        std::function<void()> fail;
    };
    const std::vector<std::pair<std::function<void()>, int>> failures = {
        {[] { std::vector<i64>().reserve(static_cast<size_t>(-1)); }, 2},
        {[] { throw std::bad_alloc(); }, 2},
        {[] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)); }, 2},
        {[] { throw std::system_error(std::make_error_code(std::errc::permission_denied)); }, 3},
    };
    for (const std::pair<std::function<void()>, int>& failure : failures) {
        Failing files(failure.first);
        const CommandResult result = run_command(files, "plan model.yaml layout.yaml");
        CHECK(result.code == failure.second);
        CHECK(result.err.starts_with(failure.second == 2 ? "error[E0601]: out of memory\n" : "internal error: "));
    }
}

TEST_CASE("with any limit of address space every command ends: with the answer, or with E0601") {
    if (!has_plain_address_space) return;
    // With less than 24 MB or so the loader itself ends.
    const std::vector<std::string> commands = {"--version", "plan $M $L", "run $M $L --verify",
                                               "run $M $L --verify --workers 64"};
    std::string script = "exe=" SHARDC_EXECUTABLE " M=" SHARDC_SOURCE_DIR
                         "/examples/dot_relu_dot/model.yaml L=" SHARDC_SOURCE_DIR "/examples/dot_relu_dot/layout.yaml\n"
                         "for kib in 27000 29000 31000 32000 36000 42000 50000 70000 90000 110000 150000 200000 "
                         "230000 260000 300000 380000 500000 1000000 4000000; do\n";
    for (size_t c = 0; c < commands.size(); ++c)
        script += "  said=$( (ulimit -v $kib; exec timeout 100 $exe " + commands[c] + ") 2>&1 >/dev/null); code=$?\n" +
                  "  [[ $said == *E0601* ]] && said=E0601; echo \"$kib " + std::to_string(c) + " $code $said\"\n";
    script += "done\n";
    std::vector<bool> was_right(commands.size()), was_refused(commands.size());
    for (const std::string& line : lines_of(script)) {
        CAPTURE(line);
        std::istringstream words(line);
        i64 kib = 0;
        size_t command = 0;
        int code = -1;
        std::string said;
        if (!(words >> kib >> command >> code)) continue; // more of what was said
        std::getline(words, said);
        if (code == 2) CHECK(said == " E0601");
        if (code != 2) CHECK(code == 0);
        CHECK_FALSE((was_right[command] && code != 0)); // more memory does not hurt
        was_right[command] = was_right[command] || code == 0;
        was_refused[command] = was_refused[command] || code == 2;
    }
    for (size_t c = 0; c < commands.size(); ++c) CHECK(was_right[c]);
    CHECK(was_refused[2]);
}

} // namespace shard
