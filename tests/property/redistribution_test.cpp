// Redistributions between random shardings, whole axes and parts of them: each ends where it should, holds the right
// data, and costs no more than what a greedy algorithm finds.
#include "planner/redistribute/greedy_reshard.h"
#include "planner/redistribute/redistribute.h"
#include "planner/redistribute/xla_reshard.h"
#include "plans/plan/plan_check_types.h"
#include "tests/support/blocks.h"
#include "tests/support/carry_out.h"
#include "tests/support/property.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace shard;

namespace {

// One byte a second: seconds are the bytes that each device sends.
Hardware uniform() {
    Hardware hardware;
    hardware.links = {Link{"uniform", Link::Topology::uniform, 1, 0, false, 0}};
    return hardware;
}

size_t choose(size_t count) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<size_t>(0, count)); }

Mesh random_mesh() {
    static const std::vector<std::vector<i64>> sizes = {{2, 2},    {4, 2},    {2, 2, 2},   {3, 2}, {6, 2},
                                                        {2, 3, 2}, {4, 4},    {6, 4},      {8, 2}, {3, 3},
                                                        {2, 4, 4}, {2, 8, 4}, {2, 2, 2, 2}};
    Mesh mesh;
    for (i64 size : sizes[choose(sizes.size())])
        mesh.axes.push_back({std::string(1, static_cast<char>('x' + static_cast<char>(mesh.axes.size()))), size, ""});
    return mesh;
}

AxisRef random_part(const Mesh& mesh, bool parts) {
    const int axis = static_cast<int>(choose(mesh.axes.size()));
    const AxisRef whole = mesh.whole(axis);
    const i64 cut =
        whole.size == 9 || whole.size == 3 ? 3 : 2; // one place to cut each axis: halves and thirds do not mix
    if (!parts || whole.size == cut || choose(2) == 0) return whole;
    return choose(2) == 0 ? AxisRef{axis, 1, cut} : AxisRef{axis, cut, whole.size / cut};
}

Sharding random_sharding(const Mesh& mesh, const Shape& shape, bool parts) {
    Sharding sharding = replicated_sharding(static_cast<int>(shape.size()));
    for (size_t tries = 1 + choose(4); tries > 0; --tries) {
        const AxisRef part = random_part(mesh, parts);
        Sharding longer = sharding;
        if (overlaps_any(part, used_axes(sharding))) continue;
        append_axis(longer.dims[choose(shape.size())].axes, part);
        if (divides(shape, longer)) sharding = longer;
    }
    return sharding;
}

struct Pair {
    Mesh mesh;
    Shape shape;
    Sharding from, to;
};

Pair random_pair(bool parts) {
    static const std::vector<Shape> shapes = {{24, 24}, {24, 24, 12}, {48, 24},     {12, 24, 24},
                                              {32, 64}, {16, 32, 16}, {8, 8, 8, 16}};
    Pair pair;
    pair.mesh = random_mesh();
    pair.shape = shapes[choose(shapes.size())];
    pair.from = random_sharding(pair.mesh, pair.shape, parts);
    pair.to = random_sharding(pair.mesh, pair.shape, parts);
    RC_LOG() << text(pair.mesh, pair.from) << " -> " << text(pair.mesh, pair.to) << " on ";
    for (const MeshAxis& axis : pair.mesh.axes) RC_LOG() << axis.name << axis.size << " ";
    return pair;
}

double greedy_bytes(const Pair& pair) {
    const std::vector<GreedyStep> steps = greedy_reshard(pair.shape, pair.from, pair.to);
    if (!steps.empty()) RC_ASSERT(same_layout(steps.back().after, pair.to));
    for (const GreedyStep& step : steps) RC_ASSERT(divides(pair.shape, step.after));
    return 4 * elements_sent(steps);
}

// As a plan's own check sees them.
void check_collectives(const Pair& pair, const Redistribution& found) {
    Sharding at = pair.from;
    for (const RedistributionStep& step : found.steps) {
        const TensorType before = f32_type(local_shape(pair.shape, at));
        const Collective own{nullptr, {}, ReduceOp::sum, {step.slice}, {}, {}, 0};
        at = sharding_after(step.collective ? *step.collective : own, at);
        if (!step.collective) continue;
        RC_ASSERT(collective_problem(pair.mesh, *step.collective, before, f32_type(local_shape(pair.shape, at))) == "");
    }
}

void check_pair(const Pair& pair) {
    const Redistribution found = redistribute(pair.mesh, uniform(), f32_type(pair.shape), pair.from, pair.to);
    check_collectives(pair, found);
    const Carried carried = carry_out(pair.mesh, pair.shape, pair.from, found);
    RC_ASSERT(text(pair.mesh, carried.sharding) == text(pair.mesh, pair.to));
    RC_ASSERT(carried.buffers == blocks_of(pair.mesh, pair.shape, pair.to));
    RC_ASSERT(carried.wire_bytes == found.wire_bytes_total);
    const double greedy = greedy_bytes(pair);
    if (found.seconds > greedy * (1 + 1e-9))
        RC_FAIL(std::to_string(found.seconds) + " bytes, the greedy algorithm sends " + std::to_string(greedy));
}

