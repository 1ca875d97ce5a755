#include "executor/run/gather_outputs.h"
#include "tests/support/plan_builder.h"
#include "tests/support/thread_ranks.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

// Of all ranks, what the first one reports; none has a result.
std::string refused_by_all(const Plan& plan, const RunOptions& options, int count) {
    std::vector<Diagnostics> diagnostics(count);
    on_thread_ranks(count, [&](Ranks& ranks) {
        RunOptions own = options;
        own.ranks = &ranks;
        CHECK_FALSE(run_plan(plan, own, diagnostics[ranks.rank()]));
    });
    REQUIRE(diagnostics.front().all().size() == 1);
    return diagnostics.front().all()[0].code + ": " + diagnostics.front().all()[0].message;
}

} // namespace

TEST_CASE("replicas that differ are found on whatever ranks they are") {
    PlanBuilder b(make_mesh({{"a", 4}}));
    const int x = b.input("x", DType::f32, {8}, "[a]");
    const int y = b.buffer("y", DType::f32, {2}); // claims to be replicated, but is a shard
    Move flat;
    flat.flat = true;
    b.compute(flat, {x}, y);
    b.output("y", y);
    RunOptions options;
    options.inputs["x"] = make_tensor(DType::f32, {8}, [](i64 i) { return static_cast<double>(i / 4); });
    for (const int count : {1, 2, 4}) // devices 0 and 1 hold the same
        CHECK(refused_by_all(b.plan(), options, count) ==
              "E0604: devices 0 and 2 hold different values of their common block of 'y'");
}

TEST_CASE("ranks that do not divide the devices, and what one of them lacks, end all") {
    PlanBuilder b(make_mesh({{"a", 4}}));
    const int x = b.input("x", DType::f32, {8}, "[a]");
    b.output("x", x);
    CHECK(refused_by_all(b.plan(), {}, 3) == "E0617: 3 ranks cannot hold 4 devices: each holds as many");

    std::vector<Diagnostics> diagnostics(2);
    on_thread_ranks(2, [&](Ranks& ranks) {
        RunOptions own;
        own.ranks = &ranks;
        if (!ranks.is_first()) own.inputs["x"] = make_tensor(DType::f32, {9}, [](i64) { return 0.0; });
        CHECK_FALSE(run_plan(b.plan(), own, diagnostics[ranks.rank()]));
    });
    CHECK(diagnostics[0].all().empty());
    CHECK(diagnostics[1].all().size() == 1);
}

} // namespace shard
