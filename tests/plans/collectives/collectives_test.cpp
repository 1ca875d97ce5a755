// Every collective against its definition: the data that `meaning` gives is the data of the sharding that
// sharding_after names, and bytes and seconds are those of reference cost and of the design.
#include "tests/support/blocks.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const Mesh mesh_2x4{{{"data", 2, ""}, {"model", 4, ""}}, {}};

Collective make(std::string_view kind, std::vector<AxisRef> axes, std::vector<AxisMove> moves = {}) {
    Collective collective;
    collective.def = find_collective(kind);
    collective.axes = std::move(axes);
    collective.moves = std::move(moves);
    return collective;
}

// Runs `collective` on the blocks of `before` and compares with the blocks of `after`.
void check_data(const Mesh& mesh, const Shape& shape, const Collective& collective, std::string_view before,
                std::string_view after) {
    Sharding from = sharding_of(mesh, before), to = sharding_of(mesh, after);
    CHECK(text(mesh, sharding_after(collective, from)) == text(mesh, to));
    TensorType local = f32_type(local_shape(shape, from));
    CHECK(collective.def->after(collective, local).shape == local_shape(shape, to));
    CHECK(collective.def->meaning(collective, mesh, local, blocks_of(mesh, shape, from)) == blocks_of(mesh, shape, to));
}

} // namespace

TEST_CASE("collectives are found by their names and by what they do") {
    CHECK(all_collectives().size() >= 6);
    for (const CollectiveDef* def : all_collectives()) {
        CHECK(!def->doc.empty());
        CHECK(find_collective(def->name) == def);
    }
    CHECK(find_collective("gather") == nullptr);
    CHECK(collective_with({.from = true})->name == "all_gather");
    CHECK(collective_with({.reduce = true, .to = true})->name == "reduce_scatter");
}

TEST_CASE("collectives move data as their shardings say") {
    const Mesh& mesh = mesh_2x4;
    AxisRef data = mesh.whole(0), model = mesh.whole(1);
    check_data(mesh, {8, 8}, make("all_reduce", {model}), "[data | -] U{model}", "[data | -]");
    check_data(mesh, {8, 8}, make("all_reduce", {data, model}), "[- | -] U{data,model}", "[- | -]");
    check_data(mesh, {8, 8}, make("all_gather", {model}, {{1, -1, {model}}}), "[data | model]", "[data | -]");
    check_data(mesh, {8, 8}, make("all_gather", {data, model}, {{0, -1, {data}}, {1, -1, {model}}}), "[data | model]",
               "[- | -]");
    check_data(mesh, {8, 8}, make("all_gather", {model}, {{0, -1, {model}}}), "[data,model | -]", "[data | -]");
    check_data(mesh, {8, 8}, make("reduce_scatter", {model}, {{-1, 0, {model}}}), "[data | -] U{model}",
               "[data,model | -]");
    check_data(mesh, {8, 8}, make("all_to_all", {model}, {{0, 1, {model}}}), "[data,model | -]", "[data | model]");
    check_data(mesh, {8, 8}, make("all_to_all", {data}, {{0, 1, {data}}}), "[data | model]", "[- | model,data]");
    Collective swap = make("collective_permute", {data, model});
    swap.source_order = {data, model};
    swap.target_order = {model, data};
    check_data(mesh, {8, 8}, swap, "[data,model | -]", "[model,data | -]");
    check_data(mesh, {8, 8}, swap, "[- | data,model]", "[- | model,data]");
    check_data(mesh, {8, 8}, swap, "[data | -]", "[model:(1)2 | -]");
}

TEST_CASE("a permutation whose axes cut at no common place reorders a whole dim") {
    Mesh mesh{{{"a", 2, ""}, {"b", 3, ""}}, {}};
    Collective swap = make("collective_permute", {mesh.whole(0), mesh.whole(1)});
    swap.source_order = {mesh.whole(0), mesh.whole(1)};
    swap.target_order = {mesh.whole(1), mesh.whole(0)};
    check_data(mesh, {6, 2}, swap, "[a,b | -]", "[b,a | -]");
    // Block 2a+... : (a,b) holds block 3a+b, afterwards block 2b+a; they agree for blocks 0 and 5 alone.
    CHECK(swap.def->wire_bytes_total(swap, mesh, 100) == 400);
}

TEST_CASE("sub-axes leave a dim in part") {
    Mesh mesh{{{"a", 8, ""}}, {}};
    AxisRef middle{0, 2, 4};
    check_data(mesh, {8, 8}, make("all_gather", {middle}, {{0, -1, {middle}}}), "[a | -]", "[a:(1)2 | -]");
    check_data(mesh, {8, 8}, make("all_to_all", {middle}, {{0, 1, {middle}}}), "[a | -]", "[a:(1)2 | a:(2)4]");
}