// As XLA goes: the right blocks, what is promised is sent.
void check_pair_as_xla(const Pair& pair) {
    const Redistribution found = reshard_as_xla(pair.mesh, uniform(), f32_type(pair.shape), pair.from, pair.to);
    const Carried carried = carry_out(pair.mesh, pair.shape, pair.from, found);
    RC_ASSERT(text(pair.mesh, carried.sharding) == text(pair.mesh, pair.to));
    RC_ASSERT(carried.buffers == blocks_of(pair.mesh, pair.shape, pair.to));
    RC_ASSERT(carried.wire_bytes == found.wire_bytes_total);
}

} // namespace

TEST_CASE("property: XLA's ways end where they should") {
    CHECK(holds([] { check_pair_as_xla(random_pair(false)); }));
    CHECK(holds([] { check_pair_as_xla(random_pair(true)); }));
}

TEST_CASE("property: over whole axes no more is sent than by the greedy algorithm") {
    CHECK(holds([] { check_pair(random_pair(false)); }));
}

TEST_CASE("property: over parts of axes no more is sent than by the greedy algorithm") {
    CHECK(holds([] { check_pair(random_pair(true)); }));
}

// The elements that each device sends, and the kinds of the steps, by hand from the table of scenarios.
TEST_CASE("the greedy algorithm gives the sequences of the scenarios") {
    const Mesh xy{{{"x", 4, ""}, {"y", 2, ""}}, {}}, xyz{{{"x", 2, ""}, {"y", 2, ""}, {"z", 2, ""}}, {}};
    struct Case {
        const Mesh& mesh;
        Shape shape;
        std::string from, to, kinds;
        double elements;
    };
    const std::vector<Case> cases = {
        {xyz, {16, 8, 8}, "[- | x | -]", "[- | - | x,y,z]", "slice a2a", 128 * 7.0 / 8},
        {xy, {16, 16, 16}, "[y | - | x]", "[- | x,y | -]", "a2a a2a", 512 * 0.75 + 512 * 0.5},
        {xy, {8, 32}, "[x | y]", "[x | -]", "gather", 32},
        {xy, {4, 4096}, "[x | -]", "[- | x]", "a2a", 4096 * 0.75},
        {xy, {8, 16}, "[x | -]", "[x | y]", "slice", 0},
        {xy, {16, 8}, "[x,y | -]", "[y,x | -]", "permute", 16},
        // The reshards of 36, 38 and 40: a gather sends what it brings, a slice before it makes that less.
        {xy, {16, 16}, "[x | y]", "[x | -]", "gather", 64 * 0.5},
        {xy, {16, 16}, "[x | y]", "[- | y]", "gather", 128 * 0.75},
        {xy, {4, 32}, "[x | -]", "[- | y]", "slice gather", 64 * 0.75},
        {xy, {4, 32}, "[y | -]", "[- | x]", "slice gather", 32 * 0.5},
        {xy, {4, 32, 8}, "[x | y | -]", "[- | y,x | -]", "a2a", 128 * 0.75},
        {xy, {4, 32, 8}, "[- | y,x | -]", "[x | y | -]", "a2a", 128 * 0.75},
        // What is left of 35 and 43 after the reduction.
        {xy, {4, 4096}, "[- | -]", "[x | -]", "slice", 0},
        {xyz, {16, 8}, "[x | -]", "[x | y]", "slice", 0},
    };
    for (const Case& c : cases) {
        const std::vector<GreedyStep> steps =
            greedy_reshard(c.shape, *parse_sharding(c.mesh, c.from), *parse_sharding(c.mesh, c.to));
        std::string kinds;
        for (const GreedyStep& step : steps) {
            static const std::vector<std::string> names = {"slice", "permute", "a2a", "gather"};
            kinds += (kinds.empty() ? "" : " ") + names[static_cast<size_t>(step.kind)];
        }
        CAPTURE(c.from);
        CHECK(kinds == c.kinds);
        CHECK(elements_sent(steps) == c.elements);
    }
}

// Through more parts of axes than the search tries: the way of the greedy algorithm.
TEST_CASE("ways through many parts of axes are found") {
    struct Case {
        std::vector<i64> mesh;
        Shape shape;
        std::string from, to;
        double seconds; // the bytes of the permuted blocks, and of what all_to_alls and gathers send
    };
    const std::vector<Case> cases = {
        {{2, 4, 4}, {32, 32}, "[x,z | y]", "[y | x,z]", 128 + 64},
        {{2, 8, 4}, {8, 16, 8}, "[- | - | x]", "[x | y | z]", 64},
        {{2, 2, 2, 2}, {4, 4, 4, 8}, "[z | y | x | -]", "[- | w,x | - | z]", 128 + 64 + 128},
    };
    for (const Case& c : cases) {
        Mesh mesh;
        for (size_t a = 0; a < c.mesh.size(); ++a) mesh.axes.push_back({std::string(1, "xyzw"[a]), c.mesh[a], ""});
        const Redistribution found = redistribute(mesh, uniform(), f32_type(c.shape), *parse_sharding(mesh, c.from),
                                                  *parse_sharding(mesh, c.to));
        CAPTURE(c.from);
        CHECK(found.seconds == c.seconds);
    }
}
