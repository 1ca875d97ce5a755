// Whole runs of plans made by hand.
#include "executor/run/required_bytes.h"
#include "tests/support/allocations.h"
#include "tests/support/plan_builder.h"
#include "tests/support/plan_verdict.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace shard {
namespace {

double small_integer(i64 i) { return static_cast<double>((i * 7 + 3) % 5 - 2); }

// z = relu(x w1) w2 on mesh data 2, model 4, with x [data | -], w1 [- | model], w2 [model | -].
Plan dot_relu_dot(i64 batch, i64 embed, i64 hidden) {
    PlanBuilder b(make_mesh({{"data", 2}, {"model", 4}}));
    const int x = b.input("x", DType::f32, {batch, embed}, "[data | -]");
    const int w1 = b.input("w1", DType::f32, {embed, hidden}, "[- | model]");
    const int w2 = b.input("w2", DType::f32, {hidden, embed}, "[model | -]");
    const int h = b.buffer("h", DType::f32, {batch, hidden}, "[data | model]");
    const int a = b.buffer("a", DType::f32, {batch, hidden}, "[data | model]");
    const int part = b.buffer("z.partial", DType::f32, {batch, embed}, "[data | -] U{model}");
    const int z = b.buffer("z", DType::f32, {batch, embed}, "[data | -]");
    const Contract dot = {{0, 1}, {1, 2}, {0, 2}};
    b.compute(dot, {x, w1}, h);
    Pointwise relu = pointwise(ScalarOp::max, 1, 2, DType::f32, DType::f32);
    relu.steps.insert(relu.steps.begin() + 1, ScalarStep{});
    relu.steps.back().args[1] = 1;
    b.compute(relu, {h}, a);
    b.compute(dot, {a, w2}, part);
    Collective sum;
    sum.axes = b.axes({"model"});
    b.collective("all_reduce", sum, part, z);
    b.output("z", z);
    return b.plan();
}

std::vector<double> matmul(const std::vector<double>& a, const std::vector<double>& b, i64 m, i64 k, i64 n) {
    std::vector<double> c(static_cast<size_t>(m * n), 0);
    for (i64 i = 0; i < m; ++i)
        for (i64 l = 0; l < k; ++l)
            for (i64 j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
    return c;
}

} // namespace

TEST_CASE("DotReluDot on 2 x 4 devices gives the exact result and moves the predicted bytes") {
    const i64 batch = 8, embed = 16, hidden = 32;
    const Plan plan = dot_relu_dot(batch, embed, hidden);
    CHECK(plan_verdict(plan) == "fine");
    RunOptions options;
    options.inputs["x"] = make_tensor(DType::f32, {batch, embed}, small_integer);
    options.inputs["w1"] = make_tensor(DType::f32, {embed, hidden}, [](i64 i) { return small_integer(i + 1); });
    options.inputs["w2"] = make_tensor(DType::f32, {hidden, embed}, [](i64 i) { return small_integer(i + 2); });
    std::vector<double> h = matmul(values(options.inputs["x"]), values(options.inputs["w1"]), batch, embed, hidden);
    for (double& value : h) value = std::max(value, 0.0);
    const std::vector<double> expected = matmul(h, values(options.inputs["w2"]), batch, hidden, embed);

    for (int workers : {1, 2, 5}) {
        CAPTURE(workers);
        options.workers = workers;
        const RunResult result = run_clean(plan, options);
        CHECK(values(result.outputs.at("z")) == expected);
        // 2 groups, 2 * (4 - 1) times the local 4 x 16 floats
        CHECK(result.wire_bytes_total == 2 * 2 * 3 * 4 * 16 * 4);
        CHECK(result.wire_bytes_by_start == std::vector<i64>{result.wire_bytes_total});
        CHECK(result.touched_peak_bytes == plan.peak_bytes);
        CHECK(result.seconds.size() == 1);
    }
    options.steps = 3;
    const RunResult result = run_clean(plan, options);
    CHECK(values(result.outputs.at("z")) == expected);
    CHECK(result.seconds.size() == 3);
    CHECK(result.wire_bytes_total == 2 * 2 * 3 * 4 * 16 * 4);
}

TEST_CASE("kernels that idle cores help with give the same bits with any number of workers") {
    PlanBuilder b(make_mesh({{"one", 1}}));
    const int x = b.input("x", DType::f32, {300, 2100}), w = b.input("w", DType::f32, {2100, 2200}),
              v = b.input("v", DType::f32, {40, 64, 65}), u = b.input("u", DType::f32, {40, 65, 60}),
              h = b.buffer("h", DType::f32, {300, 2200}), a = b.buffer("a", DType::f32, {300, 2200}),
              s = b.buffer("s", DType::f32, {300}), c = b.buffer("c", DType::f32, {2200}),
              p = b.buffer("p", DType::f32, {40, 64, 60});
    b.compute(Contract{{0, 1}, {1, 2}, {0, 2}}, {x, w}, h);
    b.compute(pointwise(ScalarOp::tanh, 1, 2, DType::f32, DType::f32), {h}, a);
    b.compute(Reduce{{1}, ReduceOp::sum}, {a}, s);
    b.compute(Reduce{{0}, ReduceOp::sum}, {a}, c);
    b.compute(Contract{{0, 1, 2}, {0, 2, 3}, {0, 1, 3}}, {v, u}, p);
    b.output("a", a);
    b.output("s", s);
    b.output("c", c);
    b.output("p", p);
    CHECK(plan_verdict(b.plan()) == "fine");
    RunOptions options;
    const auto uneven = [](i64 i) { return static_cast<double>(i * 7919 % 1009) / 1009 - 0.5; };
    for (const auto& [name, shape] : std::map<std::string, Shape>{
             {"x", {300, 2100}}, {"w", {2100, 2200}}, {"v", {40, 64, 65}}, {"u", {40, 65, 60}}})
        options.inputs[name] = make_tensor(DType::f32, shape, uneven);
    options.workers = 1;
    const RunResult alone = run_clean(b.plan(), options);
    const std::vector<double> first = values(alone.outputs.at("a"));
    const double sum = std::accumulate(first.begin(), first.begin() + 2200, 0.0);
    CHECK(values(alone.outputs.at("s"))[0] == doctest::Approx(sum).epsilon(1e-4));
    for (int workers : {2, 5}) {
        CAPTURE(workers);
        options.workers = workers;
        const RunResult helped = run_clean(b.plan(), options);
        for (const auto& [name, tensor] : alone.outputs) {
            CAPTURE(name);
            CHECK(helped.outputs.at(name).bytes == tensor.bytes);
        }
    }
}

TEST_CASE("the guide's DotReluDot moves 24576 bytes per device") {
    const Plan plan = dot_relu_dot(8, 1024, 1024);
    CHECK(run_clean(plan, {}).wire_bytes_total == 24576 * 8);
}

TEST_CASE("a loop of collectives finishes with few workers and many devices") {
    for (const i64 devices : {8, 64, 512}) {
        CAPTURE(devices);
        PlanBuilder b(make_mesh({{"a", devices}}));
        const int x = b.input("x", DType::f32, {devices, 4}, "[a | -]");
        const int y = b.buffer("y", DType::f32, {devices, 4}, "[a | -]");
        const int s = b.buffer("s", DType::f32, {4}, "[-]");
        Collective sum;
        sum.axes = b.axes({"a"});
        b.begin_loop(0, 3);
        Pointwise step = pointwise(ScalarOp::add, 2, 2, DType::f32, DType::f32);
        ScalarStep trip;
        trip.op = ScalarOp::index;
        trip.args[0] = 0;
        trip.dtype = DType::f32;
        trip.start.terms.push_back({AffineTerm::Kind::loop, {}, 0, 10});
        step.steps[1] = trip;
        step.input_dims.pop_back();
        b.compute(step, {x}, y); // x + 10 * trip
        Move flat;
        flat.flat = true;
        b.compute(flat, {y}, s);
        b.collective("all_reduce", sum, s, s);
        b.compute(flat, {s}, x);
        b.end_loop();
        b.output("s", s);
        RunOptions options;
        options.workers = devices == 512 ? 2 : 1;
        options.inputs["x"] = make_tensor(DType::f32, {devices, 4}, [](i64 i) { return static_cast<double>(i % 4); });
        const RunResult result = run_clean(b.plan(), options);
        const double n = static_cast<double>(devices);
        std::vector<double> expected;
        for (int j = 0; j < 4; ++j) expected.push_back(n * (n * (n * j + 10) + 20));
        const std::vector<double> got = values(result.outputs.at("s"));
        for (size_t j = 0; j < 4; ++j) CHECK(got[j] == static_cast<double>(static_cast<float>(expected[j])));
        CHECK(result.wire_bytes_total == 3 * 2 * (devices - 1) * 16);
    }
}

TEST_CASE("work between start and wait overlaps with the collective") {
    PlanBuilder b(make_mesh({{"a", 4}}));
    const int x = b.input("x", DType::i64, {4, 3}, "[a | -]");
    const int all = b.buffer("all", DType::i64, {4, 3});
    const int twice = b.buffer("twice", DType::i64, {4, 3}, "[a | -]");
    Collective gather;
    gather.axes = b.axes({"a"});
    gather.moves = {{0, -1, gather.axes}};
    const int token = b.start("all_gather", gather, x, all);
    b.compute(pointwise(ScalarOp::add, 2, 2, DType::i64, DType::i64), {x, x}, twice);
    b.wait(token);
    b.output("all", all);
    b.output("twice", twice);
    RunOptions options;
    options.workers = 1;
    options.inputs["x"] = make_tensor(DType::i64, {4, 3}, [](i64 i) { return static_cast<double>(i); });
    const RunResult result = run_clean(b.plan(), options);
    CHECK(values(result.outputs.at("all")) == values(options.inputs["x"]));
    CHECK(values(result.outputs.at("twice"))[11] == 22);
}

TEST_CASE("poison shows a read of released memory") {
    PlanBuilder b(make_mesh({{"a", 2}}));
    const int x = b.input("x", DType::f32, {8}, "[a]");
    const int y = b.buffer("y", DType::f32, {8}, "[a]");
    b.release(x); // too early
    b.compute(pointwise(ScalarOp::neg, 1, 1, DType::f32, DType::f32), {x}, y);
    b.output("y", y);
    RunOptions options;
    options.inputs["x"] = make_tensor(DType::f32, {8}, small_integer);
    for (double value : values(run_clean(b.plan(), options).outputs.at("y"))) CHECK(std::isnan(value));
    options.poison = false;
    CHECK(values(run_clean(b.plan(), options).outputs.at("y"))[0] == -small_integer(0));
}

TEST_CASE("replicas that differ are reported") {
    PlanBuilder b(make_mesh({{"a", 2}}));
    const int x = b.input("x", DType::f32, {8}, "[a]");
    const int y = b.buffer("y", DType::f32, {4}); // claims to be replicated, but is a shard
    Move flat;
    flat.flat = true;
    b.compute(flat, {x}, y);
    b.output("y", y);
    RunOptions options;
    options.inputs["x"] = make_tensor(DType::f32, {8}, [](i64 i) { return static_cast<double>(i); });
    Diagnostics diagnostics;
    CHECK_FALSE(run_plan(b.plan(), options, diagnostics));
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].code == "E0604");
    CHECK(diagnostics.all()[0].help.find("plan the model again") != std::string::npos);
}

