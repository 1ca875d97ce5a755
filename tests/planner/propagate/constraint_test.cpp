// What a returned input and what the layout asks of it take from each other. More about constraints and outputs is in
// tests/cases/passes/propagate.md.
#include "tests/support/tiny_graph.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("a returned input and its output take from each other what they can") {
    struct Row {
        const char *input, *output, *input_after, *output_after;
    };
    const Row rows[] = {
        {"[a? | b?]", "[a,b? | ?]", "[a? | b?]", "[a,b? | ?]"},
        {"[a,b? | ?]", "[a,c? | ?]", "[a,b? | ?]", "[a,c? | ?]"},
        {"[a? | ?]", "[? | b?]", "[a? | b?]", "[a? | b?]"},
        {"[? | ?]", "[a | b]", "[a? | b?]", "[a | b]"},
        {"[a | b]", "[? | ?]", "[a | b]", "[a? | b?]"},
    };
    for (const Row& row : rows) {
        TinyGraph g("a=2 b=2 c=2");
        const ValueId x = g.input({8, 8}, row.input);
        g.output(x, row.output);
        g.run(basic());
        CHECK(g.spec(x) == row.input_after);
        CHECK(g.output_spec(0) == row.output_after);
    }
}
