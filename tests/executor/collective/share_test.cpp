// Every collective as carried out between arenas against its definition, on random meshes and axes, with the bytes that
// were moved against the bytes that were predicted.
#include "executor/collective/share.h"
#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_types.h"
#include "tests/support/plan_builder.h"
#include "tests/support/thread_ranks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace shard {
namespace {

using Buffers = std::vector<std::vector<double>>;

// Runs one collective on buffers that are given per device: a global tensor [devices, ...] with one row per device.
Buffers carry_out(const Mesh& mesh, const Collective& collective, const TensorType& before, const Buffers& buffers,
                  int workers, i64& wire_bytes, bool in_place = false) {
    PlanBuilder b(mesh);
    const i64 devices = mesh.device_count();
    std::string rows = "[";
    for (size_t a = 0; a < mesh.axes.size(); ++a) rows += (a > 0 ? "," : "") + mesh.axes[a].name;
    const TensorType after = collective.def->after(collective, before);
    const auto global = [&](const TensorType& local) {
        Shape shape = local.shape;
        shape.insert(shape.begin(), devices);
        return shape;
    };
    const auto sharding = [&](const TensorType& local) {
        std::string text = rows;
        for (int d = 0; d < local.rank(); ++d) text += " | -";
        return text + "]";
    };
    const int in_rows = b.input("in", before.dtype, global(before), sharding(before));
    const int before_id = b.buffer("before", before.dtype, before.shape);
    const int out = b.buffer("after", after.dtype, after.shape);
    if (in_place) {
        Buffer& alias = b.plan().buffers[out];
        alias.alias_of = before_id;
        alias.offset = b.plan().buffers[before_id].offset;
    }
    const int out_rows = b.buffer("out", after.dtype, global(after), sharding(after));
    Move flat;
    flat.flat = true;
    b.compute(flat, {in_rows}, before_id);
    b.collective(std::string(collective.def->name), collective, before_id, out);
    b.compute(flat, {out}, out_rows);
    b.output("out", out_rows);
    RunOptions options;
    options.workers = workers;
    const i64 block = before.elements();
    options.inputs["in"] =
        make_tensor(before.dtype, global(before), [&](i64 i) { return buffers[i / block][i % block]; });
    const RunResult result = run_clean(b.plan(), options);
    for (const int ranks : {2, 3, static_cast<int>(devices)})
        if (devices % ranks == 0)
            for (const std::string& problem : differences_on_ranks(b.plan(), options, result, ranks))
                FAIL_CHECK(problem);
    if (devices <= 16) { // small whole numbers have one sum in any order
        options.library_collectives = true;
        for (const std::string& problem : differences_on_ranks(b.plan(), options, result, static_cast<int>(devices)))
            FAIL_CHECK(problem);
    }
    wire_bytes = result.wire_bytes_total;
    const std::vector<double> all = values(result.outputs.at("out"));
    Buffers split(static_cast<size_t>(devices));
    for (size_t i = 0; i < all.size(); ++i) split[i / static_cast<size_t>(after.elements())].push_back(all[i]);
    return split;
}

struct Case {
    std::mt19937 random;
    explicit Case(unsigned seed) : random(seed) {}
    i64 pick(i64 low, i64 high) { return std::uniform_int_distribution<i64>(low, high)(random); }

    Mesh mesh() {
        Mesh result;
        const i64 axes = pick(1, 3);
        for (i64 a = 0; a < axes; ++a) {
            const i64 sizes[] = {1, 2, 3, 4, 6};
            result.axes.push_back({std::string(1, static_cast<char>('a' + a)), sizes[pick(0, 4)], ""});
        }
        return result;
    }
    // Some axes in a random order; axes of 4 and 6 sometimes as a sub-axis.
    std::vector<AxisRef> axes(const Mesh& mesh) {
        std::vector<AxisRef> result;
        for (int a = 0; a < static_cast<int>(mesh.axes.size()); ++a) {
            if (pick(0, 3) == 0) continue;
            AxisRef ref = mesh.whole(a);
            if (ref.size == 4 && pick(0, 1) == 0) ref = {a, pick(1, 2), 2};
            if (ref.size == 6 && pick(0, 1) == 0) ref = {a, 2, 3};
            result.push_back(ref);
        }
        if (result.empty()) result.push_back(mesh.whole(0));
        std::shuffle(result.begin(), result.end(), random);
        return result;
    }
    DType dtype() {
        const DType types[] = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i64, DType::u32};
        return types[pick(0, 5)];
    }
    Buffers buffers(const Mesh& mesh, const TensorType& type) {
        Buffers result(static_cast<size_t>(mesh.device_count()));
        for (std::vector<double>& buffer : result)
            for (i64 i = 0; i < type.elements(); ++i) buffer.push_back(static_cast<double>(pick(0, 3)));
        return result;
    }
};

