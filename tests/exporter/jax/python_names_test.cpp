#include "exporter/jax/python_names.h"

#include "exporter/python/embedded_python.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("what a Python module has for itself is no name of a value") {
    UniqueNames names = python_names();
    CHECK(names.fresh("lambda") == "lambda_2");
    CHECK(names.fresh("jnp") == "jnp_2");
    CHECK(names.fresh("random_bits") == "random_bits_2");
    CHECK(names.fresh("y") == "y");
}

TEST_CASE("no function that a module may have is hidden by a value of its name") {
    int functions = 0;
    for (const EmbeddedText& file : embedded_python()) {
        if (file.name == "specs") continue; // a module of its own, without values
        for (size_t at = 0; at < file.text.size();) {
            const std::string_view line = file.text.substr(at, file.text.find('\n', at) - at);
            at += line.size() + 1;
            if (!line.starts_with("def ")) continue;
            const std::string name(line.substr(4, line.find('(') - 4));
            CHECK(python_names().fresh(name) != name);
            ++functions;
        }
    }
    CHECK(functions > 10);
}
