#include "planner/schedule/schedule.h"
#include "plans/plan/plan.h"
#include "tests/support/local_graph.h"
#include "tests/support/plan_verdict.h"
#include "tests/support/sample_plan.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

Buffer& named(Plan& plan, const std::string& name) {
    for (Buffer& buffer : plan.buffers)
        if (buffer.name == name) return buffer;
    FAIL("no buffer " << name);
    return plan.buffers.front();
}

Compute& compute(Plan& plan, size_t step) { return std::get<Compute>(plan.steps[step].variant_ref()); }

template<class T>
size_t find_step(const Plan& plan) {
    for (size_t i = 0; i < plan.steps.size(); ++i)
        if (std::holds_alternative<T>(plan.steps[i].variant_ref())) return i;
    FAIL("no such step");
    return 0;
}

} // namespace

TEST_CASE("check of a plan: the samples are fine") {
    CHECK(first_problem(sample_plan()) == "fine");
    CHECK(first_problem(looping_plan()) == "fine");
}

TEST_CASE("check of a plan: buffers outside the arena or of another size are refused") {
    const auto with = [](void (*change)(Buffer&)) {
        Plan plan = sample_plan();
        change(named(plan, "x"));
        return first_problem(plan);
    };
    CHECK(with([](Buffer& b) { b.offset = -64; }) == "buffers[0] 'x': its extent is not inside the arena");
    CHECK(with([](Buffer& b) { b.offset = i64{1} << 40; }) == "buffers[0] 'x': its extent is not inside the arena");
    CHECK(with([](Buffer& b) { b.offset = 8; }) == "buffers[0] 'x': its extent is not inside the arena");
    CHECK(with([](Buffer& b) { b.bytes = 64; }) == "buffers[0] 'x': 64 bytes for a shape of 128");
    CHECK(with([](Buffer& b) { b.shape[0] = 0; }) == "buffers[0] 'x': the shape (0, 8) has a dim without elements");
    CHECK(with([](Buffer& b) {
              b.shape = b.global_shape = {i64{1} << 40, i64{1} << 40};
          }) == "buffers[0] 'x': the shape's bytes do not fit 64 bits");
    CHECK(with([](Buffer& b) { b.global_shape[0] = 10; }) ==
          "buffers[0] 'x': the local shape is (4, 8), the sharding gives (5, 8)");
    CHECK(with([](Buffer& b) { b.sharding.dims[0].axes[0].axis = 9; }) ==
          "buffers[0] 'x': the sharding names axes twice or that the mesh lacks");
    CHECK(with([](Buffer& b) { b.alias_of = 0; }) == "buffers[0] 'x': an alias of a buffer that comes later");
    CHECK(with([](Buffer& b) { b.id = 3; }) == "buffers[0] 'x': its id is not its place");
}

TEST_CASE("check of a plan: two live buffers may not share bytes") {
    Plan plan = sample_plan();
    named(plan, "w").offset = named(plan, "x").offset;
    CHECK(first_problem(plan) == "inputs: 'w' lies where another input lies");
    plan = sample_plan();
    named(plan, "i").offset = named(plan, "whole").offset;
    named(plan, "sum").offset = named(plan, "whole").offset;
    CHECK(first_problem(plan) == "steps[3]: writes 'i' over a buffer that is alive");
}

TEST_CASE("check of a plan: kernels fit their operands") {
    Plan plan = sample_plan();
    compute(plan, 0).kernel.change([](Kernel& kernel) { std::get<Contract>(kernel).rhs = {0, 2}; });
    CHECK(first_problem(plan) == "steps[0]: contract: label 0 has two sizes");
    plan = sample_plan();
    compute(plan, 1).kernel.change([](Kernel& kernel) { std::get<Pointwise>(kernel).steps[1].args[0] = 1; });
    CHECK(first_problem(plan) == "steps[1]: pointwise: a step reads a later one");
    plan = sample_plan();
    compute(plan, 1).kernel.change([](Kernel& kernel) { std::get<Pointwise>(kernel).steps[0].args[0] = 4; });
    CHECK(first_problem(plan) == "steps[1]: pointwise: a step reads an input that is not there");
    plan = sample_plan();
    compute(plan, 3).kernel.change(
        [](Kernel& kernel) { std::get<Generate>(kernel).start[0] = constant(5); }); // 5 + 4 > 8
    CHECK(first_problem(plan) == "steps[3]: generate: a block outside the whole");
    plan = sample_plan();
    compute(plan, 0).inputs = {0, 77};
    CHECK(first_problem(plan) == "steps[0]: an input that is not a buffer");
    plan = sample_plan();
    compute(plan, 0).scratch_bytes = i64{1} << 60;
    CHECK(first_problem(plan) == "steps[0]: scratch outside the arena");
}

TEST_CASE("check of a plan: nothing is read before it is written or after it is released") {
    Plan plan = sample_plan();
    compute(plan, 1).inputs = {named(plan, "whole").id};
    CHECK(first_problem(plan) == "steps[1]: reads 'whole' before it holds a value");
    plan = sample_plan();
    std::swap(plan.steps[0], plan.steps[1]);
    CHECK(first_problem(plan) == "steps[0]: reads 'h' before it holds a value");
    // `a` took over the bytes of `h`: h is gone.
    plan = sample_plan();
    std::get<Start>(plan.steps[2].variant_ref()).input = named(plan, "h").id;
    CHECK(first_problem(plan) == "steps[2]: sends 'h' before it holds a value");
    plan = sample_plan();
    plan.outputs[0].buffer = named(plan, "moved").id;
    CHECK(first_problem(plan) == "outputs: 'z' does not hold a value at the end");
}