TEST_CASE("inputs that do not fit and plans that are too large are refused") {
    const Plan plan = dot_relu_dot(8, 16, 32);
    RunOptions options;
    options.inputs["W1"] = make_tensor(DType::f32, {8, 16}, small_integer);
    options.inputs["w1"] = make_tensor(DType::f64, {16, 32}, small_integer);
    options.inputs["w2"] = make_tensor(DType::f32, {32, 15}, small_integer);
    Diagnostics diagnostics;
    CHECK_FALSE(run_plan(plan, options, diagnostics));
    REQUIRE(diagnostics.all().size() == 3);
    CHECK(diagnostics.all()[0].code == "E0603");
    CHECK(diagnostics.all()[0].help == "did you mean 'w1'?");
    CHECK(diagnostics.all()[1].code == "E0602");
    CHECK(diagnostics.all()[2].message == "input 'w2' is f32 (32, 15), but the plan takes f32 (32, 16)");

    Plan large = plan;
    large.arena_bytes = i64{1} << 46;
    CHECK(required_bytes(large) > (i64{8} << 46));
    Diagnostics refused;
    CHECK_FALSE(run_plan(large, {}, refused));
    CHECK(refused.all().at(0).code == "E0601");
    large.arena_bytes = i64{1} << 62;
    CHECK(required_bytes(large) > 0);
}

