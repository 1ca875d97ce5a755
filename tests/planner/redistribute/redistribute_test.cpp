// The redistribution search against the facts of reference partitioning, section 4.2 and "what is optimal". The price
// is a uniform link of 1 byte/s without latency, so seconds are the bytes that one device sends.
#include "planner/redistribute/redistribute.h"
#include "tests/support/blocks.h"
#include "tests/support/carry_out.h"

#include "planner/partition/partition.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

Hardware uniform() {
    Hardware hardware;
    hardware.links = {Link{"uniform", Link::Topology::uniform, 1, 0, false, 0}};
    return hardware;
}

std::vector<std::string> steps_of(const Mesh& mesh, const Redistribution& redistribution) {
    std::vector<std::string> result;
    for (const RedistributionStep& step : redistribution.steps) {
        result.push_back(step.collective
                             ? text(mesh, *step.collective)
                             : "slice " + text(mesh, step.slice.axes) + " (dim " + std::to_string(step.slice.to) + ")");
    }
    return result;
}

using Steps = std::vector<std::string>;

Steps way(const Mesh& mesh, const Shape& shape, std::string_view from, std::string_view to) {
    return steps_of(mesh,
                    redistribute(mesh, uniform(), f32_type(shape), sharding_of(mesh, from), sharding_of(mesh, to)));
}

// Bytes that one device sends to get from one sharding to another in one step, by the definitions of the steps alone;
// nullopt if no one step does it. A permutation counts as if every block moved, as its seconds do.
std::optional<double> one_step(const Shape& shape, const Sharding& from, const Sharding& to) {
    const double before = static_cast<double>(f32_type(local_shape(shape, from)).bytes());
    const double after = static_cast<double>(f32_type(local_shape(shape, to)).bytes());
    auto starts_with = [](const DimSharding& list, const DimSharding& prefix) {
        return list.axes.size() >= prefix.axes.size() &&
               std::equal(prefix.axes.begin(), prefix.axes.end(), list.axes.begin());
    };
    bool shrinks = true, grows = true, same_sizes = true;
    for (size_t d = 0; d < from.dims.size(); ++d) {
        shrinks = shrinks && starts_with(to.dims[d], from.dims[d]);
        grows = grows && starts_with(from.dims[d], to.dims[d]);
        same_sizes = same_sizes && shard_count(from.dims[d]) == shard_count(to.dims[d]);
    }
    if (shrinks) return 0;
    if (grows) return after - before;
    std::optional<double> best;
    if (same_sizes) best = before;
    for (size_t loses = 0; loses < 2; ++loses) { // of two dims
        size_t gains = 1 - loses;
        if (!starts_with(from.dims[loses], to.dims[loses]) || !starts_with(to.dims[gains], from.dims[gains])) continue;
        std::vector<AxisRef> lost(from.dims[loses].axes.begin() +
                                      static_cast<std::ptrdiff_t>(to.dims[loses].axes.size()),
                                  from.dims[loses].axes.end());
        std::vector<AxisRef> gained(to.dims[gains].axes.begin() +
                                        static_cast<std::ptrdiff_t>(from.dims[gains].axes.size()),
                                    to.dims[gains].axes.end());
        double n = static_cast<double>(total_size(lost));
        if (lost == gained) best = std::min(best.value_or(before), before * (n - 1) / n);
    }
    return best;
}

// Every sharding of `rank` dims over whole axes of the mesh.
std::vector<Sharding> all_shardings(const Mesh& mesh, int rank) {
    std::vector<Sharding> result = {replicated_sharding(rank)};
    for (size_t i = 0; i < result.size(); ++i) { // appends while walking: every sharding extended by every unused axis
        for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
            AxisRef ref = mesh.whole(axis);
            if (overlaps_any(ref, used_axes(result[i]))) continue;
            for (int dim = 0; dim < rank; ++dim) {
                Sharding longer = result[i];
                append_axis(longer.dims[dim].axes, ref);
                bool known = std::any_of(result.begin(), result.end(), [&](const Sharding& s) { return s == longer; });
                if (!known) result.push_back(longer);
            }
        }
    }
    return result;
}

} // namespace

