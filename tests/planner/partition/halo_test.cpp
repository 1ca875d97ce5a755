// Ops that move elements along a split dim: only what crosses from block to block is sent. Bytes are counted by hand,
// and every plan is proved.
#include "planner/partition/halo.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

// Rows of 16 numbers, 64 B, over 8 devices: a block is 32 rows.
std::string rows(const std::string& graph) {
    return "model: rows\naxes: {n: 256, w: 16}\ninputs: {x: {axes: [n, w]}}\ngraph:\n" + graph + "outputs: [y]\n";
}
const std::string by_rows = "mesh: {d: 8}\nrules: [{n: d}]\nhardware: uniform\n";

struct Sent {
    std::vector<std::string> kinds;
    i64 bytes = 0; // by all devices
};

Sent sent(const std::string& model, const std::string& layout, const std::string& mode = "forward") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = mode;
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    CAPTURE(model);
    REQUIRE(compilation.plan.has_value());
    Sent sent;
    for (const CollectiveReport& collective : compilation.plan->report.collectives) {
        sent.kinds.push_back(collective.kind);
        sent.bytes += collective.wire_bytes_total;
    }
    const std::vector<std::string> problems = prove(sources, request, compilation, {.mode = mode});
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
    return sent;
}

TensorType f32(Shape shape) {
    TensorType type;
    type.dtype = DType::f32;
    type.logical.resize(shape.size());
    type.shape = std::move(shape);
    return type;
}

} // namespace

TEST_CASE("a shift by one sends one element to the neighbour, and the first device receives none") {
    // 8 elements over 4 devices, one place on: out[1..7] = in[0..6].
    Mesh mesh;
    mesh.axes = {{"d", 4, ""}};
    Move whole;
    whole.pieces = {{0, {constant(0)}, {1}, {constant(1)}, {1}, {7}}};
    whole.covers = false;
    const std::vector<TensorType> operands = {f32({8})};
    const std::vector<AxisRef> axes = {mesh.whole(0)};
    const std::optional<Halo> made = halo(whole, operands, f32({8}), 0, axes);
    REQUIRE(made.has_value());
    REQUIRE(made->messages.size() == 1);
    const Halo::Message& message = made->messages[0];
    CHECK(message.type.shape == Shape{1});
    REQUIRE(message.cut.has_value());
    CHECK(message.cut->pieces[0].in_start[0] == constant(1)); // the last one of a block of two
    REQUIRE(message.exchange.has_value());
    CHECK(message.exchange->pairs == std::vector<std::pair<i64, i64>>{{0, 1}, {1, 2}, {2, 3}});
    CHECK(made->assemble.pieces.size() == 2);
    CHECK_FALSE(made->assemble.covers);
}

TEST_CASE("what one device alone keeps is read where it lies") {
    // 72 elements over 4 devices, of which 1..64 become blocks of 16: of its 18 each keeps another part.
    Mesh mesh;
    mesh.axes = {{"d", 4, ""}};
    Move whole;
    whole.pieces = {{0, {constant(1)}, {1}, {constant(0)}, {1}, {64}}};
    const std::vector<TensorType> operands = {f32({72})};
    const std::vector<AxisRef> axes = {mesh.whole(0)};
    const std::optional<Halo> made = halo(whole, operands, f32({64}), 0, axes);
    REQUIRE(made.has_value());
    CHECK(made->messages.size() == 3); // to the neighbour before it
    for (const Halo::Message& message : made->messages) CHECK(message.exchange.has_value());
    std::vector<i64> kept;
    for (const MovePiece& piece : made->assemble.pieces)
        if (piece.operand == 0) kept.push_back(piece.extent[0]);
    CHECK(kept == std::vector<i64>{16, 15, 13, 11});
    sent("model: m\naxes: {n: 72, w: 4}\ninputs: {x: {axes: [n, w]}}\ngraph:\n"
         "  - y: {slice: x, dim: 0, start: 1, limit: 65}\noutputs: [y]\n",
         "mesh: {d: 4}\nrules: [{n: d}]\noutputs: {y: [d, ~]}\nhardware: uniform\n");
}

TEST_CASE("what is put between many devices is no halo") {
    // One element out of every block of 2 goes to a block of its own, each at another place: 128 kinds of messages.
    Mesh mesh;
    mesh.axes = {{"d", 128, ""}};
    Move whole;
    for (i64 n = 0; n < 128; ++n)
        whole.pieces.push_back({0, {constant(2 * n)}, {1}, {constant(128 * n + n)}, {1}, {1}});
    const std::vector<TensorType> operands = {f32({256})};
    const std::vector<AxisRef> axes = {mesh.whole(0)};
    CHECK_FALSE(halo(whole, operands, f32({128 * 128}), 0, axes).has_value());
}