TEST_CASE("what a run needs for each device is known before, and a million devices of a few bytes are no gigabytes") {
    const auto plan_on = [](i64 devices) {
        PlanBuilder b(make_mesh({{"a", devices / 4}, {"b", 4}}));
        const int x = b.input("x", DType::f32, {devices}, "[a,b]");
        int y = x;
        for (const std::string axis : {"a", "b", "a", "b"}) {
            const int next = b.buffer("y", DType::f32, {devices}, "[a,b]");
            Collective permute; // in place: every device to itself
            permute.axes = b.axes({axis});
            b.collective("all_reduce", permute, y, next);
            y = next;
        }
        b.output("y", y);
        return b.plan();
    };
    for (const i64 devices : {1024, 8192}) {
        const Plan plan = plan_on(devices);
        RunOptions options;
        options.workers = 2;
        Diagnostics diagnostics;
        const CountAllocations count;
        REQUIRE(run_plan(plan, options, diagnostics));
        CAPTURE(devices);
        CHECK(count.most_bytes() <= bookkeeping_bytes(plan));
        CHECK(count.most_bytes() > bookkeeping_bytes(plan) / 2);
    }
    const Plan million = plan_on(i64{1} << 20);
    CHECK(required_bytes(million) < i64{2} << 30);
    CHECK(required_bytes(million) - bookkeeping_bytes(million) < i64{600} << 20);
    // Arenas of more bytes than can be counted need more than there is, whatever the machine.
    Plan endless = plan_on(1024);
    endless.arena_bytes = i64{1} << 56;
    CHECK(required_bytes(endless) == most_required_bytes);
    Diagnostics refused;
    CHECK_FALSE(run_plan(endless, {}, refused));
    REQUIRE(refused.all().size() == 1);
    CHECK(refused.all()[0].code == "E0601");
    CHECK(refused.all()[0].message == "running this plan needs more memory than any machine has");
}

