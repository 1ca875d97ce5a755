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

TEST_CASE("a folded name stands for those that were folded into it, and no other") {
    for (const std::string name : {"a.0.b.0.x", "a.1.b.1.x"}) CHECK(glob_matches("a.{0,1}.b.{0,1}.x", name));
    for (const std::string name :
         {"a.2.b.0.x", "a.0.b.0.y", "a.0.b.0", "a.0.b.0.xx", "a..b.0.x", "a.20000000000000000000.b.0.x"})
        CHECK_FALSE(glob_matches("a.{0,1}.b.{0..1}.x", name));
    CHECK(glob_matches("block.{0..11}.o", "block.11.o"));
    CHECK(glob_matches("block.{0..3,8..11,20}.o", "block.20.o"));
    for (const std::string name : {"block.12.o", "block.07.o", "block..o", "block.x.o", "block.1x.o"})
        CHECK_FALSE(glob_matches("block.{0..11}.o", name));
    CHECK(glob_matches("{unembed,wte}.grad", "wte.grad"));
    CHECK(glob_matches("block.{0..11}.{wq,mlp.w?,*_norm}", "block.3.mlp.w1"));
    CHECK(glob_matches("block.{0..11}.{wq,mlp.w?,*_norm}", "block.3.pre_norm"));
    CHECK_FALSE(glob_matches("block.{0..11}.{wq,mlp.w?,*_norm}", "block.3.wk"));
    CHECK(glob_matches("a.{{0..3},{x,y}}.b", "a.y.b")); // what differs may be ranges
    CHECK(glob_matches("a{,.b}", "a"));
    CHECK(glob_matches("a{,.b}", "a.b"));
}

TEST_CASE("braces that are none stand for themselves") {
    for (const std::string broken : {"block.{0", "block.{}.o", "block.{..}.o", "block.{a,b}.o", "{", "}", "{{0..3}"}) {
        CHECK_FALSE(glob_matches(broken, "block.0.o"));
        CHECK_FALSE(glob_matches(broken, "0"));
    }
    CHECK(glob_matches("{", "{"));
    CHECK(glob_matches("a}b", "a}b"));
    CHECK_FALSE(glob_matches(std::string(100'000, '{') + std::string(100'000, '}'), "a"));
    CHECK_FALSE(glob_matches("{9..3}", "5"));
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
    for (std::string braces = "{a,a}"; braces.size() < 4000; braces += braces)
        CHECK_FALSE(glob_matches(braces + "b", std::string(5000, 'a')));
}
