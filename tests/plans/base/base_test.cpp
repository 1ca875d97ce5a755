#include "plans/base/base.h"
#include "plans/base/printable.h"

#include <doctest/doctest.h>

#include <string>

using namespace shard;

TEST_CASE("internal_check throws its text, and only when the condition is false") {
    CHECK_NOTHROW(internal_check(true, "unused"));
    std::string text;
    try {
        internal_check(false, "a mesh has at least one axis");
    } catch (const InternalError& error) {
        text = error.what();
    }
    CHECK(text == "a mesh has at least one axis");
}

TEST_CASE("what is not seen is escaped: no width, spaces that look like the one, hyphens that may not show") {
    for (const char* hidden :
         {"\u200B", "\u200D", "\u2060", "\uFEFF", "\u00AD", "\u00A0", "\u2003", "\u3000", "\u3164"}) {
        CHECK(hidden_length(hidden) == std::string(hidden).size());
        CHECK(printable(hidden).starts_with("\\u"));
    }
    CHECK(printable("a\u200Bb\u00A0c") == "a\\u200bb\\u00a0c");
    for (const char* seen : {"é", "→", "─", "中", "e\u0301"}) CHECK(printable(seen) == seen);
}
