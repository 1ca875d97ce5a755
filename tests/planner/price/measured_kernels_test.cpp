// Seconds of kernels, against what GPUs took for the same ones: measured_h100.csv and measured_h200.csv are what
// bench/gpu/kernels.py printed (docs/measured-kernels.md).
#include "planner/read/hardware.h"
#include "plans/disk/file.h"
#include "plans/kernel/kernel_cost.h"

#include <doctest/doctest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "test_paths.h"

using namespace shard;

namespace {

struct Measured {
    std::string kind, dtype;
    i64 b = 0, m = 0, n = 0, k = 0, bytes = 0;
    double seconds = 0;

    bool is_product() const { return kind == "matmul"; }
    // Tensor cores take 16 bytes at a time; libraries pad other sizes or do without them.
    bool is_aligned() const {
        const auto fits = [](i64 size) { return size % 8 == 0 || size < 8; };
        return fits(m) && fits(n) && fits(k);
    }
};

std::vector<Measured> measured(const std::string& gpu) {
    std::string problem;
    const std::optional<std::string> text =
        read_file(std::string(SHARDC_SOURCE_DIR) + "/tests/planner/price/measured_" + gpu + ".csv", problem);
    REQUIRE(text);
    std::vector<Measured> rows;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#") || line.starts_with("kind")) continue;
        std::istringstream cells(line);
        const auto cell = [&cells] {
            std::string value;
            std::getline(cells, value, ',');
            return value;
        };
        Measured row{cell(), cell()};
        for (i64* field : {&row.b, &row.m, &row.n, &row.k, &row.bytes}) *field = std::stoll(cell());
        row.seconds = std::stod(cell()) * 1e-6;
        rows.push_back(row);
    }
    return rows;
}

Hardware profile(const std::string& gpu) {
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<Hardware> hardware = load_hardware(gpu, {}, sources, diagnostics, 8);
    REQUIRE(hardware);
    return *hardware;
}

double predicted(const Hardware& hardware, const Measured& row) {
    const TensorType type{*parse_dtype(row.dtype), {}, {}};
    const i64 flops = row.is_product() ? 2 * row.b * row.m * row.n * row.k : row.m;
    const Kernel kernel = row.is_product() ? Kernel(Contract{}) : Kernel(Pointwise{});
    return kernel_seconds(hardware, kernel, {&type, 1}, type, flops, row.bytes);
}

// Predicted over measured: in the geometric mean, how far from it, and the extremes.
struct Agreement {
    double sum = 0, squares = 0, least = 1e9, most = 0;
    int count = 0;

    void add(double ratio) {
        sum += std::log(ratio);
        squares += std::log(ratio) * std::log(ratio);
        least = std::min(least, ratio);
        most = std::max(most, ratio);
        ++count;
    }
    double mean() const { return std::exp(sum / count); }
    double spread() const { return std::sqrt(squares / count); } // of the logarithm, 0.2: by a fifth
};

} // namespace

TEST_CASE("measured kernels: products and pointwise kernels of H100 and H200 take what is predicted") {
    for (const std::string gpu : {"h100", "h200"}) {
        CAPTURE(gpu);
        const Hardware hardware = profile(gpu);
        Agreement products, large, pointwise, long_ones;
        for (const Measured& row : measured(gpu)) {
            if (!row.is_aligned()) continue;
            const double ratio = predicted(hardware, row) / row.seconds;
            if (row.is_product()) {
                products.add(ratio);
                if (row.seconds > 50e-6) large.add(ratio);
            } else {
                pointwise.add(ratio);
                if (row.seconds > 50e-6) long_ones.add(ratio);
            }
        }
        REQUIRE(products.count > 400);
        REQUIRE(pointwise.count > 40);
        CHECK(products.mean() == doctest::Approx(0.9).epsilon(0.05));
        CHECK(products.spread() < 0.24);
        CHECK(large.mean() == doctest::Approx(0.97).epsilon(0.06));
        CHECK(large.spread() < 0.13);
        CHECK(pointwise.mean() < 1.4);
        CHECK(long_ones.mean() == doctest::Approx(1).epsilon(0.03));
        CHECK(long_ones.spread() < 0.05);
    }
}

TEST_CASE("measured kernels: products of f32 go at f32's rate, not at that of tensor cores") {
    for (const std::string gpu : {"h100", "h200"}) {
        const Hardware hardware = profile(gpu);
        int seen = 0;
        for (const Measured& row : measured(gpu))
            if (row.dtype == "f32" && row.m >= 2048) {
                CHECK(predicted(hardware, row) == doctest::Approx(row.seconds).epsilon(0.1));
                ++seen;
            }
        CHECK(seen == 3);
    }
}

TEST_CASE("measured kernels: products whose rows begin between two pieces take longer than the price says") {
    for (const std::string gpu : {"h100", "h200"}) {
        CAPTURE(gpu);
        const Hardware hardware = profile(gpu);
        REQUIRE(hardware.row_alignment > 0);
        Agreement fit, between;
        for (const Measured& row : measured(gpu)) {
            if (!row.is_product() || row.dtype != "bf16" || row.m < 64) continue;
            const i64 bytes = byte_size(DType::bf16);
            const bool fits =
                row.n * bytes % hardware.row_alignment == 0 && row.k * bytes % hardware.row_alignment == 0;
            (fits ? fit : between).add(predicted(hardware, row) / row.seconds);
        }
        REQUIRE(between.count > 8);
        CHECK(fit.mean() > 0.85);
        CHECK(between.mean() < 0.35);
        CHECK(between.most < 0.6);
    }
}

TEST_CASE("measured kernels: attention is as fast as its heads are large, its gradient takes 3.3 times as long") {
    for (const std::string gpu : {"h100", "h200"}) {
        CAPTURE(gpu);
        const Hardware hardware = profile(gpu);
        // TFLOP/s of cuDNN, docs/measured-kernels.md
        for (const auto& [width, least, most] : std::vector<std::tuple<i64, double, double>>{
                 {64, 390e12, 440e12}, {128, 600e12, 640e12}, {256, 700e12, 730e12}}) {
            const i64 batch = 4, length = 8192, heads = 16;
            const TensorType wide{DType::bf16, {batch, length, heads, width}, {}},
                rows{DType::f32, {batch, length, heads}, {}};
            const auto seconds = [&](AttendPart part) {
                const AttendInputs operands = attend_inputs(part);
                std::vector<TensorType> types(static_cast<size_t>(operands.count), wide);
                for (const int of_rows : {operands.logsumexp, operands.mean})
                    if (of_rows >= 0) types[static_cast<size_t>(of_rows)] = rows;
                Attend attend;
                attend.part = part;
                const TensorType& made = part == AttendPart::logsumexp ? rows : wide;
                return kernel_seconds(hardware, attend, types, made, flops(attend, types, made), 1);
            };
            const double forward = seconds(AttendPart::values),
                         rate = static_cast<double>(4 * batch * heads * length * length * width) / forward;
            CHECK(rate > least);
            CHECK(rate < most);
            if (width > 128) continue; // of such heads no gradient was measured
            const double gradient = seconds(AttendPart::logsumexp) + seconds(AttendPart::query_gradient) +
                                    seconds(AttendPart::key_gradient) + seconds(AttendPart::value_gradient);
            CHECK(gradient / forward == doctest::Approx(3.3).epsilon(0.03));
        }
    }
}
