// Scenarios of reference partitioning (31 to 45) and the design's own examples, on a uniform link without latency.
// Scenario 45 is a pure redistribution and is with those; 40 needs a sort, which is not an op yet.
#include "planner/partition/local.h"
#include "tests/support/graph_case.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

using Reshards = std::vector<std::string>;

const Mesh mesh_4x2{{{"x", 4, ""}, {"y", 2, ""}}, {}};
const Mesh mesh_2x2x2{{{"x", 2, ""}, {"y", 2, ""}, {"z", 2, ""}}, {}};

Attributes dims(std::vector<i64> numbers) {
    Attributes attributes;
    attributes.set("dims", std::move(numbers));
    return attributes;
}

// dot of l and r into z, with these shardings.
GraphCase dot_case(Shape l, Shape r, std::string_view l_sharding, std::string_view r_sharding,
                   std::string_view z_sharding) {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId left = c.input("l", std::move(l), l_sharding), right = c.input("r", std::move(r), r_sharding);
    c.output(c.op("z", "dot", {left, right}, z_sharding));
    return c;
}

} // namespace

TEST_CASE("scenario 31: a dot with a split contraction ends in one all_reduce") {
    GraphCase c = dot_case({8, 32}, {32, 16}, "[x | y]", "[y | -]", "[x | -]");
    Local local = c.run();
    CHECK(reshards(c.mesh, local) == Reshards{"z: all_reduce over y"});
    CHECK(sharding_text(c.mesh, local, "z.partial") == "[x | -] U{y}");
}

TEST_CASE("scenario 32: reduced and split over the same axis is a reduce_scatter") {
    GraphCase c = dot_case({8, 32}, {32, 16}, "[x | y]", "[y | -]", "[x | y]");
    CHECK(reshards(c.mesh, c.run()) == Reshards{"z: reduce_scatter over y (dim 1)"});
}

TEST_CASE("scenario 33: the left operand is gathered") {
    GraphCase c = dot_case({8, 32}, {32, 16}, "[x | y]", "[- | y]", "[x | y]");
    CHECK(reshards(c.mesh, c.run()) == Reshards{"l.gathered: all_gather over y (dim 1)"});
}

TEST_CASE("scenario 35: a large weight stays where it is, and its small operand and result move") {
    GraphCase c = dot_case({4, 4096}, {4096, 4096}, "[x | -]", "[x | -]", "[x | -]");
    CHECK(reshards(c.mesh, c.run()) ==
          Reshards{"l.exchanged: all_to_all over x (dim 0 -> dim 1)", "z: reduce_scatter over x (dim 0)"});
}

TEST_CASE("scenario 36: a square of a matrix gathers both operands") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId a = c.input("a", {16, 16}, "[x | y]");
    c.output(c.op("z", "dot", {a, a}, "[x | y]"));
    Local local = c.run();
    CHECK(reshards(c.mesh, local) ==
          Reshards{"a.gathered: all_gather over y (dim 1)", "a.gathered#2: all_gather over x (dim 0)"});
    CHECK(wire_bytes_per_device(c.mesh, local) == 128 + 384); // 1/2 of 4x16 f32 and 3/4 of 16x8 f32
}

TEST_CASE("scenario 38: an element-wise op is computed where it is split most") {
    auto negated = [](std::string_view from, std::string_view to) {
        GraphCase c{mesh_4x2, {}, {}};
        c.output(c.op("z", "neg", {c.input("a", {4, 32}, from)}, to));
        Local local = c.run();
        return sharding_text(
            c.mesh, local,
            local.graph.value(local.graph.nodes.front().op() ? local.graph.nodes.front().outputs[0] : 0).name);
    };
    CHECK(negated("[x | -]", "[- | y]") == "[x | -]"); // the result is resharded
    CHECK(negated("[y | -]", "[- | x]") == "[y | -]"); // the operand is: the first node is no op
}

TEST_CASE("scenario 42: a partial sum is reduced once it is whole") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId a = c.input("a", {2, 64, 13}, "[- | x | -]");
    c.output(c.op("s", "reduce_sum", {a}, "[- | -]", dims({1})));
    CHECK(reshards(c.mesh, c.run()) == Reshards{"s: all_reduce over x"});
}

