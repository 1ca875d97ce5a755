// Memory that ends: whatever a command was doing then, it says E0601 and exits with 2, or its answer is right.
#include "cli/command.h"
#include "executor/memory_checks.h"
#include "test_paths.h"
#include "tests/support/allocations.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <streambuf>

namespace shard {
namespace {

// A stream whose memory was there before: what it lost would not be seen in an exit code.
class FixedBuffer : public std::streambuf {
public:
    FixedBuffer() { setp(text_.data(), text_.data() + text_.size()); }
    std::string_view text() const { return {pbase(), static_cast<size_t>(pptr() - pbase())}; }
    void clear() { setp(text_.data(), text_.data() + text_.size()); }

private:
    std::array<char, 1 << 16> text_ = {};
};

struct Fixed {
    FixedBuffer out_buffer, err_buffer;
    std::ostream out{&out_buffer}, err{&err_buffer};
    MemoryFiles files{SHARDC_SOURCE_DIR};

    int run(const std::vector<std::string>& words) {
        out_buffer.clear();
        err_buffer.clear();
        std::istringstream in;
        Env env{in, out, err, files, false, false, 120};
        return run_cli(words, env);
    }
};

#if !defined(SHARDC_CHECKS_MEMORY) && !defined(__SANITIZE_THREAD__)
constexpr bool has_plain_address_space = true;
#else
constexpr bool has_plain_address_space = false; // sanitizers map terabytes
#endif

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

TEST_CASE("memory that is refused at any moment is E0601 and exit code 2, or the answer is right") {
    const std::string model = "examples/dot_relu_dot/model.yaml", layout = "examples/dot_relu_dot/layout.yaml";
    const std::vector<std::vector<std::string>> commands = {
        {"--version"},
        {"explain", "E0601"},
        {"plan", model, layout},
        {"plan", model, layout, "--format", "json"},
        {"check", model, layout},
        {"explain", model, layout, "z"},
        {"run", model, layout, "--verify", "--workers", "2"},
    };
    Fixed shell;
    for (const std::vector<std::string>& words : commands) {
        CAPTURE(words.front());
        REQUIRE(shell.run(words) <= 1);
        const std::string expected(shell.out_buffer.text());
        REQUIRE_FALSE(expected.empty());
        int refused = 0;
        i64 nth = 0;
        // All of the first, and then ever fewer: a command allocates some ten thousand times.
        for (bool happened = true; happened; nth += 1 + nth / 40) {
            int code = 0;
            {
                const RefuseAllocation refuse(nth);
                code = shell.run(words);
                happened = refuse.happened();
            }
            CAPTURE(nth);
            const bool is_right = code <= 1 && shell.out_buffer.text() == expected;
            const bool is_said = code == 2 && shell.err_buffer.text().find("error[E0601]: ") != std::string_view::npos;
            CHECK_MESSAGE((is_right || is_said), "exit code ", code, ": ", std::string(shell.err_buffer.text()));
            refused += is_said ? 1 : 0;
        }
        CHECK(refused > 10);
    }
}

TEST_CASE("with any limit of address space every command ends: with the answer, or with E0601") {
    if (!has_plain_address_space) return;
    // With less than 12 MB or so the libraries do not come as far as main().
    const std::vector<std::string> commands = {"--version", "plan $M $L", "run $M $L --verify",
                                               "run $M $L --verify --workers 64"};
    std::string script = "exe=" SHARDC_EXECUTABLE " M=" SHARDC_SOURCE_DIR
                         "/examples/dot_relu_dot/model.yaml L=" SHARDC_SOURCE_DIR "/examples/dot_relu_dot/layout.yaml\n"
                         "for kib in 20000 22000 26000 32000 50000 70000 90000 110000 150000 200000 "
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