TEST_CASE("check of a plan: starts and waits are paired") {
    Plan plan = sample_plan();
    plan.steps.erase(plan.steps.begin() + static_cast<std::ptrdiff_t>(find_step<Wait>(plan)));
    CHECK(first_problem(plan) ==
          "steps[4]: releases 'h' while a collective uses it"); // a, which is sent, is in the bytes of h
    plan = sample_plan();
    plan.steps.pop_back(); // the last Wait
    CHECK(first_problem(plan) == "steps: nobody waits for token 1");
    plan = sample_plan();
    plan.steps.insert(plan.steps.begin(), Wait{7});
    CHECK(first_problem(plan) == "steps[0]: waits for token 7, which is not in flight");
}

TEST_CASE("check of a plan: collectives are what their kind says") {
    const auto with = [](void (*change)(Collective&)) {
        Plan plan = sample_plan();
        change(std::get<Start>(plan.steps[2].variant_ref()).collective);
        return first_problem(plan);
    };
    CHECK(with([](Collective& c) { c.moves[0].from = 2; }) == "steps[2]: a collective's move names the wrong dims");
    CHECK(with([](Collective& c) { c.moves[0].to = 0; }) == "steps[2]: a collective's move names the wrong dims");
    CHECK(with([](Collective& c) { c.moves.clear(); }) == "steps[2]: moves do not go with this kind of collective");
    CHECK(with([](Collective& c) { c.moves[0].from = 0; }) ==
          "steps[2]: the result is f32 (4, 8), the collective gives f32 (16, 2)");
    CHECK(with([](Collective& c) { c.axes[0].axis = 0; }) ==
          "steps[2]: the collective names axes twice or that the mesh lacks");
    CHECK(with([](Collective& c) {
              c.axes[0] = {0, 1, 2};
          }) == "steps[2]: the moves use other axes than the collective's group");
    CHECK(with([](Collective& c) { c.root = 2; }) == "steps[2]: the root is not in the group");
}

TEST_CASE("check of a plan: only a collective that works in place may write into its input, which is gone then") {
    const auto plan_of = [](bool gathers) {
        LocalGraph g(mesh_of({{"m", 4}}));
        const ValueId a = g.pointwise("a", ScalarOp::exp, {g.input("x", {64}, "[m]")});
        g.output(gathers ? g.all_gather("z", {"m"}, 0, a) : g.all_reduce("z", {"m"}, a));
        return schedule(g.local(), g.mesh());
    };
    Plan plan = plan_of(false);
    CHECK(first_problem(plan) == "fine");
    CHECK(named(plan, "z").alias_of == named(plan, "a").id);
    plan.outputs[0].buffer = named(plan, "a").id;
    CHECK(first_problem(plan) == "outputs: 'z' does not hold a value at the end");
    plan = plan_of(false);
    std::swap(plan.steps[1], plan.steps[2]);
    plan.steps.resize(2);
    CHECK(first_problem(plan) == "steps[1]: waits for token 0, which is not in flight");

    plan = plan_of(true);
    const int a = named(plan, "a").id;
    std::get<Start>(plan.steps[1].variant_ref()).output = a;
    CHECK(first_problem(plan) == "steps[1]: a collective into its own input");
}

TEST_CASE("check of a plan: loops are the same in every trip, and their affine terms are in scope") {
    Plan plan = looping_plan();
    Loop* loop = &std::get<Loop>(plan.steps[3].variant_ref());
    loop->body.pop_back(); // `piece` stays alive: the second trip finds another state than the first
    CHECK(first_problem(plan) == "fine");
    loop->body.insert(loop->body.begin(), Release{3});
    CHECK(first_problem(plan).find("releases 'piece', which is not alive") != std::string::npos);

    plan = looping_plan();
    loop = &std::get<Loop>(plan.steps[3].variant_ref());
    loop->trips = 0;
    CHECK(first_problem(plan) == "steps[3]: a loop of no trips");
    loop->trips = i64{1} << 62; // twice the trip leaves what can be computed
    CHECK(first_problem(plan) == "steps[3].loop.body[0]: move: a start outside what can be computed");
    loop->trips = 3;
    loop->index = 6; // the slice starts at a multiple of loop 5
    CHECK(first_problem(plan) == "steps[3].loop.body[0]: move: a start outside what can be computed");
}

TEST_CASE("check of a plan: the peak is what the steps reach") {
    Plan plan = sample_plan();
    plan.peak_bytes -= 1;
    CHECK(first_problem(plan).starts_with("peak_bytes: the steps reach byte "));
}

TEST_CASE("check of a plan: layers are leading dims, outer ones first") {
    Plan plan = sample_plan();
    plan.inputs[0].layers = {1, 2};
    CHECK(first_problem(plan) == "fine");
    for (const std::vector<i64>& layers : {std::vector<i64>{2, 1}, {1, 1}, {0}, {1, 2, 3, 4, 5}}) {
        plan.inputs[0].layers = layers;
        CHECK(first_problem(plan) == "inputs[0]: its layers are not those of leading dims");
    }
}

TEST_CASE("check of a plan: outputs are files in the folder that the user names, and nowhere else") {
    for (const std::string name : {"../z", "/z", "a/b", ""}) {
        Plan plan = sample_plan();
        plan.outputs[0].name = name;
        CHECK(first_problem(plan) == "outputs[0]: '" + name + "' is not a name for a file");
    }
}
