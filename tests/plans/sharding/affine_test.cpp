#include "plans/sharding/affine.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const Mesh mesh = {{{"data", 2, ""}, {"model", 4, ""}}, {}};

i64 at(const Affine& affine, i64 position) {
    const std::vector<i64> coordinates = coordinates_of(mesh, position);
    AffineContext context;
    context.mesh = &mesh;
    context.coordinates = coordinates;
    return evaluate(affine, context);
}

} // namespace

TEST_CASE("the start of a block is an affine expression over coordinates") {
    const std::vector<AxisRef> data = {mesh.whole(0)};
    const Affine start = block_start(8, data);
    CHECK(text(mesh, start) == "4*data");
    CHECK(at(start, 3) == 0);
    CHECK(at(start, 4) == 4);

    for (const char* spec : {"[data,model]", "[model,data]", "[model:(2)2]", "[model:(1)2,data]", "[-]"}) {
        const std::optional<Sharding> sharding = parse_sharding(mesh, spec);
        REQUIRE(sharding);
        const Affine block = block_start(64, sharding->dims[0].axes);
        for (i64 p = 0; p < 8; ++p)
            CHECK(at(block, p) == local_start(mesh, {64}, *sharding, coordinates_of(mesh, p))[0]);
    }
}

TEST_CASE("sums merge terms over one variable, and zero vanishes") {
    const std::vector<AxisRef> data = {mesh.whole(0)}, model = {mesh.whole(1)};
    const Affine sum = block_start(8, data) + block_start(64, model) + constant(3);
    CHECK(text(mesh, sum) == "4*data + 16*model + 3");
    CHECK(text(mesh, sum + block_start(8, data) * -1) == "16*model + 3");
    CHECK(text(mesh, sum * -1) == "-4*data - 16*model - 3");
    CHECK((sum * 0).is_constant());
    CHECK(text(mesh, sum * 0) == "0");
    CHECK(text(mesh, block_start(2, data)) == "data");
    CHECK(block_start(0, data).is_constant());
}

TEST_CASE("loop indices and scalar buffers") {
    Affine affine = constant(1);
    affine.terms.push_back({AffineTerm::Kind::loop, {}, 1, 10});
    affine.terms.push_back({AffineTerm::Kind::scalar, {}, 7, 100});
    const std::vector<i64> loops = {5, 6};
    AffineContext context;
    context.mesh = &mesh;
    context.loops = loops;
    const i64 offset = 1000;
    context.state = &offset;
    context.scalar = [](const void* state, int buffer) { return *static_cast<const i64*>(state) + buffer; };
    CHECK(evaluate(affine, context) == 1 + 10 * 6 + 100 * 1007);
    CHECK(text(mesh, affine) == "10*loop1 + 100*scalar7 + 1");
}
