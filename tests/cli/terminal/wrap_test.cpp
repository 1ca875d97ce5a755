#include "cli/terminal/wrap.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("text is broken at spaces, else between the parts of a name, else anywhere") {
    CHECK(broken("one two three", 13) == Lines{"one two three"});
    CHECK(broken("one two three", 8) == Lines{"one two", "three"});
    CHECK(broken("sent by a device", 7) == Lines{"sent by", "a", "device"});
    CHECK(broken("block.0.attention.wq", 14) == Lines{"block.0", ".attention.wq"});
    CHECK(broken("a/folder/model.yaml:12", 12) == Lines{"a/folder/", "model", ".yaml:12"});
    CHECK(broken("block.{0..31}.wq", 12) == Lines{"block", ".{0..31}.wq"});
    CHECK(broken("reduce_scatter", 12) == Lines{"reduce_", "scatter"});
    CHECK(broken("llama_block.wq", 12) == Lines{"llama_block", ".wq"}); // not within a part while parts can be parted
    CHECK(broken("MultiHeadDotProduct_0", 15) == Lines{"MultiHeadDot", "Product_0"});
    CHECK(broken("a.MultiHeadDot.kernel", 15) == Lines{"a.MultiHeadDot", ".kernel"});
    CHECK(broken("abcdefgh", 3) == Lines{"abc", "def", "gh"});
    CHECK(broken("", 3) == Lines{""});
    CHECK(broken("compute takes 4.20 us", 18) == Lines{"compute takes", "4.20 us"}); // a number and its unit
    CHECK(broken("f32 (heads 32, kv 128)", 19) == Lines{"f32 (heads 32,", "kv 128)"});
}

TEST_CASE("a character is never cut, and a wide one counts as two columns") {
    CHECK(broken("éééé", 2) == Lines{"éé", "éé"});
    CHECK(broken("漢字", 2) == Lines{"漢", "字"});
    CHECK(broken("漢字", 1) == Lines{"漢", "字"}); // there is no less
}

TEST_CASE("lines behind the first hang") {
    CHECK(hanging("one two three four five", 30, 28) == // 20 columns at least
          "one two three four\n" + std::string(28, ' ') + "five");
    CHECK(hanging("one two three four", 24, 4) == "one two three four");
    CHECK(hanging("one two three four five", 24, 4) == "one two three four\n    five");
    CHECK(hanging("one two", 0, 4) == "one two");
}

TEST_CASE("entries of a help text hang below where their last column begins") {
    const std::string help =
        "usage: shardc plan MODEL\n\n  --set VALUE  puts a value into a file's text, by its path\n  -o FILE  x\n";
    CHECK(entries_broken(help, 80) == help);
    CHECK(entries_broken(help, 40) == "usage: shardc plan MODEL\n\n  --set VALUE  puts a value into a\n"
                                      "               file's text, by its path\n  -o FILE  x\n");
    CHECK(entries_broken("a sentence of some words, and no more\n", 30) == "a sentence of some words,\nand no more\n");
    // Where no room is left beside what an entry is about, below it.
    CHECK(entries_broken("  shardc explain microbatches        what a key of a model says\n", 50) ==
          "  shardc explain microbatches\n      what a key of a model says\n");
    CHECK(entries_broken("", 40) == "");
}
