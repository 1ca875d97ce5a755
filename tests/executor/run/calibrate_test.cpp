#include "executor/run/calibrate.h"
#include "planner/read/hardware.h"
#include "planner/schedule/schedule.h"
#include "plans/disk/output_file.h"

#include <doctest/doctest.h>
#include <test_paths.h>

using namespace shard;

TEST_CASE("calibrate: the profile that it writes is one that layouts can name") {
    Diagnostics diagnostics;
    const std::optional<Calibration> found =
        calibrate({16, i64{4096} * 64, 1}, diagnostics); // sizes that say nothing, in no time
    REQUIRE(found);
    // What no core does, whichever it is: a kernel a nanosecond, a TFLOP/s on so small matrices.
    CHECK(found->kernel_launch > 1e-9);
    CHECK(found->flops_f64 / found->cores < 1e12);
    const std::string path = std::string(SHARDC_TEST_DIR) + "/measured.yaml";
    std::string problem;
    REQUIRE(write_file_atomically(path, calibration_yaml(*found), problem));
    Sources sources;
    const std::optional<Hardware> hardware = load_hardware(path, {}, sources, diagnostics, found->cores);
    REQUIRE(hardware);
    const double part = 1.0 / found->cores; // of a device that has one core
    CHECK(diagnostics.all().empty());
    CHECK(hardware->name == "measured");
    CHECK(hardware->flops.size() == 5);
    CHECK(hardware->flops.at("f64") == doctest::Approx(found->flops_f64 * part).epsilon(1e-3));
    CHECK(hardware->memory_bandwidth == doctest::Approx(found->memory_bandwidth * part).epsilon(1e-3));
    CHECK(hardware->kernel_launch == doctest::Approx(found->kernel_launch).epsilon(1e-3));
    REQUIRE(hardware->links.size() == 1);
    REQUIRE_FALSE(found->link_bandwidth.empty());
    const auto [size, bytes_per_second] = found->link_bandwidth.front();
    CHECK(bandwidth(hardware->links[0], size) == doctest::Approx(bytes_per_second * part).epsilon(1e-3));
    CHECK(hardware->flops.at("pointwise") == doctest::Approx(found->pointwise * part).epsilon(1e-3));
    CHECK(hardware->flops.at("functions") == doctest::Approx(found->functions * part).epsilon(1e-3));
    CHECK(hardware->roofline_adds);
    CHECK(hardware->product_bandwidth == doctest::Approx(found->product_bandwidth * part).epsilon(1e-3));
    CHECK(hardware->cached.bytes == doctest::Approx(found->cache_bytes * part).epsilon(1e-3));
    CHECK(hardware->cached.bandwidth == doctest::Approx(found->cache_bandwidth * part).epsilon(1e-3));
    for (const std::vector<SizeShare>& curve :
         {hardware->attention_efficiency, hardware->attention_gradient_efficiency}) {
        REQUIRE(curve.size() == 5);
        CHECK(curve.front().size == 8);
        for (const SizeShare& at : curve) CHECK(at.share <= 1);
    }
    CHECK(hardware->sources.size() == 16);
    for (const std::string& source : hardware->sources)
        CHECK(source.find("measured by shardc calibrate") != std::string::npos);
}

TEST_CASE("calibrate: shares of small messages are as exact as those of large ones") {
    Calibration measured;
    measured.cores = 1;
    for (double* rate : {&measured.flops_f32, &measured.flops_f64, &measured.flops_bf16, &measured.memory_bandwidth,
                         &measured.product_bandwidth, &measured.cache_bandwidth, &measured.cache_product_bandwidth,
                         &measured.pointwise, &measured.functions})
        *rate = 1e9;
    measured.cache_bytes = 1e6;
    measured.kernel_launch = measured.collective_launch = 1e-6;
    measured.attention = measured.attention_gradient = {{8, 0.00012345}, {64, 0.5}};
    measured.link_bandwidth = {{64, 1.23456e3}, {65536, 1.23456e6}, {16777216, 1e8}};
    const std::string path = std::string(SHARDC_TEST_DIR) + "/measured.yaml";
    std::string problem;
    REQUIRE(write_file_atomically(path, calibration_yaml(measured), problem));
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<Hardware> hardware = load_hardware(path, {}, sources, diagnostics, measured.cores);
    REQUIRE(hardware);
    for (const auto& [size, bytes_per_second] : measured.link_bandwidth)
        CHECK(bandwidth(hardware->links[0], size) == doctest::Approx(bytes_per_second).epsilon(1e-3));
    CHECK(hardware->attention_efficiency.front().share == doctest::Approx(0.00012345).epsilon(1e-3));
}