TEST_CASE("scenario 42: two partial sums are added before one all_reduce") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId a = c.input("a", {2, 64, 13}, "[- | x | -]"), b = c.input("b", {2, 64, 13}, "[- | x | -]");
    ValueId s = c.op("s", "reduce_sum", {a}, "[- | -]", dims({1})),
            t = c.op("t", "reduce_sum", {b}, "[- | -]", dims({1}));
    c.output(c.op("u", "add", {s, t}, "[- | -]"));
    Local local = c.run();
    CHECK(reshards(c.mesh, local) == Reshards{"u: all_reduce over x"});
    CHECK(local.value_of[s] == -1); // s is nowhere whole
}

TEST_CASE("scenario 43: reduce and scatter on one dim, and a slice of another first, which halves the bytes") {
    GraphCase c{mesh_2x2x2, {}, {}};
    c.output(c.op("s", "reduce_sum", {c.input("a", {16, 8, 8}, "[- | x | -]")}, "[x | y]", dims({1})));
    Local local = c.run();
    Reshards found = reshards(c.mesh, local);
    REQUIRE(found.size() == 2);
    CHECK(found[1] == "s: reduce_scatter over x (dim 0)");
    CHECK(wire_bytes_per_device(c.mesh, local) == 16 * 4 * 4 / 2); // Shardy's way sends 256 bytes
}

TEST_CASE("DotReluDot on data 2, model 4 has one collective") {
    GraphCase c{Mesh{{{"data", 2, ""}, {"model", 4, ""}}, {}}, {}, {}};
    ValueId x = c.input("x", {8, 1024}, "[data | -]"), w1 = c.input("w1", {1024, 1024}, "[- | model]", Role::param),
            w2 = c.input("w2", {1024, 1024}, "[model | -]", Role::param);
    for (auto [id, names] : {std::pair(x, std::vector<std::string>{"batch", "embed"}),
                             std::pair(w1, std::vector<std::string>{"embed", "hidden"}),
                             std::pair(w2, std::vector<std::string>{"hidden", "embed"})}) {
        c.graph.value(id).type.logical = names;
    }
    ValueId h = c.op("h", "dot", {x, w1}, "[data | model]");
    c.graph.value(h).type.logical = {"batch", "hidden"};
    ValueId a = c.op("a", "tanh", {h}, "[data | model]");
    c.graph.value(a).type.logical = {"batch", "hidden"};
    c.output(c.op("z", "dot", {a, w2}, "[data | -]"));
    Local local = c.run();
    CHECK(reshards(c.mesh, local) == Reshards{"z: all_reduce over model"});
    CHECK(wire_bytes_per_device(c.mesh, local) == 24576);
    const Node& reduce = local.graph.nodes.back();
    CHECK(reduce.reshard()->reason.cause ==
          "z: the contraction over hidden is split over model, so each device holds a partial sum");
    CHECK(reduce.reshard()->reason.remedy == "shard hidden of a and w2 on no axis");
    CHECK(local.graph.value(local.value_of[h]).type.shape == Shape{4, 256});
}

TEST_CASE("a weight split along the batch axis is gathered once for two readers") {
    GraphCase c{Mesh{{{"i", 4, ""}}, {}}, {}, {}};
    ValueId x = c.input("x", {64, 32}, "[i | -]"), y = c.input("y", {64, 32}, "[i | -]"),
            w = c.input("w", {32, 16}, "[i | -]");
    c.output(c.op("z", "dot", {x, w}, "[i | -]"));
    c.output(c.op("v", "dot", {y, w}, "[i | -]"));
    Local local = c.run();
    CHECK(reshards(c.mesh, local) == Reshards{"w.gathered: all_gather over i (dim 0)"});
    CHECK(local.graph.nodes[0].reshard()->reason.cause == "z: dot computes on w as [- | -], but w is kept as [i | -]");
    CHECK(local.graph.nodes[0].reshard()->reason.remedy == "in w, shard dim 0 on no axis");
}

TEST_CASE("a constraint makes its form and later readers start from it") {
    GraphCase c{Mesh{{{"data", 2, ""}, {"model", 4, ""}}, {}}, {}, {}};
    ValueId a = c.input("a", {8, 16}, "[data | model]"), w = c.input("w", {16, 8}, "[model | -]");
    ValueId b = c.constrain("b", a, "[data | -]");
    c.output(c.op("z", "dot", {b, w}, "[data | -]"));
    Local local = c.run();
    CHECK(reshards(c.mesh, local) ==
          Reshards{"b: all_gather over model (dim 1)", "b.sliced: slice", "z: all_reduce over model"});
    CHECK(local.graph.nodes[0].reshard()->reason.cause ==
          "b: constrained to [data | -] at line 12, but a is [data | model]");
}

