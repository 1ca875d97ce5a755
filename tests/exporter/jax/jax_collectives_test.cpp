// Collectives, reductions and contractions as JAX writes them, of plans made by hand.
#include "exporter/target/target.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <sstream>

namespace shard {

namespace {

struct LocalType {
    DType dtype = DType::f32;
    Shape shape;
};

std::string text_of(const Plan& plan) {
    Diagnostics diagnostics;
    const std::optional<std::string> text = find_target("jax")->write(plan, diagnostics);
    REQUIRE(text);
    return *text;
}

// The assignments of the program that call jax.lax or jax.numpy.
std::string calls_of(const Plan& plan) {
    std::istringstream lines(text_of(plan));
    std::string calls;
    for (std::string line; std::getline(lines, line);)
        if (line.find(" = lax.") != std::string::npos || line.find(" = jnp.") != std::string::npos)
            calls += line.substr(line.find_first_not_of(' ')) + "\n";
    return calls;
}

// Over a mesh of a 2 x b 2, on both axes, one for each move.
std::string collective(const std::string& kind, ReduceOp reduce, std::vector<std::pair<int, int>> moves,
                       LocalType input, Shape output) {
    PlanBuilder builder(make_mesh({{"a", 2}, {"b", 2}}));
    Collective fields;
    fields.reduce = reduce;
    fields.axes = builder.axes({"a", "b"});
    for (size_t m = 0; m < moves.size(); ++m)
        fields.moves.push_back({moves[m].first, moves[m].second, {fields.axes[m]}});
    const int x = builder.input("x", input.dtype, input.shape), y = builder.buffer("y", input.dtype, std::move(output));
    builder.collective(kind, fields, x, y);
    builder.output("y", y);
    return calls_of(builder.plan());
}

std::string reduction(ReduceOp op, DType dtype) {
    PlanBuilder builder(make_mesh({{"a", 2}}));
    const int x = builder.input("x", dtype, {4, 8}), y = builder.buffer("y", dtype, {4});
    builder.compute(Reduce{{1}, op}, {x}, y);
    builder.output("y", y);
    return calls_of(builder.plan());
}

} // namespace

TEST_CASE("export --to jax: a collective that moves several dims is one call after the other") {
    CHECK(collective("all_gather", ReduceOp::sum, {{0, -1}, {1, -1}}, {DType::f32, {2, 4}}, {4, 8}) ==
          "x_part = lax.all_gather(x, \"a\", axis=0, tiled=True)\n"
          "y = lax.all_gather(x_part, \"b\", axis=1, tiled=True)\n");
    CHECK(collective("all_to_all", ReduceOp::sum, {{0, 2}, {1, 2}}, {DType::f32, {2, 4, 8}}, {4, 8, 2}) ==
          "x_part = lax.all_to_all(x, \"a\", split_axis=2, concat_axis=0, tiled=True)\n"
          "y = lax.all_to_all(x_part, \"b\", split_axis=2, concat_axis=1, tiled=True)\n");
    CHECK(collective("reduce_scatter", ReduceOp::sum, {{-1, 0}, {-1, 1}}, {DType::f32, {4, 8}}, {2, 4}) ==
          "x_part = lax.psum_scatter(x, \"a\", scatter_dimension=0, tiled=True)\n"
          "y = lax.psum_scatter(x_part, \"b\", scatter_dimension=1, tiled=True)\n");
}

TEST_CASE("export --to jax: what jax.lax has no collective for is said by those that it has") {
    CHECK(collective("all_reduce", ReduceOp::max, {}, {DType::f32, {4}}, {4}) == "y = lax.pmax(x, (\"a\", \"b\"))\n");
    CHECK(collective("all_reduce", ReduceOp::prod, {}, {DType::f32, {4}}, {4}) ==
          "y = jnp.prod(lax.all_gather(x, (\"a\", \"b\")), axis=0).astype(jnp.float32)\n");
    CHECK(collective("all_reduce", ReduceOp::sum, {}, {DType::boolean, {4}}, {4}) ==
          "y = lax.pmax(x.astype(jnp.uint8), (\"a\", \"b\")).astype(bool)\n");
    CHECK(collective("all_reduce", ReduceOp::min, {}, {DType::boolean, {4}}, {4}) ==
          "y = lax.pmin(x.astype(jnp.uint8), (\"a\", \"b\")).astype(bool)\n");
}

TEST_CASE("export --to jax: sums and products of whole numbers keep their type") {
    CHECK(reduction(ReduceOp::sum, DType::f32) == "y = jnp.sum(x, axis=(1,))\n");
    CHECK(reduction(ReduceOp::sum, DType::i32) == "y = jnp.sum(x, axis=(1,), dtype=jnp.int32)\n");
    CHECK(reduction(ReduceOp::prod, DType::i32) == "y = jnp.prod(x, axis=(1,), dtype=jnp.int32)\n");
    CHECK(reduction(ReduceOp::max, DType::i32) == "y = jnp.max(x, axis=(1,))\n");
    CHECK(reduction(ReduceOp::sum, DType::boolean) == "y = jnp.any(x, axis=(1,))\n");
    CHECK(reduction(ReduceOp::min, DType::boolean) == "y = jnp.all(x, axis=(1,))\n");
}

TEST_CASE("export --to jax: an einsum of more than 26 letters goes on with capitals") {
    PlanBuilder builder(make_mesh({{"a", 2}}));
    Contract product;
    for (int label = 0; label < 28; ++label) (label < 14 ? product.lhs : product.rhs).push_back(label);
    for (int label = 0; label < 28; ++label) product.out.push_back(label);
    const int x = builder.input("x", DType::f32, Shape(14, 1)), w = builder.input("w", DType::f32, Shape(14, 1));
    const int y = builder.buffer("y", DType::f32, Shape(28, 1));
    builder.compute(product, {x, w}, y);
    builder.output("y", y);
    CHECK(text_of(builder.plan()).find("\"abcdefghijklmn,opqrstuvwxyzAB->abcdefghijklmnopqrstuvwxyzAB\"") !=
          std::string::npos);
}

} // namespace shard