TEST_CASE("slice, pad, rev and concatenate of a split dim send no more than what crosses between blocks") {
    struct Case {
        std::string graph;
        i64 bytes;
    };
    const std::vector<Case> cases = {
        // One row from each device but the last, or the first, to its neighbour.
        {"  - y: {pad: x, dim: 0, low: 1, high: -1}\n", 7 * 64},
        {"  - y: {pad: x, dim: 0, low: -3, high: 3, value: 2}\n", 7 * 3 * 64},
        // By 40 rows: 32 from one device on to the next one but one is 8 from there, and 24 to the neighbour.
        {"  - y: {pad: x, dim: 0, low: 40, high: -40}\n", (7 * 24 + 6 * 8) * 64},
        // Every other row: each device has its own.
        {"  - y: {slice: x, dim: 0, stride: 2}\n", 0},
        // 128 rows, 16 to a device; those of the first device are there.
        {"  - y: {slice: x, dim: 0, limit: 128}\n", 7 * 16 * 64},
        // Of the second device's rows 19..34 it has three.
        {"  - y: {slice: x, dim: 0, start: 3, limit: 131}\n", (128 - 16 - 3) * 64},
        // Twice as many, 64 to a device, of which its own block of 32 is at the front or further back.
        {"  - y: {pad: x, dim: 0, interior: 1, high: 1}\n", 0},
        {"  - z: {neg: x}\n  - y: {concatenate: [x, z], dim: 0}\n", 2 * 7 * 32 * 64},
        // Blocks trade places, and none stays.
        {"  - y: {rev: x, dim: 0}\n", 256 * 64},
    };
    for (const Case& one : cases) {
        const Sent made = sent(rows(one.graph), by_rows);
        CAPTURE(one.graph);
        CHECK(made.bytes == one.bytes);
        for (const std::string& kind : made.kinds) CHECK(kind == "collective_permute");
    }
}

TEST_CASE("a product that is split into three sends thirds of blocks") {
    // q, k and v lie behind each other in 24 thirds of blocks, three to a device; third t belongs to device t mod 8, and
    // 4 of them lie there already. A third is (8, 16, 8) floats.
    const std::string model = "model: qkv\naxes: {b: 8, l: 16, e: 64, n: 192}\n"
                              "inputs: {x: {axes: [b, l, e]}}\nparams: {w: {axes: [e, n]}}\n"
                              "graph:\n  - h: {dot: [x, w]}\n"
                              "  - q: {slice: h, dim: 2, start: 0, limit: 64}\n"
                              "  - k: {slice: h, dim: 2, start: 64, limit: 128}\n"
                              "  - v: {slice: h, dim: 2, start: 128, limit: 192}\noutputs: [q, k, v]\n";
    CHECK(sent(model, by_rows).bytes == (24 - 4) * 8 * 16 * 8 * 4);
}

TEST_CASE("windows of a convolution or pooling reach over the borders of blocks, and no more is sent than they meet") {
    const auto bytes = [](const std::string& entry) {
        const Sent made = sent("model: rows\naxes: {one: 1, n: 256, w: 16}\ninputs: {x: {axes: [one, n, w]}}\n"
                               "params: {k3: {shape: [3, 16, 16]}, k4: {shape: [4, 16, 16]}}\ngraph:\n  - y: {" +
                                   entry + "}\noutputs: [y]\n",
                               by_rows);
        for (const std::string& kind : made.kinds) CHECK(kind == "collective_permute");
        return made.bytes;
    };
    // 7 borders between 8 devices, rows of 64 B.
    CHECK(bytes("conv: [x, k3], padding: same") == 7 * 2 * 64);
    CHECK(bytes("conv: [x, k3], padding: same, dilation: 3") == 7 * 6 * 64);
    CHECK(bytes("conv: [x, k3], padding: same, strides: 2") == 7 * 64); // a border behind alone
    CHECK(bytes("conv: [x, k4], strides: 4") == 0);
    CHECK(bytes("conv: [x, k4], low: 0, high: 3") == 7 * 3 * 64);
    CHECK(bytes("conv_transpose: [x, k3], strides: 2, padding: same") == 7 * 64);
    CHECK(bytes("max_pool: x, window: 3, padding: same") == 7 * 2 * 64);
    CHECK(bytes("avg_pool: x, window: 2, strides: 2") == 0);
}

TEST_CASE("corners arrive where a convolution is split along two dims") {
    // 4 x 2 blocks of 4 x 4 elements of 4 bytes: along the rows a row each way over 3 borders for each of 2 columns, then
    // along the columns a column of 4 + 2 rows each way over a border for each of 4 rows.
    const Sent made = sent("model: image\naxes: {one: 1, h: 16, w: 8}\ninputs: {x: {axes: [one, h, w, 1]}}\n"
                           "params: {k: {shape: [3, 3, 1, 1]}}\ngraph:\n  - y: {conv: [x, k], padding: same}\n"
                           "outputs: [y]\n",
                           "mesh: {a: 4, b: 2}\nrules: [{h: a}, {w: b}]\nhardware: uniform\n");
    CHECK(made.bytes == 2 * 3 * 2 * 4 * 4 + 2 * 4 * 6 * 4);
}

} // namespace shard
