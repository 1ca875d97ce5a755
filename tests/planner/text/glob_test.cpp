#include "planner/model/layout.h"
#include "planner/text/glob.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

// The definition, by trying everything.
bool matches(std::string_view glob, std::string_view path) {
    if (glob.empty()) return path.empty();
    if (glob.starts_with("**"))
        return matches(glob.substr(2), path) || (!path.empty() && matches(glob, path.substr(1)));
    if (glob[0] == '*')
        return matches(glob.substr(1), path) || (!path.empty() && path[0] != '.' && matches(glob, path.substr(1)));
    if (path.empty()) return false;
    return (glob[0] == path[0] || (glob[0] == '?' && path[0] != '.')) && matches(glob.substr(1), path.substr(1));
}

// The n-th word over the letters, shortest first.
std::string word(std::string_view letters, size_t n) {
    std::string text;
    for (; n > 0; n = (n - 1) / letters.size()) text += letters[(n - 1) % letters.size()];
    return text;
}

} // namespace

TEST_CASE("* stops at dots, ** does not") {
    CHECK(glob_matches("block.*.w1", "block.0.w1"));
    CHECK_FALSE(glob_matches("block.*.w1", "block.0.mlp.w1"));
    CHECK(glob_matches("block.**.w1", "block.0.mlp.w1"));
    CHECK(glob_matches("**", "block.0.w1"));
    CHECK(glob_matches("*", "w1"));
    CHECK_FALSE(glob_matches("*", "block.w1"));
    CHECK(glob_matches("w?", "w1"));
    CHECK_FALSE(glob_matches("w?", "w"));
    CHECK_FALSE(glob_matches("w1", "w12"));
    CHECK(glob_matches("**w1", "w1"));
}

TEST_CASE("every short pattern and path agree with the definition") {
    i64 agreed = 0;
    for (size_t g = 0; g < 1365; ++g)      // patterns of up to 5 of a . * and ?
        for (size_t p = 0; p < 127; ++p) { // paths of up to 6 of a and .
            const std::string glob = word("a.*?", g);
            const std::string path = word("a.", p);
            if (glob_matches(glob, path) != matches(glob, path)) FAIL(glob << " on " << path);
            ++agreed;
        }
    CHECK(agreed == 1365 * 127);
}

TEST_CASE("a pattern of many stars takes no time to fail") {
    std::string glob;
    for (int i = 0; i < 200; ++i) glob += i % 2 == 0 ? "*a" : "**a";
    CHECK_FALSE(glob_matches(glob + "b", std::string(5000, 'a')));
}
