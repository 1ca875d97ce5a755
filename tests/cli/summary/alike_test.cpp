#include "cli/summary/alike.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

std::string joined(const std::vector<std::string>& names, size_t most = 100) { return joined_names(names, most); }

} // namespace

TEST_CASE("names that differ in one part are written as one, in the order of their first") {
    CHECK(joined({"block.wq", "wte", "block.wk"}) == "block.{wq,wk}, wte");
    CHECK(joined({"tokens", "next"}) == "tokens, next");
    CHECK(joined({"block.{0..3}.wq", "block.{0..3}.wk"}) == "block.{0..3}.{wq,wk}");
    CHECK(joined({"block.0"}) == "block.0");
    CHECK(joined({"block.wq.grad", "block.wk.grad", "block.wq.mu"}) == "block.{wq,wk}.grad, block.wq.mu");
    CHECK(joined({"a.kernel", "b.kernel", "b.bias"}) == "{a,b}.kernel, b.bias");
    CHECK(joined({"a.b", "a.b.c"}) == "a.b, a.b.c");
    CHECK(joined({}) == "");
}

TEST_CASE("of many names some are said") {
    CHECK(joined({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
    CHECK(joined({"a", "b", "c", "1"}, 2) == "a, b and 2 more");
}

TEST_CASE("of many names that differ by numbers alone their number is said") {
    CHECK(joined({"n.sum_9", "n.sum_12", "n.sum"}, 2) == "n.{sum_9,sum_12} and 1 more");
    CHECK(joined({"n.sum_9", "n.sum_12", "n.sum_13"}, 2) == "n.sum_* (3)");
    CHECK(joined({"n.sum_9", "n.sum_12"}, 2) == "n.{sum_9,sum_12}");
    CHECK(joined({"1", "2", "3"}, 2) == "* (3)");
}

TEST_CASE("of several places the first is said") {
    CHECK(joined_places(std::vector<std::string>{"model.yaml:7", "model.yaml:7"}) == "model.yaml:7");
    CHECK(joined_places(std::vector<std::string>{"model.yaml:7", "model.yaml:9", "model.yaml:7"}) == "model.yaml:7 +1");
    CHECK(joined_places({}) == "");
}