void check(Case& random, const Mesh& mesh, const Collective& collective, const TensorType& before) {
    CAPTURE(collective.def->name);
    CAPTURE(text(mesh, collective));
    CAPTURE(shape_text(before.shape));
    CAPTURE(name(before.dtype));
    const Buffers buffers = random.buffers(mesh, before);
    i64 wire_bytes = -1;
    const Buffers got = carry_out(mesh, collective, before, buffers, static_cast<int>(random.pick(1, 3)), wire_bytes);
    CHECK(got == collective.def->meaning(collective, mesh, before, buffers));
    CHECK(wire_bytes == collective.def->wire_bytes_total(collective, mesh, before.bytes()));
    if (!can_run_in_place(collective)) return;
    CHECK(got == carry_out(mesh, collective, before, buffers, static_cast<int>(random.pick(1, 3)), wire_bytes, true));
    CHECK(wire_bytes == collective.def->wire_bytes_total(collective, mesh, before.bytes()));
}

Collective make(const char* kind, std::vector<AxisRef> axes) {
    Collective collective;
    collective.def = find_collective(kind);
    REQUIRE(collective.def != nullptr);
    collective.axes = std::move(axes);
    return collective;
}

} // namespace

TEST_CASE("all_reduce is what it means, for every reduction and uneven parts") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        Case random(seed);
        const Mesh mesh = random.mesh();
        Collective collective = make("all_reduce", random.axes(mesh));
        collective.reduce = static_cast<ReduceOp>(random.pick(0, 3));
        TensorType type = {random.dtype(), {random.pick(1, 5), random.pick(1, 700)}, {}};
        // Products of bf16 leave the integers that it holds exactly.
        if (collective.reduce == ReduceOp::prod) type.dtype = DType::f64;
        check(random, mesh, collective, type);
    }
}

TEST_CASE("all_gather, reduce_scatter and all_to_all are what they mean along any dim") {
    for (unsigned seed = 100; seed < 160; ++seed) {
        Case random(seed);
        const Mesh mesh = random.mesh();
        const std::vector<AxisRef> axes = random.axes(mesh);
        const i64 n = total_size(axes);
        TensorType type = {random.dtype(), {random.pick(1, 4), random.pick(1, 4), random.pick(1, 4)}, {}};
        const int dim = static_cast<int>(random.pick(0, 2)), other = (dim + static_cast<int>(random.pick(1, 2))) % 3;
        Collective gather = make("all_gather", axes);
        gather.moves = {{dim, -1, axes}};
        check(random, mesh, gather, type);

        type.shape[dim] *= n;
        Collective scatter = make("reduce_scatter", axes);
        scatter.moves = {{-1, dim, axes}};
        check(random, mesh, scatter, type);

        Collective exchange = make("all_to_all", axes);
        exchange.moves = {{other, dim, axes}};
        check(random, mesh, exchange, type);
    }
}

TEST_CASE("one all_gather grows two dims at once") {
    Case random(5);
    const Mesh mesh = make_mesh({{"a", 2}, {"b", 3}, {"c", 2}});
    Collective gather = make("all_gather", {mesh.whole(0), mesh.whole(1)});
    gather.moves = {{1, -1, {mesh.whole(0)}}, {0, -1, {mesh.whole(1)}}};
    check(random, mesh, gather, {DType::f32, {2, 5}, {}});
}

TEST_CASE("collective_permute and broadcast are what they mean") {
    for (unsigned seed = 200; seed < 240; ++seed) {
        Case random(seed);
        const Mesh mesh = random.mesh();
        const TensorType type = {random.dtype(), {random.pick(1, 9)}, {}};
        Collective permute = make("collective_permute", random.axes(mesh));
        permute.source_order = permute.target_order = permute.axes;
        std::shuffle(permute.target_order.begin(), permute.target_order.end(), random.random);
        check(random, mesh, permute, type);

        Collective broadcast = make("broadcast", random.axes(mesh));
        broadcast.root = random.pick(0, total_size(broadcast.axes) - 1);
        check(random, mesh, broadcast, type);
    }
}

TEST_CASE("all devices get the same bits from an all_reduce of floats") {
    const Mesh mesh = make_mesh({{"a", 7}});
    Case random(1);
    const TensorType type = {DType::f32, {3001}, {}};
    Buffers buffers(7);
    for (std::vector<double>& buffer : buffers)
        for (i64 i = 0; i < 3001; ++i) buffer.push_back(static_cast<double>(random.pick(-1000000, 1000000)) / 3333.0);
    i64 wire_bytes = 0;
    const Buffers got = carry_out(mesh, make("all_reduce", {mesh.whole(0)}), type, buffers, 2, wire_bytes);
    for (const Buffers::value_type& buffer : got) CHECK(buffer == got.front());
    CHECK(got == carry_out(mesh, make("all_reduce", {mesh.whole(0)}), type, buffers, 1, wire_bytes));
}

} // namespace shard