TEST_CASE("the case where XLA replicates everything takes two all_to_alls") {
    Mesh mesh{{{"x", 4, ""}, {"y", 2, ""}}, {}};
    Redistribution found = redistribute(mesh, uniform(), f32_type({16, 16, 16}), sharding_of(mesh, "[y | - | x]"),
                                        sharding_of(mesh, "[- | x,y | -]"));
    CHECK(steps_of(mesh, found) == Steps{"all_to_all over x (dim 2 -> dim 1)", "all_to_all over y (dim 0 -> dim 1)"});
    // 2048 bytes on a device; 3/4 and 1/2 of them move.
    CHECK(found.wire_bytes_total == 8 * (1536 + 1024));
    Mesh other{{{"a", 4, ""}, {"b", 2, ""}}, {}};
    CHECK(way(other, {16, 16, 16}, "[b | - | a]", "[- | a,b | -]") ==
          Steps{"all_to_all over a (dim 2 -> dim 1)", "all_to_all over b (dim 0 -> dim 1)"});
}

TEST_CASE("single steps") {
    Mesh mesh{{{"x", 4, ""}, {"y", 2, ""}}, {}};
    CHECK(way(mesh, {8, 8}, "[x | -]", "[x | -]") == Steps{});
    CHECK(way(mesh, {8, 8}, "[- | -]", "[x | y]") == Steps{"slice x (dim 0)", "slice y (dim 1)"});
    CHECK(way(mesh, {8, 8}, "[x | y]", "[- | -]") == Steps{"all_gather over x,y (dim 0, dim 1)"});
    CHECK(way(mesh, {8, 8}, "[x | -]", "[- | x]") == Steps{"all_to_all over x (dim 0 -> dim 1)"});
    CHECK(way(mesh, {8, 8}, "[x,y | -]", "[y,x | -]") == Steps{"collective_permute over x,y (x,y -> y,x)"});
    CHECK(way(mesh, {8, 8}, "[x,y | -]", "[x | -]") == Steps{"all_gather over y (dim 0)"});
}

TEST_CASE("an axis of one device makes no way dearer, wherever it stands") {
    const Mesh without{{{"x", 4, ""}, {"y", 2, ""}}, {}}, with{{{"x", 4, ""}, {"y", 2, ""}, {"u", 1, ""}}, {}};
    const TensorType type = f32_type({16, 16});
    const auto seconds = [&](const Mesh& mesh, const std::string& from, const std::string& to) {
        return redistribute(mesh, uniform(), type, sharding_of(mesh, from), sharding_of(mesh, to)).seconds;
    };
    struct Case {
        const char *from, *to, *from_with, *to_with;
    };
    for (const Case& each : {Case{"[- | -] U{x}", "[x | -]", "[u | -] U{x}", "[x | u]"},
                             {"[- | -] U{x}", "[y | x]", "[u | -] U{x}", "[y | x,u]"},
                             {"[- | -] U{x,y}", "[y | -]", "[- | u] U{x,y}", "[y,u | -]"},
                             {"[x | -]", "[x,y | -]", "[x,u | -]", "[x,y | u]"},
                             {"[x | -]", "[y | x]", "[u,x | -]", "[y | u,x]"},
                             {"[x | y]", "[y | x]", "[x | u,y]", "[u,y | x]"},
                             {"[- | -]", "[x | -]", "[u | -]", "[x | -]"}}) {
        CAPTURE(each.from_with);
        CAPTURE(each.to_with);
        CHECK(seconds(with, each.from_with, each.to_with) == doctest::Approx(seconds(without, each.from, each.to)));
    }
}

TEST_CASE("partial values") {
    Mesh mesh{{{"x", 2, ""}, {"y", 2, ""}, {"z", 2, ""}}, {}};
    CHECK(way(mesh, {8, 8}, "[- | -] U{x}", "[- | -]") == Steps{"all_reduce over x"});
    CHECK(way(mesh, {8, 8}, "[- | -] U{x}", "[x | -]") == Steps{"reduce_scatter over x (dim 0)"});
    CHECK(way(mesh, {8, 8}, "[- | -] U{x,y}", "[x | y]") == Steps{"reduce_scatter over x,y (dim 0, dim 1)"});
    CHECK(way(mesh, {8, 8}, "[- | -] U{x}", "[y | -]") == Steps{"slice y (dim 0)", "all_reduce over x"});
    CHECK(way(mesh, {8, 8}, "[- | -] U{x,y}", "[- | -] U{y}") == Steps{"all_reduce over x"});
}

