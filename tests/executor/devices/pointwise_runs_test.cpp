#include "executor/devices/pointwise_runs.h"

#include "tests/support/plan_builder.h"
#include "tests/support/plan_verdict.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

const Shape square = {200, 200};

// Plans of a few steps over squares; the last buffer is the output.
struct Squares {
    PlanBuilder b{make_mesh({{"one", 1}})};
    int x = b.input("x", DType::f32, square), y = b.input("y", DType::f32, square);

    int made(const std::string& name, ScalarOp op, std::vector<int> inputs) {
        return into(b.buffer(name, DType::f32, square), op, std::move(inputs));
    }
    int into(int output, ScalarOp op, std::vector<int> inputs) {
        const int count = static_cast<int>(inputs.size());
        b.compute(pointwise(op, count, 2, DType::f32, DType::f32), std::move(inputs), output);
        return output;
    }
    // Reads its second input with its dims exchanged.
    int turned(const std::string& name, std::vector<int> inputs) {
        Pointwise kernel = pointwise(ScalarOp::sub, 2, 2, DType::f32, DType::f32);
        kernel.input_dims[1] = {1, 0};
        const int output = b.buffer(name, DType::f32, square);
        b.compute(kernel, std::move(inputs), output);
        return output;
    }
};

std::vector<size_t> lengths(const Plan& plan) {
    Program program = flatten(plan);
    find_pointwise_runs(plan, program);
    std::vector<size_t> lengths;
    for (size_t i = 0; i < program.instructions.size(); i += lengths.back())
        lengths.push_back(program.instructions[i].together);
    return lengths;
}

// Steps are timed one by one, so nothing runs together then.
void check_same_results(const Plan& plan) {
    RunOptions options;
    for (const char* name : {"x", "y"})
        options.inputs[name] =
            make_tensor(DType::f32, square, [&](i64 i) { return static_cast<double>((i * 31 + name[0]) % 1013); });
    options.timed = true;
    const RunResult one_by_one = run_clean(plan, options);
    options.timed = false;
    for (bool poison : {false, true})
        for (int workers : {1, 3}) {
            options.poison = poison;
            options.workers = workers;
            const RunResult result = run_clean(plan, options);
            for (const auto& [name, tensor] : one_by_one.outputs) CHECK(result.outputs.at(name).bytes == tensor.bytes);
        }
}

} // namespace

TEST_CASE("pointwise steps over one shape run together, releases between them too") {
    Squares s;
    const int a = s.made("a", ScalarOp::add, {s.x, s.y}), m = s.made("m", ScalarOp::mul, {a, s.y});
    s.b.release(a);
    const int out = s.made("out", ScalarOp::sub, {m, s.x});
    s.b.release(m);
    s.b.output("out", out);
    CHECK(lengths(s.b.plan()) == std::vector<size_t>{4, 1}); // what is released last waits for nobody
    check_same_results(s.b.plan());
}

TEST_CASE("a step that reads other blocks of what another writes, or writes over them, runs after it") {
    Squares turned;
    const int a = turned.made("a", ScalarOp::add, {turned.x, turned.y});
    turned.b.output("out", turned.turned("out", {turned.x, a}));
    CHECK(lengths(turned.b.plan()) == std::vector<size_t>{1, 1});
    check_same_results(turned.b.plan());

    Squares over; // the second step's result lies where the first reads y turned
    const int first = over.turned("first", {over.x, over.y});
    const int second = over.b.buffer("second", DType::f32, square);
    over.b.plan().buffers[second].offset = over.b.plan().buffers[over.y].offset;
    over.b.release(over.y);
    over.into(second, ScalarOp::mul, {first, over.x});
    over.b.output("out", second);
    CHECK(lengths(over.b.plan()) == std::vector<size_t>{1, 1, 1});
    check_same_results(over.b.plan());

    Squares reused; // what is released before the first step may lie where it writes
    const int dead = reused.made("dead", ScalarOp::add, {reused.x, reused.y});
    const int kept_sums = reused.b.buffer("sums", DType::f32, {200});
    reused.b.compute(Reduce{{1}, ReduceOp::sum}, {dead}, kept_sums);
    const int again = reused.b.buffer("again", DType::f32, square);
    reused.b.plan().buffers[again].offset = reused.b.plan().buffers[dead].offset;
    reused.b.release(dead);
    reused.into(again, ScalarOp::sub, {reused.x, reused.y});
    reused.b.output("out", reused.made("out", ScalarOp::mul, {again, reused.x}));
    reused.b.output("sums", kept_sums);
    CHECK(lengths(reused.b.plan()) == std::vector<size_t>{1, 1, 1, 2});
    check_same_results(reused.b.plan());

    Squares in_place; // its own block is all that it writes over
    const int sum = in_place.made("sum", ScalarOp::add, {in_place.x, in_place.y});
    const int next = in_place.b.buffer("next", DType::f32, square);
    in_place.b.plan().buffers[next].offset = in_place.b.plan().buffers[sum].offset;
    in_place.into(next, ScalarOp::mul, {sum, in_place.y});
    in_place.b.output("out", next);
    CHECK(lengths(in_place.b.plan()) == std::vector<size_t>{1, 1}); // both write one place

    Squares updated;
    const int grown = updated.made("grown", ScalarOp::add, {updated.x, updated.y});
    const int kept = updated.b.buffer("kept", DType::f32, square);
    updated.b.plan().buffers[kept].offset = updated.b.plan().buffers[updated.x].offset;
    updated.into(kept, ScalarOp::mul, {grown, updated.x});
    updated.b.output("out", kept);
    CHECK(lengths(updated.b.plan()) == std::vector<size_t>{2});
    check_same_results(updated.b.plan());
}

TEST_CASE("what is small, of another shape or no pointwise step ends a run") {
    PlanBuilder b(make_mesh({{"one", 1}}));
    const int x = b.input("x", DType::f32, {8, 8}), y = b.buffer("y", DType::f32, {8, 8}),
              z = b.buffer("z", DType::f32, {8, 8});
    b.compute(pointwise(ScalarOp::add, 2, 2, DType::f32, DType::f32), {x, x}, y);
    b.compute(pointwise(ScalarOp::add, 2, 2, DType::f32, DType::f32), {y, x}, z);
    b.output("z", z);
    CHECK(lengths(b.plan()) == std::vector<size_t>{1, 1});

    Squares s;
    const int a = s.made("a", ScalarOp::add, {s.x, s.y});
    const int sums = s.b.buffer("sums", DType::f32, {200});
    s.b.compute(Reduce{{1}, ReduceOp::sum}, {a}, sums);
    const int c = s.made("c", ScalarOp::mul, {a, s.y});
    s.b.output("c", c);
    s.b.output("sums", sums);
    CHECK(lengths(s.b.plan()) == std::vector<size_t>{1, 1, 1});
    check_same_results(s.b.plan());
}

} // namespace shard