TEST_CASE("wire bytes are those of the algorithms, exactly") {
    const Mesh& mesh = mesh_2x4;
    AxisRef data = mesh.whole(0), model = mesh.whole(1);
    // z of DotReluDot: 4 x 1024 f32 on each device, summed over model 4: 24576 bytes a device.
    CHECK(make("all_reduce", {model}).def->wire_bytes_total(make("all_reduce", {model}), mesh, 16384) == 24576 * 8);
    // (n-1)/n of the larger side: 3/4 of 4 * 1000 bytes.
    Collective gather = make("all_gather", {model}, {{0, -1, {model}}});
    CHECK(gather.def->wire_bytes_total(gather, mesh, 1000) == 3000 * 8);
    Collective scatter = make("reduce_scatter", {model}, {{-1, 0, {model}}});
    CHECK(scatter.def->wire_bytes_total(scatter, mesh, 1000) == 750 * 8);
    Collective exchange = make("all_to_all", {model}, {{0, 1, {model}}});
    CHECK(exchange.def->wire_bytes_total(exchange, mesh, 1000) == 750 * 8);
    Collective swap = make("collective_permute", {data, model});
    swap.source_order = {data, model};
    swap.target_order = {model, data};
    // model = (m1, m2): block (data, m1, m2) becomes (m1, m2, data), equal where all three agree: 2 of 8 devices keep
    // theirs.
    CHECK(swap.def->wire_bytes_total(swap, mesh, 1000) == 6000);
    Collective broadcast = make("broadcast", {model});
    CHECK(broadcast.def->wire_bytes_total(broadcast, mesh, 1000) == 2 * 3000);
    // An uneven all_reduce: 7 f32 over 4 devices. Parts of 1, 2, 2, 2 elements, read 3 times and given 3 times.
    CHECK(make("all_reduce", {model}).def->wire_bytes_total(make("all_reduce", {model}), mesh, 28) == 2 * (2 * 3 * 28));
}

TEST_CASE("broadcast hands out the root's buffer") {
    Collective broadcast = make("broadcast", {mesh_2x4.whole(1)});
    broadcast.root = 2;
    DeviceBuffers buffers;
    for (int i = 0; i < 8; ++i) buffers.push_back({static_cast<double>(i)});
    DeviceBuffers after = broadcast.def->meaning(broadcast, mesh_2x4, f32_type({1}), buffers);
    CHECK(after == DeviceBuffers{{2}, {2}, {2}, {2}, {6}, {6}, {6}, {6}});
}

TEST_CASE("seconds of an all_gather agree with published figures") {
    auto seconds = [](Link link, i64 n, double gathered) {
        Hardware hardware;
        hardware.links = {std::move(link)};
        Mesh mesh{{{"x", n, ""}}, {}};
        Collective gather = make("all_gather", {mesh.whole(0)}, {{0, -1, {mesh.whole(0)}}});
        return gather.def->seconds(gather, mesh, hardware, static_cast<i64>(gathered) / n);
    };
    // TPU v4 4x4x4, bf16 [1024, 4096] sharded over X and Y, gathered over X: 23.3 us.
    Link v4{"ici", Link::Topology::torus, 4.5e10, 1e-6, true, 0};
    CHECK(seconds(v4, 4, 1024.0 * 4096 * 2 / 4) == doctest::Approx(23.3e-6).epsilon(0.002));
    // 8 H100, bf16 [4096, 65536]: 1.04 ms.
    Link nvlink{"nvlink", Link::Topology::switched, 4.5e11, 0, false, 0};
    CHECK(seconds(nvlink, 8, 4096.0 * 65536 * 2) == doctest::Approx(1.04e-3).epsilon(0.01));
    // TPU v5e, 4 chips in a row, bf16 [2048, 8192]: 559.2 us; axes under 16 do not wrap.
    Link v5e{"ici", Link::Topology::torus, 4.5e10, 1e-6, true, 16};
    CHECK(seconds(v5e, 4, 2048.0 * 8192 * 2) == doctest::Approx(559.2e-6).epsilon(0.001));
    // A small transfer is bound by latency: 3 hops of 1 us.
    CHECK(seconds(v5e, 4, 64) == doctest::Approx(3e-6));
}

TEST_CASE("seconds of the other collectives follow the table of link models") {
    Mesh mesh{{{"x", 16, ""}, {"y", 4, ""}}, {}};
    Hardware hardware;
    hardware.links = {Link{"ring", Link::Topology::torus, 100, 0, true, 16}};
    Collective exchange = make("all_to_all", {mesh.whole(0)}, {{0, 1, {mesh.whole(0)}}});
    CHECK(exchange.def->seconds(exchange, mesh, hardware, 1000) == doctest::Approx(16000.0 / 800)); // V/(8W)
    exchange.axes = exchange.moves[0].axes = {mesh.whole(1)};
    CHECK(exchange.def->seconds(exchange, mesh, hardware, 1000) ==
          doctest::Approx(4000.0 / 200 * 0.75)); // V/(2W)(1-1/n)
    Collective reduce = make("all_reduce", {mesh.whole(0)});
    CHECK(reduce.def->seconds(reduce, mesh, hardware, 1000) == doctest::Approx(2 * 1000.0 / 200));
    hardware.links[0].topology = Link::Topology::tree;
    CHECK(reduce.def->seconds(reduce, mesh, hardware, 1600) == doctest::Approx(2 * 15.0 / 16 * 1600 / 100));
    hardware.links[0].topology = Link::Topology::switched;
    hardware.links[0].latency = 1;
    Collective swap = make("collective_permute", {mesh.whole(1)});
    swap.source_order = swap.target_order = {mesh.whole(1)};
    CHECK(swap.def->seconds(swap, mesh, hardware, 1000) == 0.0); // nothing moves
    swap.source_order = {AxisRef{1, 1, 2}, AxisRef{1, 2, 2}};
    swap.target_order = {AxisRef{1, 2, 2}, AxisRef{1, 1, 2}};
    CHECK(swap.def->seconds(swap, mesh, hardware, 1000) == doctest::Approx(10));
}
