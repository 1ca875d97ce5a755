#include "cli/report/listing.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("texts are wrapped between words, lines that begin with a blank stay as they are") {
    CHECK(wrapped("one two three", 80) == "one two three\n");
    CHECK(wrapped("one two three", 7) == "one two\nthree\n");
    CHECK(wrapped("one two three", 6) == "one\ntwo\nthree\n");
    CHECK(wrapped("incomprehensible one", 4) == "incomprehensible\none\n");
    CHECK(wrapped("one two\n  an example that stays\nthree", 5) == "one\ntwo\n  an example that stays\nthree\n");
    CHECK(wrapped("", 5).empty());
}

} // namespace shard
