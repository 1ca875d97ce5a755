#include "cli/terminal/fold.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("rows that differ in the index of a layer fold into one, in the order of their first") {
    std::vector<FoldedRow> rows = fold_rows({{"x", "1"},
                                             {"block.0.o", "because block.0.wo of block.0"},
                                             {"block.1.o", "because block.1.wo of block.1"},
                                             {"block.2.o", "because block.2.wo of block.2"},
                                             {"block.1.h", "because block.1.w"},
                                             {"block.4.h", "because block.1.w"}});
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].fields == std::vector<std::string>{"x", "1"});
    CHECK(rows[1].members == std::vector<int>{1, 2, 3});
    CHECK(rows[1].fields == std::vector<std::string>{"block.{0..2}.o", "because block.{0..2}.wo of block.{0..2}"});
    CHECK(rows[2].fields == std::vector<std::string>{"block.{1,4}.h", "because block.1.w"});
}

TEST_CASE("numbers that are not a layer's index keep rows apart") {
    CHECK(fold_rows({{"a#2"}, {"a#3"}}).size() == 2);
    CHECK(fold_rows({{"0.5 of x"}, {"0.7 of x"}}).size() == 2);
    CHECK(fold_rows({{"x.1a"}, {"x.2a"}}).size() == 2);
    CHECK(fold_rows({{"w1"}, {"w2"}}).size() == 2);
    CHECK(fold_rows({{"ends. 12"}, {"ends. 13"}}).size() == 2);
}

TEST_CASE("nested repeats fold too") {
    std::vector<FoldedRow> rows = fold_rows({{"a.0.b.0.x"}, {"a.0.b.1.x"}, {"a.1.b.0.x"}, {"a.1.b.1.x"}});
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].fields[0] == "a.{0,1}.b.{0,1}.x");
}