TEST_CASE("an all_to_all after slices: 16x8x8 [- | x | -] -> [- | - | x,y,z]") {
    Mesh mesh{{{"x", 2, ""}, {"y", 2, ""}, {"z", 2, ""}}, {}};
    Redistribution found = redistribute(mesh, uniform(), f32_type({16, 8, 8}), sharding_of(mesh, "[- | x | -]"),
                                        sharding_of(mesh, "[- | - | x,y,z]"));
    // Slice y,z on dim 1 for nothing, then one all_to_all of the 512 bytes that are left, 7/8 of which go to others.
    Carried carried = carry_out(mesh, {16, 8, 8}, sharding_of(mesh, "[- | x | -]"), found);
    CHECK(carried.buffers == blocks_of(mesh, {16, 8, 8}, sharding_of(mesh, "[- | - | x,y,z]")));
    CHECK(found.collectives == 1);
    CHECK(found.wire_bytes_total == 8 * 448);
}

TEST_CASE("every sharding of two dims over a 2x2x2 mesh reaches every other in at most four collectives and within the "
          "larger end") {
    Mesh mesh{{{"x", 2, ""}, {"y", 2, ""}, {"z", 2, ""}}, {}};
    const Shape shape = {8, 8};
    const Hardware hardware = uniform();
    const std::vector<Sharding> shardings = all_shardings(mesh, 2);
    REQUIRE(shardings.size() == 49);
    int most_collectives = 0, wrong = 0, too_large = 0, miscounted = 0;
    i64 sum = 0, sum_of_gathers = 0;
    for (const Sharding& from : shardings) {
        for (const Sharding& to : shardings) {
            Redistribution found = redistribute(mesh, hardware, f32_type(shape), from, to);
            Carried carried = carry_out(mesh, shape, from, found);
            most_collectives = std::max(most_collectives, found.collectives);
            if (carried.buffers != blocks_of(mesh, shape, to) || !same_layout(carried.sharding, to)) ++wrong;
            i64 ends = std::max(f32_type(local_shape(shape, from)).bytes(), f32_type(local_shape(shape, to)).bytes());
            if (carried.most_bytes > ends) ++too_large;
            if (carried.wire_bytes != found.wire_bytes_total) ++miscounted;
            sum += found.wire_bytes_total;
            if (!same_layout(from, to)) sum_of_gathers += 8 * (256 - f32_type(local_shape(shape, from)).bytes());
        }
    }
    CHECK(wrong == 0);
    CHECK(too_large == 0);
    CHECK(miscounted == 0);
    CHECK(most_collectives <= 4);
    CHECK(static_cast<double>(sum) / static_cast<double>(sum_of_gathers) < 0.60); // the measured range is 0.30 to 0.60
}

TEST_CASE("where latency counts, an axis is not taken apart to look like shorter rings") {
    Mesh mesh{{{"data", 2, ""}, {"model", 4, ""}}, {}};
    Hardware hardware;
    hardware.links = {Link{"ici", Link::Topology::torus, 4.5e10, 1e-6, true, 16}};
    Redistribution found = redistribute(mesh, hardware, f32_type({8, 1024}), sharding_of(mesh, "[- | -] U{model}"),
                                        sharding_of(mesh, "[data | -]"));
    CHECK(steps_of(mesh, found) == Steps{"slice data (dim 0)", "all_reduce over model"});
    CHECK(found.seconds == doctest::Approx(6e-6)); // twice 3 hops
}

TEST_CASE("a permutation of whole axes renames a part of one on a dim") {
    Mesh mesh{{{"x", 4, ""}, {"y", 4, ""}}, {}};
    Sharding from = sharding_of(mesh, "[x,y:(1)2 | -]"), to = sharding_of(mesh, "[y | -]");
    Redistribution found = redistribute(mesh, uniform(), f32_type({16, 2}), from, to);
    Carried carried = carry_out(mesh, {16, 2}, from, found);
    CHECK(text(mesh, carried.sharding) == "[y | -]");
    CHECK(carried.buffers == blocks_of(mesh, {16, 2}, to));
}

