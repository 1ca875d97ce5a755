// Plans made by hand, and the values that their bytes are in turn.
#include "exporter/program/local_program.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const ProgramCompute& compute(const ProgramStep& step) { return std::get<ProgramCompute>(step.variant_ref()); }
const ProgramLoop& loop(const ProgramStep& step) { return std::get<ProgramLoop>(step.variant_ref()); }

// Makes `buffer` one that is in the bytes of another.
void alias(PlanBuilder& builder, int buffer, int of, bool view) {
    builder.plan().buffers[static_cast<size_t>(buffer)].alias_of = of;
    builder.plan().buffers[static_cast<size_t>(buffer)].view = view;
}

} // namespace

TEST_CASE("a result in its operand's bytes is a value of its own") {
    PlanBuilder builder(make_mesh({{"a", 1}}));
    const int x = builder.input("x", DType::f32, {4}), y = builder.buffer("y", DType::f32, {4});
    alias(builder, y, x, false);
    builder.compute(pointwise(ScalarOp::neg, 1, 1, DType::f32, DType::f32), {x}, y);
    builder.output("y", y);
    const LocalProgram program = local_program(builder.plan());
    REQUIRE(program.steps.size() == 1);
    CHECK(compute(program.steps[0]).inputs == program.inputs);
    CHECK(program.outputs == std::vector<int>{compute(program.steps[0]).output});
    CHECK(program.outputs != program.inputs);
}

TEST_CASE("a view in another shape is a reshape under the view's name") {
    PlanBuilder builder(make_mesh({{"a", 1}}));
    const int x = builder.input("x", DType::f32, {2, 3}), view = builder.buffer("flat", DType::f32, {6}),
              y = builder.buffer("y", DType::f32, {6});
    alias(builder, view, x, true);
    builder.compute(pointwise(ScalarOp::neg, 1, 1, DType::f32, DType::f32), {view}, y);
    builder.output("y", y);
    const LocalProgram program = local_program(builder.plan());
    REQUIRE(program.steps.size() == 2);
    const ProgramReshape& reshape = std::get<ProgramReshape>(program.steps[0].variant_ref());
    CHECK(reshape.input == program.inputs[0]);
    CHECK(program.values[static_cast<size_t>(reshape.output)].name == "flat");
    CHECK(program.values[static_cast<size_t>(reshape.output)].shape == Shape{6});
    CHECK(compute(program.steps[1]).inputs == std::vector<int>{reshape.output});
}

TEST_CASE("a loop hands on what a trip reads before it writes it, and what is read afterwards") {
    PlanBuilder builder(make_mesh({{"a", 1}}));
    const int x = builder.input("x", DType::f32, {4}); // read by every trip: not handed on
    const int sum = builder.input("sum", DType::f32, {4}), next = builder.buffer("next", DType::f32, {4});
    const int inner = builder.buffer("inner", DType::f32, {4}); // of one trip alone
    const int last = builder.buffer("last", DType::f32, {4});   // first written in the loop
    alias(builder, next, sum, false);
    const Pointwise add = pointwise(ScalarOp::add, 2, 1, DType::f32, DType::f32),
                    neg = pointwise(ScalarOp::neg, 1, 1, DType::f32, DType::f32);
    builder.begin_loop(0, 3);
    builder.compute(neg, {x}, inner);
    builder.compute(add, {sum, inner}, next);
    builder.compute(neg, {next}, last);
    builder.end_loop();
    builder.output("sum", next);
    builder.output("last", last);
    const LocalProgram program = local_program(builder.plan());
    REQUIRE(program.steps.size() == 2);
    const ProgramZeros& zeros = std::get<ProgramZeros>(program.steps[0].variant_ref());
    const ProgramLoop& made = loop(program.steps[1]);
    REQUIRE(made.carried.size() == 2);
    CHECK(made.carried[0].init == program.inputs[1]);
    CHECK(made.carried[1].init == zeros.output);
    const ProgramCompute& added = compute(made.body[1]);
    CHECK(added.inputs == std::vector<int>{made.carried[0].argument, compute(made.body[0]).output});
    CHECK(made.carried[0].yield == added.output);
    CHECK(made.carried[1].yield == compute(made.body[2]).output);
    CHECK(program.outputs == std::vector<int>{made.carried[0].result, made.carried[1].result});
    CHECK(compute(made.body[0]).inputs == std::vector<int>{program.inputs[0]});
}

TEST_CASE("what an inner loop changes is handed on by the outer one") {
    PlanBuilder builder(make_mesh({{"a", 1}}));
    const int x = builder.input("x", DType::f32, {4}), y = builder.buffer("y", DType::f32, {4});
    alias(builder, y, x, false);
    builder.begin_loop(0, 2);
    builder.begin_loop(1, 2);
    builder.compute(pointwise(ScalarOp::neg, 1, 1, DType::f32, DType::f32), {x}, y);
    builder.end_loop();
    builder.end_loop();
    builder.output("y", y);
    const LocalProgram program = local_program(builder.plan());
    const ProgramLoop& outer = loop(program.steps.at(0));
    const ProgramLoop& inner = loop(outer.body.at(0));
    REQUIRE(outer.carried.size() == 1);
    REQUIRE(inner.carried.size() == 1);
    CHECK(inner.carried[0].init == outer.carried[0].argument);
    CHECK(outer.carried[0].yield == inner.carried[0].result);
}
