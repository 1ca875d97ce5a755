// Shardings of GSPMD, as JAX 0.4.35 prints them for arrays on a mesh {data: 2, model: 4}, and others.
#include "importer/mlir/mlir_reader.h"
#include "importer/model/device_shardings.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

// What a program with arguments so sharded says of each, after its mesh.
std::string said(const std::vector<std::string>& shardings, size_t rank = 2) {
    std::string text = "func.func @main(";
    for (size_t i = 0; i < shardings.size(); ++i)
        text += fmt::format("{}%a{}: tensor<f32> {{mhlo.sharding = \"{}\"}}", i == 0 ? "" : ", ", i, shardings[i]);
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<MlirModule> module =
        read_mlir(sources, sources.add("p.mlir", text + ") {\n  return\n}\n"), diagnostics);
    REQUIRE(module.has_value());
    const DeviceShardings found(*module);
    std::string out = fmt::format("{}", fmt::join(found.mesh().sizes, "x"));
    for (const std::string& sharding : shardings) out += " " + found.text(sharding, rank).value_or("none");
    return out;
}

} // namespace

TEST_CASE("the axes of a mesh are found in shardings over devices") {
    // P('data', 'model'), P('data'), P(None, 'model'), P(('model', 'data')), P()
    CHECK(said({"{devices=[2,4]<=[8]}", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
                "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}", "{devices=[8,1]<=[2,4]T(1,0)}",
                "{replicated}"}) == "2x4 [axis_0, axis_1] [axis_0, ~] [~, axis_1] [[axis_1, axis_0], ~] [~, ~]");
    CHECK(said({"{devices=[8,1]<=[8]}"}) == "8 [axis_0, ~]");
    CHECK(said({"{devices=[2,1,4]<=[8] last_tile_dims={replicated}}"}) == "2x4 [axis_0, ~]");
    CHECK(said({"{devices=[2,2,2]<=[2,2,2]T(2,0,1) last_tile_dim_replicate}"}) == "2x2x2 [axis_2, axis_0]");
    CHECK(said({"{devices=[4,1]<=[4] metadata={op_name=x}}"}) == "4 [axis_0, ~]");
}

TEST_CASE("the axes of a mesh are found in lists of devices") {
    CHECK(said({"{devices=[2,2]0,1,2,3}", "{devices=[2,2]0,2,1,3}"}) == "2x2 [axis_0, axis_1] [axis_1, axis_0]");
    CHECK(said({"{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"}) == "2x4 [axis_1, ~]");
    CHECK(said({"{devices=[4,1]0,2,1,3}"}) == "2x2 [[axis_1, axis_0], ~]");
}

TEST_CASE("what is no split over axes of one mesh has no text") {
    for (const char* const none :
         {"{maximal device=0}", "{manual}", "{devices=[4,1]0,1,3,2}", "{devices=[4,1]1,0,3,2}",
          "{devices=[2,2]0,1,1,2}", "{devices=[2,1,4]<=[8] last_tile_dims={manual}}", "{devices=[8,1]<=[4]}",
          "{devices=[0,1]<=[0]}", "{devices=[2,1]<=[2]T(1)}", "{devices=[3,2]<=[2,3]}", "{devices=[2,1]<=[2",
          "{devices=[]<=[]}", "", "{devices=[2097152,1]<=[2097152]}", "{devices=[1048576,1048576]<=[1048576,1048576]}",
          "{devices=[4,1]0,4,8,12}", "{devices=[2]<=[2]}"})
        CHECK_MESSAGE(said({none}).ends_with(" none"), none);
    // Halves and thirds of the same devices; other devices than the rest.
    CHECK(said({"{devices=[2,1,3]<=[6] last_tile_dim_replicate}", "{devices=[3,1,2]<=[6] last_tile_dim_replicate}"}) ==
          " none none");
    CHECK(said({"{devices=[2,1]<=[2]}", "{devices=[4,1]<=[4]}"}) == "4 none [axis_0, ~]");
}

TEST_CASE("dims of a sharding over devices may be left open") {
    Sources sources;
    Diagnostics diagnostics;
    const std::string split = "{devices=[2,4]<=[8]}";
    const int file =
        sources.add("p.mlir", "func.func @main(%a: tensor<f32> {mhlo.sharding = \"" + split + "\"}) {\n  return\n}\n");
    const std::optional<MlirModule> module = read_mlir(sources, file, diagnostics);
    REQUIRE(module.has_value());
    CHECK(DeviceShardings(*module).text(split, 2, {1}) == "[axis_0, \"axis_1?\"]");
    CHECK(DeviceShardings(*module).text("{devices=[4,2]<=[8]}", 2) == std::nullopt); // nowhere in the program
}
