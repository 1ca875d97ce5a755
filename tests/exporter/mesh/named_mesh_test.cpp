#include "exporter/mesh/named_mesh.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

std::vector<std::string> names(const NamedMesh& mesh) {
    std::vector<std::string> names;
    for (const MeshAxis& axis : mesh.axes()) names.push_back(axis.name + " " + std::to_string(axis.size));
    return names;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("an axis that is used whole keeps its name") {
    PlanBuilder builder(make_mesh({{"data", 2}, {"model", 4}}));
    builder.buffer("x", DType::f32, {8, 8}, "[data | model]");
    Diagnostics diagnostics;
    const std::optional<NamedMesh> mesh = NamedMesh::of(builder.plan(), diagnostics);
    REQUIRE(mesh);
    CHECK(names(*mesh) == Names{"data 2", "model 4"});
    CHECK(mesh->names(AxisRef{1, 1, 4}) == Names{"model"});
}

TEST_CASE("an axis is cut wherever a part of it is used: by shardings, collectives and offsets") {
    PlanBuilder builder(make_mesh({{"a", 16}, {"a_1", 3}}));
    const int x = builder.buffer("x", DType::f32, {8, 8}, "[a:(2)2 | -]");
    Collective gather;
    gather.axes = {{0, 1, 8}};
    gather.moves = {{0, -1, gather.axes}};
    builder.collective("all_gather", gather, x, x);
    Diagnostics diagnostics;
    std::optional<NamedMesh> mesh = NamedMesh::of(builder.plan(), diagnostics);
    REQUIRE(mesh);
    // Cut at 2, 4 and 8; a_1 is taken.
    CHECK(names(*mesh) == Names{"a_0 2", "a_1_ 2", "a_2 2", "a_3 2", "a_1 3"});
    CHECK(mesh->names(AxisRef{0, 2, 2}) == Names{"a_1_"});
    CHECK(mesh->names(AxisRef{0, 1, 16}) == Names{"a_0", "a_1_", "a_2", "a_3"});
    const std::vector<AxisRef> list = {{1, 1, 3}, {0, 2, 4}};
    CHECK(mesh->names(list) == Names{"a_1", "a_1_", "a_2"});

    PlanBuilder offsets(make_mesh({{"a", 4}}));
    const int y = offsets.buffer("y", DType::i32, {8});
    Affine start;
    AffineTerm term;
    term.axis = {0, 1, 2};
    start.terms.push_back(term);
    offsets.begin_loop(0, 2);
    offsets.compute(Generate{Iota{0}, {8}, {start}}, {}, y);
    offsets.end_loop();
    mesh = NamedMesh::of(offsets.plan(), diagnostics);
    REQUIRE(mesh);
    CHECK(names(*mesh) == Names{"a_0 2", "a_1 2"});
    CHECK(diagnostics.all().empty());
}
