#include "exporter/program/unique_names.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("a name of the model is a name in another language, and no two are one") {
    UniqueNames names({"lambda", "jnp"});
    CHECK(names.fresh("block.0.y#2") == "block_0_y_2");
    CHECK(names.fresh("block_0.y_2") == "block_0_y_2_2");
    CHECK(names.fresh("2x") == "v2x");
    CHECK(names.fresh("") == "v");
    CHECK(names.fresh("lambda") == "lambda_2");
    CHECK(names.fresh("jnp") == "jnp_2");
    CHECK(names.fresh("caf\xc3\xa9") == "caf__");
    CHECK(UniqueNames({}, "_.$").fresh("block.0.y#2") == "block.0.y_2");
}
