// Plans that update their inputs, run step after step in the same arenas.
#include "executor/formats/tensor.h"
#include "tests/support/plan_builder.h"
#include "tests/support/plan_verdict.h"
#include "tests/support/sample_plan.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

// What updating_plan() computes, on whole values of which all elements are alike but for a and b.
struct State {
    double w = 1, u = 1, m = 1, count = 1, late = 0;
    void step(double x) {
        m += 4 * x; // the sum of four rows
        const double old = u;
        u += w;
        late = old + u;
        w -= m;
        count *= 2;
    }
};

std::vector<double> four(double value) { return std::vector<double>(4, value); }

void check_state(const RunResult& result, const State& state) {
    CHECK(values(result.outputs.at("w")) == four(state.w));
    CHECK(values(result.outputs.at("u")) == four(state.u));
    CHECK(values(result.outputs.at("m")) == four(state.m));
    CHECK(values(result.outputs.at("late")) == four(state.late));
    CHECK(values(result.outputs.at("count")) == std::vector<double>{state.count});
}

// loss = x, w' = w + x on one device.
Plan counting_plan() {
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f32, {}), w = b.input("w", DType::f32, {});
    const int loss = b.buffer("loss", DType::f32, {}), next = b.buffer("w'", DType::f32, {});
    Plan& plan = b.plan();
    plan.buffers[next].alias_of = w;
    plan.buffers[next].offset = plan.buffers[w].offset;
    plan.buffers[w].donated = true;
    plan.peak_bytes = plan.buffers[loss].offset + 4;
    Move flat;
    flat.flat = true;
    b.compute(flat, {x}, loss);
    b.compute(pointwise(ScalarOp::add, 2, 0, DType::f32, DType::f32), {w, x}, next);
    b.output("loss", loss);
    plan.outputs.push_back({"w", next, w});
    CHECK(plan_verdict(plan) == "fine");
    return plan;
}

} // namespace

TEST_CASE("steps: the next step finds the updates of the one before, and every other input as it was") {
    const Plan plan = updating_plan();
    State state;
    for (const int steps : {1, 2, 3, 4}) {
        CAPTURE(steps);
        state.step(1);
        for (const bool poison : {true, false}) {
            RunOptions options;
            options.steps = steps;
            options.poison = poison;
            options.workers = poison ? 1 : 2;
            options.inputs["a"] = make_tensor(DType::f32, {4}, [](i64 i) { return static_cast<double>(i); });
            const RunResult result = run_clean(plan, options);
            check_state(result, state);
            CHECK(result.steps == steps);
            CHECK(static_cast<int>(result.seconds.size()) == steps);
            // a and b change places
            CHECK(values(result.outputs.at("a"))[3] == (steps % 2 == 0 ? 3 : 1));
            CHECK(values(result.outputs.at("b"))[3] == (steps % 2 == 0 ? 1 : 3));
            // of a step: two devices send half of 16 bytes to scatter, and as much to gather
            CHECK(result.wire_bytes_total == 2 * 8 + 2 * 8);
            CHECK(result.touched_peak_bytes == plan.peak_bytes);
        }
    }
}

TEST_CASE("steps: data changes from step to step and begins again at its end") {
    RunOptions options;
    options.steps = 5;
    options.data["x"] = make_tensor(DType::f32, {2, 4, 4}, [](i64 i) { return i < 16 ? 1.0 : -2.0; });
    State state;
    for (const double x : {1.0, -2.0, 1.0, -2.0, 1.0}) state.step(x);
    check_state(run_clean(updating_plan(), options), state);
}

TEST_CASE("steps: scalars are there after each step, for the callback and in the result") {
    RunOptions options;
    options.steps = 4;
    options.data["x"] = make_tensor(DType::f32, {4}, [](i64 i) { return static_cast<double>(10 * i); });
    std::vector<double> seen;
    std::vector<double> parameters;
    options.after_step = [&](const StepView& view) {
        CHECK(view.step == static_cast<int>(seen.size()));
        CHECK(view.scalars.size() == 1); // w is a parameter, not a metric
        seen.push_back(view.scalars.at("loss"));
        std::map<std::string, Tensor> outputs;
        Diagnostics diagnostics;
        CHECK(view.read_outputs(outputs, diagnostics));
        parameters.push_back(values(outputs.at("w"))[0]);
        return true;
    };
    options.return_initial = true;
    const RunResult result = run_clean(counting_plan(), options);
    CHECK(seen == std::vector<double>{0, 10, 20, 30});
    CHECK(parameters == std::vector<double>{0, 10, 30, 60});
    CHECK(result.scalars.at("loss") == seen);
    CHECK(values(result.initial.at("w")) == std::vector<double>{0});
    CHECK(result.initial.size() == 1);
}

TEST_CASE("steps: a request to stop, or the callback, ends the run after the running step") {
    std::atomic<bool> stop = false;
    RunOptions options;
    options.steps = 1000;
    options.stop = &stop;
    options.after_step = [&](const StepView& view) {
        if (view.step == 2) stop = true;
        return true;
    };
    RunResult result = run_clean(counting_plan(), options);
    CHECK(result.steps == 3);
    CHECK(result.scalars.at("loss").size() == 3);
    options.stop = nullptr;
    options.after_step = [](const StepView& view) { return view.step < 4; };
    CHECK(run_clean(counting_plan(), options).steps == 5);
}

TEST_CASE("steps: data that does not fit is refused") {
    const Plan plan = updating_plan();
    const auto refused = [&](const std::string& name, Shape shape) {
        RunOptions options;
        options.data[name] = make_tensor(DType::f32, std::move(shape), [](i64) { return 1.0; });
        Diagnostics diagnostics;
        CHECK_FALSE(run_plan(plan, options, diagnostics));
        REQUIRE(diagnostics.all().size() == 1);
        return diagnostics.all()[0].code + " " + diagnostics.all()[0].message + "; " + diagnostics.all()[0].help;
    };
    CHECK(refused("x", {4, 4}) ==
          "E0602 data for 'x' is f32 (4, 4), which is one step without a dim of steps; what is the "
          "same in every step is given with --input x=FILE.npy; a file of data has the steps as "
          "its first dim: (STEPS, 4, 4)");
    CHECK(refused("x", {3, 4, 5}) == "E0602 data for 'x' is f32 (3, 4, 5), but the plan takes f32 (4, 4) in a step; "
                                     "a file of data has the steps as its first dim: (3, 4, 4)");
    CHECK(refused("x", {4}) == "E0602 data for 'x' is f32 (4,), but the plan takes f32 (4, 4) in a step; "
                               "a file of data has the steps as its first dim: (STEPS, 4, 4)");
    // Of data only those that no step updates.
    CHECK(refused("w", {1, 4}) == "E0602 'w' is updated by every step, so no data can be given for it; "
                                  "give what it begins with: --input w=FILE.npy");
    CHECK(refused("y", {1, 4}) == "E0603 the plan has no input 'y'; there are x");
}

} // namespace shard
