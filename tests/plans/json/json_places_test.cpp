#include "plans/json/json_places.h"

#include <doctest/doctest.h>

#include <string>

using namespace shard;

namespace {

// "line:column length"
std::string words(Span span) {
    return std::to_string(span.line) + ":" + std::to_string(span.column) + " " + std::to_string(span.length);
}

const JsonText text{"{\"a\": 12,\n"
                    " \"steps\": [{\"wait\": 3}, {\"x\": \"a]\\\"b\", \"y\": [1, [2, 3], {}]}],\n"
                    " \"a\": null}\n",
                    0};

} // namespace

TEST_CASE("json places: a number or string is marked whole, an object or list by its bracket") {
    CHECK(words(text.value("")) == "1:1 1");
    CHECK(words(text.value("steps")) == "2:11 1");
    CHECK(words(text.value("steps[0].wait")) == "2:21 1");
    CHECK(words(text.value("steps[1]")) == "2:25 1");
    CHECK(words(text.value("steps[1].x")) == "2:31 7");
    CHECK(words(text.value("steps[1].y[1][1]")) == "2:53 1");
    CHECK(words(text.value("steps[1].y[2]")) == "2:57 1");
    CHECK(words(text.value("steps[1] 'w1'")) == "2:25 1"); // what follows a space is for people
}

TEST_CASE("json places: where a path leads nowhere, the last value on the way is marked") {
    CHECK(words(text.value("steps[1].z.b")) == "2:25 1");
    CHECK(words(text.value("steps[7]")) == "2:11 1");
    CHECK(words(text.value("steps[x")) == "2:11 1");
    CHECK(words(text.value("b[0]")) == "1:1 1");
}

TEST_CASE("json places: of a key that appears twice, the last is marked") {
    CHECK(words(text.key("", "a")) == "3:2 3");
    CHECK(words(text.value("a")) == "3:7 4");
    CHECK(words(text.key("steps[0]", "b")) == "2:12 1");
}

TEST_CASE("json places: the end is shown on the last line that has text, and no file means no place") {
    CHECK(words(text.at(static_cast<i64>(text.text.size()))) == "3:12 1");
    CHECK(words(JsonText{"\n\n", 0}.at(2)) == "1:1 1");
    CHECK_FALSE(JsonText{"{}"}.value("").known());
    // Text that is not JSON is not read past its end.
    for (const char* broken :
         {"", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "[", "[[", "[1,", "{\"a\":\"\\", "]", "{]"}) {
        CHECK(JsonText{broken, 0}.value("a[1].b").known());
        CHECK(JsonText{broken, 0}.key("a[0]", "b").known());
    }
}
