#include "cli/diagnostics/diagnostics.h"

#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <sstream>

namespace shard {
namespace {

// A stream that gives a few bytes and then fails, without a word of the system why.
class Breaking : public std::streambuf {
protected:
    int_type underflow() override { throw std::ios_base::failure("broken"); }
};

} // namespace

TEST_CASE("of one code as many are shown as anybody reads") {
    Sources sources;
    const int file = sources.add("a.yaml", "ab\n");
    Diagnostics diagnostics;
    for (int i = 0; i < 1234; ++i) diagnostics.error("E0101", {file, 1, 1, 1}, "wrong").help("right");
    diagnostics.error("E0102", {file, 1, 1, 1}, "otherwise").help("right");
    const std::string text = diagnostics_text(sources, diagnostics.all(), false);
    size_t shown = 0;
    for (size_t at = text.find("E0101]"); at != std::string::npos; at = text.find("E0101]", at + 1)) ++shown;
    CHECK(shown == 100);
    CHECK(text.find("E0102]") != std::string::npos);
    CHECK(text.ends_with("and 1,134 more of E0101\n\n"));
}

TEST_CASE("a caret stands under what is wrong, or where it would be behind the end of the line") {
    Sources sources;
    const int file = sources.add("a.yaml", "ab: [\n");
    const auto shown = [&](Span span) {
        Diagnostics diagnostics;
        diagnostics.error("E0101", span, "wrong").help("right");
        return diagnostics_text(sources, diagnostics.all(), false);
    };
    const std::string head = "error[E0101]: wrong\n --> a.yaml:1:", line = "\n  |\n1 | ab: [\n  | ",
                      tail = "\n  = help: right\n\n";
    CHECK(shown({file, 1, 1, 2}) == head + "1" + line + "^^" + tail);
    CHECK(shown({file, 1, 6, 1}) == head + "6" + line + "     ^" + tail);
    CHECK(shown({file, 1, 8, 1}) == head + "8" + line + "       ^" + tail);
}

TEST_CASE("stdin that breaks without a reason is an error of input and output, whatever went wrong before") {
    Breaking buffer;
    std::istream in(&buffer);
    std::ostringstream out, err;
    MemoryFiles files;
    Env env{in, out, err, files};
    Sources sources;
    Diagnostics diagnostics;
    errno = ENOENT;
    CHECK_FALSE(load_source(env, sources, "-", diagnostics).has_value());
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].message == "cannot read stdin: Input/output error");
}

} // namespace shard