TEST_CASE("matrices with more rows than BLAS can count are refused before anything is allocated") {
    for (const i64 rows : {i64{1} << 31, (i64{1} << 31) - 1}) {
        PlanBuilder b(make_mesh({}));
        const int x = b.input("x", DType::f32, {1, rows}), y = b.input("y", DType::f32, {rows, 1});
        const int z = b.buffer("z", DType::f32, {1, 1});
        b.compute(Contract{{0, 1}, {1, 2}, {0, 2}}, {x, y}, z);
        b.output("z", z);
        b.plan().arena_bytes = i64{1} << 46; // no machine has it, so nothing is run
        Diagnostics refused;
        CHECK_FALSE(run_plan(b.plan(), {}, refused));
        CHECK(refused.all().at(0).code == (rows == i64{1} << 31 ? "E0608" : "E0601"));
    }
}

TEST_CASE("devices that wait for each other are a bug, not a hang") {
    PlanBuilder b(make_mesh({{"a", 2}}));
    const int x = b.input("x", DType::f32, {4}, "[a]");
    Collective sum;
    sum.axes = b.axes({"a"});
    b.collective("all_reduce", sum, x, x);
    b.plan().steps.push_back(Wait{0}); // complete already
    b.output("x", x);
    CHECK_NOTHROW(run_clean(b.plan(), {}));
    b.plan().steps.push_back(Wait{7});
    Diagnostics diagnostics;
    CHECK_THROWS_AS(run_plan(b.plan(), {}, diagnostics), InternalError);
}

TEST_CASE("what would take hours to emulate is refused: too many devices, or too many steps of all of them") {
    const auto refusal = [](const Plan& plan) {
        Diagnostics diagnostics;
        CHECK_FALSE(run_plan(plan, {}, diagnostics).has_value());
        REQUIRE(diagnostics.all().size() == 1);
        CHECK(diagnostics.all()[0].code == "E0609");
        return diagnostics.all()[0].message;
    };
    for (const i64 devices : {(i64{1} << 20) + 1, i64{10000000}, i64{1} << 40}) {
        PlanBuilder b(make_mesh({{"a", devices}}));
        CHECK(refusal(b.plan()) ==
              fmt::format("the plan is for {} devices, and at most 1048576 are emulated", devices));
    }
    const auto looping = [](i64 devices, i64 outer, i64 inner) {
        PlanBuilder b(make_mesh({{"a", devices}}));
        b.begin_loop(0, outer);
        b.begin_loop(1, inner);
        b.end_loop();
        b.end_loop();
        return b.plan();
    };
    const auto executed = [](const std::string& count) {
        return "the devices execute " + count + " of the plan's steps together, and at most 4294967296 are emulated";
    };
    // A trip of the outer loop is a step of its own, with those of the inner loop.
    CHECK(refusal(looping(4, 1000, 1 << 21)) == executed("8388612000"));
    CHECK(refusal(looping(1, i64{1} << 62, 1)) == executed("2^63 or more"));
    CHECK(refusal(looping(1, i64{1} << 31, i64{1} << 31)) == executed("4611686020574871552"));
    CHECK(refusal(looping(1 << 20, 1 << 10, 4)) == executed("5368709120"));
    Diagnostics none;
    CHECK(run_plan(looping(4, 3, 5), {}, none).has_value());
}

TEST_CASE("each device makes its own shard of an input, and layouts agree") {
    for (const std::string sharding : {"[- | -]", "[a | -]", "[- | b]", "[b | a]", "[a,b | -]"}) {
        CAPTURE(sharding);
        PlanBuilder b(make_mesh({{"a", 2}, {"b", 3}}));
        const int x = b.input("x", DType::f32, {6, 12}, sharding);
        Random random;
        random.distribution.kind = DistributionKind::normal;
        random.key = key_from_seed(7);
        b.plan().inputs[0].init.source = random;
        b.output("x", x);
        const RunResult result = run_clean(b.plan(), {});
        PlanBuilder one(make_mesh({{"a", 1}}));
        const int y = one.input("x", DType::f32, {6, 12});
        one.plan().inputs[0].init.source = random;
        one.output("x", y);
        CHECK(result.outputs.at("x").bytes == run_clean(one.plan(), {}).outputs.at("x").bytes);
    }
}

} // namespace shard
