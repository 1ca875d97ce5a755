#include "exporter/jax/python_names.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("what a Python module has for itself is no name of a value") {
    UniqueNames names = python_names();
    CHECK(names.fresh("lambda") == "lambda_2");
    CHECK(names.fresh("jnp") == "jnp_2");
    CHECK(names.fresh("random_bits") == "random_bits_2");
    CHECK(names.fresh("y") == "y");
}
