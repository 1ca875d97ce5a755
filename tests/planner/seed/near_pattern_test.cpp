#include "planner/seed/near_pattern.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const std::vector<std::string> names = {"embedding", "block.0.up", "block.1.up", "block.0.down", "h.0.Dense_0_kernel"};

std::string near(const std::string& pattern) { return near_pattern(pattern, names, "otherwise"); }

} // namespace

TEST_CASE("what a pattern was meant to be is as wide as the pattern") {
    CHECK(near("block.*.upp") == "did you mean 'block.*.up'?");
    CHECK(near("blok.*.up") == "did you mean 'block.*.up'?");
    CHECK(near("**.dwon") == "did you mean '**.down'?");
    CHECK(near("block.0.upp") == "did you mean 'block.0.up'?");
    CHECK(near("block.*.wq") == "otherwise");
    CHECK(near("blocks.{0,1}.up") == "otherwise");
    std::vector<std::string> many(5000, "layer");
    many.push_back("unembed");
    CHECK(near_pattern("umembed", many, "otherwise") == "did you mean 'unembed'?");
}

TEST_CASE("paths of a JAX program find what the model calls them") {
    CHECK(near("**.Dense_0.kernel") == "did you mean '**.Dense_0_kernel'?");
    CHECK(near("params.params.embedding") == "did you mean 'embedding'?");
    CHECK(near("h_0.Dense_0.kernel") == "did you mean 'h.0.Dense_0_kernel'?");
    CHECK(near("params.h_*.Dense_0.kernel") == "parts are joined otherwise here: 'h.0.Dense_0_kernel'");
}
