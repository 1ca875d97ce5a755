// Lines of texts, by number.
#include "plans/diagnostics/diagnostic.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("sources: every line of a text is found by its number, and no others") {
    std::string text;
    std::vector<std::string> lines;
    for (int i = 0; i < 1000; ++i) {
        lines.push_back(i % 7 == 0 ? "" : std::string(static_cast<size_t>(i % 50), 'x') + std::to_string(i));
        text += lines.back() + (i % 3 == 0 ? "\r\n" : "\n");
    }
    for (const std::string last : {"", "the end"}) {
        Sources sources;
        sources.add("empty", "");
        const int file = sources.add("many", text + last);
        for (int i = 0; i < 1000; ++i) REQUIRE(sources.line(file, i + 1) == lines[i]);
        CHECK(sources.line(file, 1001) == last);
        for (const int line : {-1, 0, 1002, 1025, 100000}) CHECK(sources.line(file, line) == "");
        CHECK(sources.line(0, 1) == "");
        CHECK(sources.line(2, 1) == "");
    }
}

} // namespace shard
