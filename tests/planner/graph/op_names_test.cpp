// What is said of an op that there is not.
#include "planner/graph/op_def.h"
#include "planner/graph/op_names.h"
#include "plans/diagnostics/diagnostic.h"
#include "tests/support/reading.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("names of other languages lead to an op or composite that there is, and are none themselves") {
    for (const auto& [foreign, here] : foreign_op_names()) {
        CAPTURE(foreign);
        CHECK((find_op(here) != nullptr || find_composite(here) != nullptr));
        CHECK(find_op(foreign) == nullptr);
        CHECK(find_composite(foreign) == nullptr);
    }
    CHECK(unknown_op_help("matmul", {"mul"}) == "it is called 'dot' here");
    CHECK(unknown_op_help("jnp.matmul", {"mul"}) == "it is called 'dot' here");
    CHECK(unknown_op_help("jax.nn.silu", {"silu"}) == "it is called 'silu' here");
    CHECK(unknown_op_help("nn.Dense", {"dot"}) == "it is called 'linear' here");
    CHECK(unknown_op_help("sotfmax", {"softmax"}) == "did you mean 'softmax'?");
    CHECK(unknown_op_help("unheard", {"softmax"}) == "`shardc list ops` and `shardc list composites` show all");
}

TEST_CASE("what another language has and this one has not is no slip of the pen of an op that is another") {
    CHECK(unknown_op_help("elu", {"relu"}).starts_with("there is none here"));
    CHECK(unknown_op_help("swiglu", {"silu"}) == "write {mul: [{silu: gate}, up]}");
    CHECK(unknown_op_help("torch.split", {"slice"}).starts_with("write a slice for each piece"));
    CHECK(unknown_op_help("tril", {"tan"}).find("causal: true") != std::string::npos);
    CHECK(unknown_op_help("scan", {}).starts_with("write {repeat: block, "));
}

TEST_CASE("a guess is a slip of the pen, not any word that is near") {
    const std::vector<std::string_view> names = {"min", "relu", "plan", "ops", "softmax", "h100", "data"};
    CHECK(nearest("rleu", names) == "relu");
    CHECK(nearest("relu6", names) == "relu");
    CHECK(nearest("paln", names) == "plan");
    CHECK(nearest("opps", names) == "ops");
    CHECK(nearest("dta", names) == "data");
    CHECK(nearest("sotfmxa", names) == "softmax");
    CHECK(nearest("SoftMax", names) == "softmax");
    CHECK(nearest("H100", names) == "h100");
    for (const std::string_view word : {"in", "mx", "o", "", "mean", "rule", "epsilon", "softer"}) {
        CAPTURE(word);
        CHECK(nearest(word, names) == "");
    }
}
