#include "plans/base/base.h"

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