TEST_CASE("parts of an axis that do not nest: the axis is gathered before it splits anew") {
    Mesh mesh{{{"x", 6, ""}, {"y", 2, ""}}, {}};
    for (const char* target : {"[- | x:(2)3]", "[x:(2)3,y | -]", "[x:(1)2 | y]"}) {
        Sharding from = sharding_of(mesh, "[x:(1)3,y | -]"), to = sharding_of(mesh, target);
        Redistribution found = redistribute(mesh, uniform(), f32_type({12, 12}), from, to);
        Carried carried = carry_out(mesh, {12, 12}, from, found);
        CHECK(text(mesh, carried.sharding) == target);
        CHECK(carried.buffers == blocks_of(mesh, {12, 12}, to));
        CHECK(carried.wire_bytes == found.wire_bytes_total);
    }
}

TEST_CASE("a mesh of a million devices takes no longer than a small one") {
    Mesh mesh{{{"a", 1024, ""}, {"b", 1024, ""}}, {}};
    Redistribution found = redistribute(mesh, uniform(), f32_type({4096, 4096}), sharding_of(mesh, "[a | b]"),
                                        sharding_of(mesh, "[b | a]"));
    REQUIRE(found.collectives == 1);
    // 16 f32 on a device; the devices with a == b keep their blocks.
    CHECK(found.wire_bytes_total == (i64{1024} * 1024 - 1024) * 64);
}

TEST_CASE("no sequence of steps over whole axes sends less than the one found") {
    Mesh mesh{{{"x", 2, ""}, {"y", 2, ""}, {"z", 2, ""}}, {}};
    const Shape shape = {8, 8};
    const std::vector<Sharding> shardings = all_shardings(mesh, 2);
    const size_t count = shardings.size();
    std::vector<std::vector<std::optional<double>>> steps(count, std::vector<std::optional<double>>(count));
    std::vector<i64> bytes;
    for (size_t i = 0; i < count; ++i) {
        bytes.push_back(f32_type(local_shape(shape, shardings[i])).bytes());
        for (size_t j = 0; j < count; ++j) steps[i][j] = one_step(shape, shardings[i], shardings[j]);
    }
    int worse = 0;
    for (size_t start = 0; start < count; ++start) {
        for (size_t goal = 0; goal < count; ++goal) {
            // Bellman-Ford over the shardings that are no larger than the larger end.
            const i64 most = std::max(bytes[start], bytes[goal]);
            std::vector<double> best(count, 1e9);
            best[start] = 0;
            for (bool changed = true; changed;) {
                changed = false;
                for (size_t i = 0; i < count; ++i) {
                    for (size_t j = 0; j < count && best[i] < 1e9; ++j) {
                        if (!steps[i][j] || bytes[j] > most || best[i] + *steps[i][j] >= best[j]) continue;
                        best[j] = best[i] + *steps[i][j];
                        changed = true;
                    }
                }
            }
            Redistribution found = redistribute(mesh, uniform(), f32_type(shape), shardings[start], shardings[goal]);
            if (found.seconds != best[goal]) ++worse; // not less either: the steps are the same
        }
    }
    CHECK(worse == 0);
}

TEST_CASE("alternatives are other sequences, cheapest first") {
    Mesh mesh{{{"x", 4, ""}, {"y", 2, ""}}, {}};
    std::vector<Redistribution> found =
        redistribution_alternatives(mesh, uniform(), f32_type({16, 16, 16}), sharding_of(mesh, "[y | - | x]"),
                                    sharding_of(mesh, "[- | x,y | -]"), 3);
    REQUIRE(found.size() == 3);
    CHECK(steps_of(mesh, found[0]).size() == 2);
    CHECK(steps_of(mesh, found[1]) != steps_of(mesh, found[0]));
    CHECK(found[0].seconds <= found[1].seconds);
    CHECK(found[1].seconds <= found[2].seconds);
}
