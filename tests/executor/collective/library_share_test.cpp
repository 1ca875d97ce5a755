// Which collectives the library of the ranks carries out; what they give is tested with all others (share_test.cpp).
#include "executor/collective/library_share.h"
#include "tests/support/plan_builder.h"
#include "tests/support/thread_ranks.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

// How often ranks call the library for one collective of 4 devices, along these axes of a 2 x b 2, in a loop of 3 trips.
int library_calls(const std::string& kind, const std::vector<std::string>& axes, DType dtype, int ranks,
                  bool asked = true) {
    PlanBuilder b(make_mesh({{"a", 2}, {"b", 2}}));
    Collective fields;
    fields.axes = b.axes(axes);
    Shape after = {8};
    if (kind == "all_gather") {
        fields.moves = {{0, -1, fields.axes}};
        after = {8 * total_size(fields.axes)};
    }
    if (kind == "collective_permute") {
        fields.source_order = fields.axes;
        fields.target_order = {fields.axes.rbegin(), fields.axes.rend()};
    }
    const int x = b.input("x", dtype, {8}), y = b.buffer("y", dtype, after);
    b.begin_loop(0, 3);
    b.collective(kind, fields, x, y);
    b.end_loop();
    b.output("y", y);
    RunOptions options;
    options.inputs["x"] = make_tensor(dtype, {8}, [](i64 i) { return static_cast<double>(i); });
    options.library_collectives = asked;
    int calls = 0;
    const RunResult together = run_on_thread_ranks(b.plan(), options, ranks, &calls);
    const RunResult alone = run_clean(b.plan(), options);
    CHECK(together.outputs.at("y").bytes == alone.outputs.at("y").bytes);
    CHECK(together.wire_bytes_total == alone.wire_bytes_total);
    return calls;
}

} // namespace

TEST_CASE("collectives of one device a rank are the library's, where it is asked and has them") {
    CHECK(library_calls("all_reduce", {"a", "b"}, DType::f32, 4) == 12); // each of 4 ranks in each of 3 trips
    CHECK(library_calls("all_gather", {"a", "b"}, DType::bf16, 4) == 12);
    CHECK(library_calls("all_reduce", {"a", "b"}, DType::f32, 4, false) == 0);
    CHECK(library_calls("all_reduce", {"a", "b"}, DType::bf16, 4) == 0); // a number that it does not add
    CHECK(library_calls("collective_permute", {"a", "b"}, DType::f32, 4) == 0);
}

TEST_CASE("a rank with several devices of a group exchanges messages, one with devices of several groups does not") {
    CHECK(library_calls("all_reduce", {"a", "b"}, DType::f32, 2) == 0);
    CHECK(library_calls("all_reduce", {"b"}, DType::f32, 2) == 0);  // within a rank
    CHECK(library_calls("all_reduce", {"a"}, DType::f32, 2) == 12); // two groups, of two ranks each
}

} // namespace shard
