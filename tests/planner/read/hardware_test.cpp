#include "planner/read/hardware.h"
#include "planner/schedule/schedule.h"
#include "test_paths.h"
#include "tests/support/local_graph.h"

#include <doctest/doctest.h>

#include <fstream>

using namespace shard;

namespace {

Hardware builtin(std::string_view name) {
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<Hardware> hardware = load_hardware(name, {}, sources, diagnostics);
    REQUIRE(hardware.has_value());
    return *hardware;
}

// Seconds of an all_gather over all of `axes`, each device holding `local` along dim 0.
double all_gather_seconds(std::string_view profile, const Mesh& mesh, const std::vector<std::string>& axes,
                          Shape local) {
    Collective gather;
    gather.def = find_collective("all_gather");
    for (const std::string& axis : axes) gather.axes.push_back(*parse_axis_ref(mesh, axis));
    gather.moves = {{0, -1, gather.axes}};
    const TensorType type{DType::bf16, std::move(local), {}};
    return gather.def->seconds(gather, mesh, builtin(profile), type.bytes());
}

} // namespace

TEST_CASE("hardware: every built-in profile loads and has a source for its numbers") {
    const std::vector<std::string> names = builtin_hardware();
    CHECK(names.size() >= 12); // one per file: tests/structure/embedded_test.cpp
    for (const std::string& name : names) {
        const Hardware hardware = builtin(name);
        CHECK_MESSAGE(hardware.name == name, name);
        CHECK_MESSAGE(hardware.doc != "", name);
        // The peaks, the memory's bandwidth and each link's at least.
        CHECK_MESSAGE(hardware.sources.size() >= hardware.flops.size() + 1 + hardware.links.size(), name);
    }
}

// Figures that others published (scaling-book; the numbers are recomputed from its formulas).

TEST_CASE("figure 5: all_gather over X on v4 4x4x4 of bf16 [1024, 4096] sharded on Y too takes 23 us") {
    const Mesh mesh = mesh_of({{"X", 4}, {"Y", 4}, {"Z", 4}});
    const double seconds = all_gather_seconds("tpu-v4", mesh, {"X"}, {1024 / 4, 4096 / 4});
    CHECK(seconds == doctest::Approx(2.0 * 1024 * 4096 / 4 / 9e10)); // V / 2W: both directions of a ring
    CHECK(seconds * 1e6 == doctest::Approx(23.3).epsilon(0.01));
}

TEST_CASE("figure 6: all_gather over 8 H100 of bf16 [4096, 65536] takes 1.04 ms") {
    const double seconds = all_gather_seconds("h100", mesh_of({{"gpu", 8}}), {"gpu"}, {4096 / 8, 65536});
    CHECK(seconds * 1e3 == doctest::Approx(1.04).epsilon(0.01)); // 7/8 V/W
}

TEST_CASE("figure 7: all_gather over 4 chips of v5e in a row without wrap of bf16 [2048, 8192] takes 559 us") {
    const double seconds = all_gather_seconds("tpu-v5e", mesh_of({{"row", 4}}), {"row"}, {2048 / 4, 8192});
    CHECK(seconds * 1e6 == doctest::Approx(559.2).epsilon(0.001)); // 3/4 V/W, one way
    // 16 chips do wrap: both directions.
    CHECK(all_gather_seconds("tpu-v5e", mesh_of({{"row", 16}}), {"row"}, {2048 / 16, 8192}) * 1e6 ==
          doctest::Approx(2.0 * 2048 * 8192 / 9e10 * 1e6));
}

TEST_CASE("hardware: an unknown profile gets a suggestion") {
    Sources sources;
    Diagnostics diagnostics;
    CHECK_FALSE(load_hardware("tpuv5e", {}, sources, diagnostics).has_value());
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(words(diagnostics)[0] == "E0330 unknown hardware profile 'tpuv5e'");
    CHECK(diagnostics.all()[0].help == "did you mean 'tpu-v5e'?");
    CHECK_FALSE(load_hardware("nowhere.yaml", {}, sources, diagnostics).has_value());
    CHECK(load_hardware("H100", {}, sources, diagnostics)->name == "h100");
    CHECK(load_hardware("TPU-v5e", {}, sources, diagnostics)->name == "tpu-v5e");
    CHECK(words(diagnostics)[1] == "E0330 the hardware profile nowhere.yaml cannot be read");
}

TEST_CASE("hardware: a profile of what cannot be is refused, each figure where it stands") {
    const std::string path = std::string(SHARDC_TEST_DIR) + "/impossible_chip.yaml";
    std::ofstream(path) << "flops: {f33: 1.0e12, f32: -1.0e12, bf16: {source: a page}}\n"
                           "memory: {bytes: 1.6e10, bandwidth: -1}\n"
                           "links:\n"
                           "  ici: {topology: mesh, bandwidth: 1.0e9}\n"
                           "  dcn: {topology: switched, latency: 1.0e-6}\n";
    Sources sources;
    Diagnostics diagnostics;
    CHECK_FALSE(load_hardware(path, {}, sources, diagnostics).has_value());
    CHECK(words(diagnostics) == std::vector<std::string>{
                                    "E0331 unknown dtype 'f33'",
                                    "E0331 f32 cannot be -1000000000000",
                                    "E0331 bf16 has no value",
                                    "E0331 bandwidth cannot be -1",
                                    "E0331 unknown topology 'mesh'",
                                    "E0331 the link has no bandwidth",
                                });
    std::vector<int> lines;
    for (const Diagnostic& diagnostic : diagnostics.all()) lines.push_back(diagnostic.labels.at(0).span.line);
    CHECK(lines == std::vector<int>{1, 1, 1, 2, 4, 5});
    std::ofstream(path) << "flops: 7\n";
    Sources again; // a text that is there is not read a second time
    Diagnostics more;
    CHECK_FALSE(load_hardware(path, {}, again, more).has_value());
    CHECK(words(more) == std::vector<std::string>{"E0331 flops is a number, expected a map from dtypes to numbers",
                                                  "E0331 a hardware profile has at least one link"});
}

TEST_CASE("hardware: a mesh axis may use only links of the profile") {
    Mesh mesh = mesh_of({{"data", 2}, {"model", 4}});
    mesh.axes[0].link = "dcn";
    Diagnostics diagnostics;
    CHECK(check_links(mesh, {}, builtin("tpu-v5e"), diagnostics));
    CHECK_FALSE(check_links(mesh, {}, builtin("h100"), diagnostics));
    CHECK(words(diagnostics) ==
          std::vector<std::string>{"E0402 mesh axis 'data' uses the link 'dcn', which h100 does not have"});
    CHECK(diagnostics.all()[0].help == "links of h100: nvlink, network");
}
