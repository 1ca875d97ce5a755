// What an output is made of: types, the longest sum and how many there are, by paper.
#include "executor/verify/lineage.h"

#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

Lineage lineage_of(const Plan& plan, const std::string& name, int steps = 1) {
    for (const PlanOutput& output : plan.outputs)
        if (output.name == name) return Lineages(plan).of(output, steps);
    FAIL("no output " << name);
    return {};
}

void check(const Lineage& lineage, DType coarsest, double longest, double reductions) {
    CHECK(name(lineage.coarsest) == name(coarsest));
    CHECK(lineage.longest == longest);
    CHECK(lineage.reductions == reductions);
}

} // namespace

TEST_CASE("lineage: an output has the errors of what it is made of, and of nothing else") {
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f32, {4, 8}), half = b.input("half", DType::bf16, {8, 6}),
              other = b.input("other", DType::bf16, {4, 8}), many = b.input("many", DType::i32, {4, 8});
    const int rows = b.buffer("rows", DType::f32, {4}), all = b.buffer("all", DType::f32, {});
    const int product = b.buffer("product", DType::bf16, {4, 6}), sum = b.buffer("sum", DType::bf16, {});
    b.compute(Reduce{{1}, ReduceOp::sum}, {x}, rows);
    b.compute(Reduce{{0}, ReduceOp::sum}, {rows}, all);
    b.compute(Contract{{0, 1}, {1, 2}, {0, 2}}, {other, half}, product);
    b.compute(Reduce{{0, 1}, ReduceOp::max}, {product}, sum);
    b.output("rows", rows);
    b.output("all", all);
    b.output("sum", sum);
    b.output("given", x);
    b.output("many", many);
    check(lineage_of(b.plan(), "rows"), DType::f32, 8, 1);
    check(lineage_of(b.plan(), "all"), DType::f32, 8, 2);
    check(lineage_of(b.plan(), "sum"), DType::bf16, 24, 2);
    check(lineage_of(b.plan(), "given"), DType::f32, 1, 0);
    check(lineage_of(b.plan(), "many"), DType::boolean, 1, 0); // whole numbers are not rounded
}

TEST_CASE("lineage: types inside a fused kernel, integers that place values, and sums of scatter count") {
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f64, {4}), i = b.input("i", DType::i32, {12}),
              u = b.input("u", DType::f64, {12, 2}), at = b.input("at", DType::i32, {});
    const int cast = b.buffer("cast", DType::f64, {4}), added = b.buffer("added", DType::f64, {5, 2}),
              slice = b.buffer("slice", DType::f64, {2});
    const auto step = [](ScalarOp op, DType dtype) { return ScalarStep{op, {0, -1, -1}, dtype, 0, {}}; };
    b.compute(Pointwise{{{0}},
                        {step(ScalarOp::input, DType::f64),
                         {ScalarOp::cast, {0}, DType::bf16, 0, {}},
                         {ScalarOp::cast, {1}, DType::f64, 0, {}}}},
              {x}, cast);
    b.compute(Scatter{0, 5, constant(0)}, {i, u}, added);
    const int moved = b.buffer("moved", DType::i32, {});
    b.compute(Reduce{{}, ReduceOp::max}, {at}, moved);
    Move move;
    move.pieces.push_back({0, {{0, {{AffineTerm::Kind::scalar, {}, moved, 1}}}}, {1}, {constant(0)}, {1}, {2}});
    b.compute(move, {x}, slice);
    for (const auto& [name, id] : {std::pair{"cast", cast}, {"added", added}, {"slice", slice}}) b.output(name, id);
    check(lineage_of(b.plan(), "cast"), DType::bf16, 1, 0);
    check(lineage_of(b.plan(), "added"), DType::f64, 12, 1);
    check(lineage_of(b.plan(), "slice"), DType::f64, 1, 1);
}

TEST_CASE("lineage: a loop's sums count once a trip, and what it carries comes from the trip before") {
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f32, {4, 4}), half = b.input("half", DType::bf16, {4});
    const int carried = b.buffer("carried", DType::f32, {4}), next = b.buffer("next", DType::f32, {4});
    b.compute(Reduce{{0}, ReduceOp::sum}, {x}, carried);
    b.begin_loop(0, 3);
    b.begin_loop(1, 5);
    b.compute(Contract{{0, 1}, {1}, {0}}, {x, carried}, next);
    b.end_loop();
    b.compute(pointwise(ScalarOp::tanh, 1, 1, DType::f32, DType::f32), {next}, carried);
    b.end_loop();
    b.output("next", next);
    b.output("half", half);
    check(lineage_of(b.plan(), "next"), DType::f32, 4, 1 + 15);
    check(lineage_of(b.plan(), "half"), DType::bf16, 1, 0);
}

TEST_CASE("lineage: after the first step an output is made of what the steps before have updated") {
    PlanBuilder b(make_mesh({}));
    const int w = b.input("w", DType::f32, {8}), g = b.input("g", DType::bf16, {8});
    const int loss = b.buffer("loss", DType::f32, {}), wide = b.buffer("wide", DType::f32, {8});
    b.compute(Reduce{{0}, ReduceOp::sum}, {w}, loss);
    b.compute(Pointwise{{{0}}, {{ScalarOp::input, {0}, DType::bf16, 0, {}}, {ScalarOp::cast, {0}, DType::f32, 0, {}}}},
              {g}, wide);
    b.output("loss", loss);
    b.plan().outputs.push_back({"w", wide, w});
    check(lineage_of(b.plan(), "loss", 1), DType::f32, 8, 1);
    check(lineage_of(b.plan(), "loss", 2), DType::bf16, 8, 1);
}

TEST_CASE("lineage: partial sums count on all devices that hold them, and pass through collectives") {
    PlanBuilder b(make_mesh({{"a", 2}, {"b", 3}}));
    const int x = b.input("x", DType::f32, {4, 192}, "[- | b]"), w = b.input("w", DType::f32, {192, 6}, "[b | -]");
    const int part = b.buffer("part", DType::f32, {4, 6}, "[- | -] U{b}"), y = b.buffer("y", DType::f32, {4, 6});
    b.compute(Contract{{0, 1}, {1, 2}, {0, 2}}, {x, w}, part);
    Collective reduce;
    reduce.axes = b.axes({"b"});
    b.collective("all_reduce", reduce, part, y);
    b.output("y", y);
    check(lineage_of(b.plan(), "y"), DType::f32, 192, 1);
}

} // namespace shard