TEST_CASE("a partial sum with two readers is reduced once") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId a = c.input("a", {8, 64}, "[- | x]");
    ValueId s = c.op("s", "reduce_sum", {a}, "[-]", dims({1}));
    c.output(c.op("p", "neg", {s}, "[-]"));
    c.output(c.op("q", "exp", {s}, "[-]"));
    CHECK(reshards(c.mesh, c.run()) == Reshards{"s: all_reduce over x"});
}

TEST_CASE("a partial maximum is reduced by max and passes through nothing") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId a = c.input("a", {8, 64}, "[- | x]");
    ValueId m = c.op("m", "reduce_max", {a}, "[-]", dims({1}));
    c.output(c.op("n", "neg", {m}, "[-]"));
    Local local = c.run();
    CHECK(reshards(c.mesh, local) == Reshards{"m: all_reduce over x"});
    CHECK(local.graph.nodes[1].collective()->reduce == ReduceOp::max);
}

TEST_CASE("a lookup in a table split over its rows is partial") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId table = c.input("t", {64, 16}, "[x | -]", Role::param), ids = c.input("ids", {8, 4}, "[y | -]");
    c.graph.value(table).type.logical = {"vocab", "embed"};
    c.graph.value(ids).type.dtype = DType::i32;
    Attributes first;
    first.set("dim", std::vector<i64>{0});
    c.output(c.op("e", "gather", {table, ids}, "[y | - | -]", first));
    Local local = c.run();
    CHECK(reshards(c.mesh, local) == Reshards{"e: all_reduce over x"});
    CHECK(local.graph.nodes.back().reshard()->reason.cause ==
          "e: the lookup in vocab is split over x, so each device holds a partial sum");
}

TEST_CASE("a partial sum passes through a product with a whole value and is reduced once after both") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId a = c.input("a", {8, 64}, "[- | x]"), b = c.input("b", {64, 8}, "[x | -]"),
            f = c.input("f", {8, 8}, "[- | -]");
    ValueId z = c.op("z", "dot", {a, b}, "[- | -]");
    c.output(c.op("m", "mul", {f, z}, "[- | -]"));
    Local local = c.run();
    CHECK(reshards(c.mesh, local) == Reshards{"m: all_reduce over x"});
    CHECK(sharding_text(c.mesh, local, "m.partial") == "[- | -] U{x}");
}

TEST_CASE("a partial sum does not pass where it would grow") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId a = c.input("a", {8, 64}, "[- | x]"), f = c.input("f", {32, 8}, "[- | -]");
    ValueId s = c.op("s", "reduce_sum", {a}, "[-]", dims({1}));
    c.output(c.op("m", "mul", {f, s}, "[- | -]")); // 32 times as large
    CHECK(reshards(c.mesh, c.run()) == Reshards{"s: all_reduce over x"});
}

TEST_CASE("a partial sum that is an output as well is reduced before others read it") {
    GraphCase c{mesh_4x2, {}, {}};
    ValueId a = c.input("a", {8, 64}, "[- | x]");
    ValueId s = c.op("s", "reduce_sum", {a}, "[-]", dims({1}));
    c.output(s);
    c.output(c.op("n", "neg", {s}, "[-]"));
    CHECK(reshards(c.mesh, c.run()) == Reshards{"s: all_reduce over x"});
}

TEST_CASE("axes that a dim cannot keep through a reshape are resharded around it") {
    GraphCase c{mesh_4x2, {}, {}};
    Attributes shape;
    shape.set("shape", std::vector<i64>{8, 2, 8});
    // The minor factor of the split dim is not the one that can stay split alone: 16 = 2 * 8 over 4 is 2 and half of 8.
    ValueId r = c.op("r", "reshape", {c.input("a", {8, 16}, "[y | x]")}, "[y | - | -]", shape);
    c.output(r);
    Local local = c.run();
    CHECK(sharding_text(c.mesh, local, "r") == "[y | - | -]");
    CHECK(wire_bytes_per_device(c.mesh, local) == 4 * 16 * 4 * 3 / 4); // one gather over x of 4x16 f32, before or after
}
