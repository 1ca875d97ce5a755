// Constants of many numbers.
#include "tests/support/model_harness.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

Built with_graph(const std::string& entries) {
    return build_text(
        "model: m\naxes: {batch: 8, embed: 4}\ninputs:\n  x: {axes: [batch, embed]}\n  n: {axes: [batch], dtype: i32}\n"
        "graph:\n" +
        entries + "outputs: [y]\n");
}

} // namespace

TEST_CASE("a constant's numbers are its bytes, as StableHLO writes them, or are refused") {
    const Built built =
        with_graph("  - k: {constant: '0x0000803f0000004000004040000080BF', shape: [1, 4]}\n"
                   "  - t: {constant: '0x0001', dtype: bool}\n  - h: {constant: '0x803f0040', dtype: bf16}\n"
                   "  - c: {cast: h, dtype: f32}\n  - s: {select: [t, c, 0]}\n  - s: {reduce_sum: s}\n"
                   "  - y: {add: [x, k]}\n  - y: {add: [y, s]}\n  - z: {gather: [y, n]}\n  - y: {add: [y, z]}\n");
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    const auto numbers = [&](const std::string& name) {
        const std::optional<ValueId> id = find_value(*built.graph, name);
        REQUIRE(id.has_value());
        return built.graph->node(built.graph->value(*id).producer).attributes().numbers("value");
    };
    CHECK(numbers("k") == std::vector<double>{1, 2, 3, -1});
    CHECK(numbers("t") == std::vector<double>{0, 1});
    CHECK(numbers("h") == std::vector<double>{1, 2});
    const auto refused = [](const std::string& value) {
        const Built built_of = with_graph("  - k: {constant: " + value + "}\n  - y: {add: [x, k]}\n");
        REQUIRE_FALSE(built_of.diagnostics.all().empty());
        return built_of.diagnostics.all()[0].message;
    };
    CHECK(refused("'0x0000803f00'") == "the bytes of `value` are not those of elements of type f32");
    CHECK(refused("'0x0000803f', dtype: i64") == "the bytes of `value` are not those of elements of type i64");
    CHECK(refused("'0x0000803f0000803f', shape: [3]") == "2 values do not fill shape (3,)");
    CHECK(refused("'0x0100000000002000', dtype: i64") ==
          "f64, through which numbers pass, does not hold 9007199254740993");
    CHECK(refused("'0xffffffffffffff7f', dtype: i64") ==
          "f64, through which numbers pass, does not hold 9223372036854775807");
    CHECK(refused("'0x02', dtype: bool") == "2 is not a value of type bool");
    CHECK(refused("'1.5'") == "value: expected a number, found a string");
}

TEST_CASE("a constant of more than 1,024 numbers is there once, however often it is used") {
    for (const i64 size : {1024, 1028}) {
        std::string bytes = "0x";
        for (i64 i = 0; i < size; ++i) bytes += "0000803f";
        const Built built = with_graph(fmt::format("  - k: {{constant: \"{0}\", shape: [{1}, 1]}}\n"
                                                   "  - a: {{exp: k}}\n  - b: {{sin: k}}\n  - a: {{add: [a, b]}}\n"
                                                   "  - a: {{reduce_sum: a}}\n  - y: {{add: [x, a]}}\n"
                                                   "  - z: {{gather: [x, n]}}\n  - y: {{add: [y, z]}}\n",
                                                   bytes, size));
        CHECK(built.problems() == "");
        REQUIRE(built.graph.has_value());
        CHECK((built.names().find("k.copy") == std::string::npos) == (size > 1024));
    }
}

} // namespace shard
