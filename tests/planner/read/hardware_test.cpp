#include "planner/read/hardware.h"
#include "planner/schedule/schedule.h"
#include "test_paths.h"
#include "tests/support/local_graph.h"

#include <doctest/doctest.h>

#include <cmath>
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

TEST_CASE("hardware: latencies, launch and shares by size are read, and refused where they cannot be") {
    const std::string path = std::string(SHARDC_TEST_DIR) + "/links_chip.yaml";
    std::ofstream(path) << "collective_launch: 5.0e-6\n"
                           "latency: add\n"
                           "roofline: add\n"
                           "memory: {bandwidth: 8, products: 4, cached: {bytes: 100, bandwidth: 32, products: 16}}\n"
                           "links:\n"
                           "  near: {topology: switched, devices: 4, bandwidth: 1.0e9, efficiency: 0.5}\n"
                           "  far: {topology: switched, bandwidth: 1.0e9, latency: 1.0e-6, in_network_reduction: 2,\n"
                           "        efficiency: {value: {1 MiB: 0.25, 16 MiB: 0.5, 1 GiB: 1}, source: a page}}\n";
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<Hardware> hardware = load_hardware(path, {}, sources, diagnostics);
    REQUIRE_MESSAGE(hardware.has_value(), (words(diagnostics).empty() ? "" : words(diagnostics)[0]));
    CHECK(hardware->collective_launch == 5e-6);
    CHECK(hardware->latency_adds);
    CHECK(hardware->roofline_adds);
    CHECK(hardware->product_bandwidth == 4);
    CHECK(hardware->cached == CacheRates{100, 32, 16});
    CHECK(hardware->links[0].devices == 4);
    CHECK(bandwidth(hardware->links[0], 7) == 5e8);
    CHECK(hardware->links[1].devices == 0);
    CHECK(hardware->links[1].in_network_reduction == 2);
    const double mib = 1 << 20;
    CHECK(bandwidth(hardware->links[1], 1) == doctest::Approx(2.5e8));
    CHECK(bandwidth(hardware->links[1], 4 * mib) == doctest::Approx(1e9 * std::sqrt(0.25 * 0.5))); // half way in powers
    CHECK(bandwidth(hardware->links[1], 16 * mib) == doctest::Approx(5e8));
    CHECK(bandwidth(hardware->links[1], 1e12) == doctest::Approx(1e9));
    CHECK(hardware->sources == std::vector<std::string>{"efficiency: a page"});

    std::ofstream(path) << "latency: both\n"
                           "roofline: none\n"
                           "memory: {cached: {size: 3}}\n"
                           "links:\n"
                           "  a: {topology: switched, bandwidth: 1.0e9, devices: 2.5}\n"
                           "  b: {topology: switched, bandwidth: 1.0e9, efficiency: 1.5}\n"
                           "  c: {topology: switched, bandwidth: 1.0e9, efficiency: {few: 0.5}}\n"
                           "  d: {topology: switched, bandwidth: 1.0e9, efficiency: {2 MiB: 0.5, 1 MiB: 0.6}}\n"
                           "  e: {topology: switched, bandwidth: 1.0e9, efficiency: {1 MiB: 0.1, 2 MiB: 0.3}}\n"
                           "  f: {topology: switched, bandwidth: 1.0e9, in_network_reduction: 0.5}\n"
                           "  g: {topology: switched, bandwidth: 1.0e9, efficiency: {source: a page}}\n";
    Sources again;
    Diagnostics more;
    CHECK_FALSE(load_hardware(path, {}, again, more).has_value());
    CHECK(words(more) == std::vector<std::string>{
                             "E0114 unknown key 'size' in cached",
                             "E0331 unknown latency 'both'",
                             "E0331 unknown roofline 'none'",
                             "E0331 devices cannot be 2.5",
                             "E0331 efficiency cannot be 1.5",
                             "E0331 efficiency at 'few'",
                             "E0331 sizes of efficiency ascend",
                             "E0331 2 MiB would take less time than what is smaller",
                             "E0331 in_network_reduction cannot be 0.5",
                             "E0331 efficiency has no value",
                         });
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
