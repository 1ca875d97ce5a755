// A device draws its own box of an array, and gets the slice of the whole array that any other way of cutting gives.
#include "plans/dtypes/bf16.h"
#include "tests/support/draw.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

using namespace shard;

namespace {

using Shape = std::vector<i64>;

template<typename T>
std::vector<T> slice(const std::vector<T>& whole, const Shape& shape, const Shape& start, const Shape& local) {
    std::vector<T> out;
    for (i64 i = 0; i < size_of(local); ++i) {
        i64 rest = i;
        i64 flat = 0;
        i64 stride = 1;
        for (std::size_t d = shape.size(); d-- > 0;) {
            flat += (start[d] + rest % local[d]) * stride;
            rest /= local[d];
            stride *= shape[d];
        }
        out.push_back(whole[static_cast<std::size_t>(flat)]);
    }
    return out;
}

template<typename T>
void check_boxes(const Distribution& distribution) {
    struct Case {
        Shape shape, start, local;
    };
    const Case cases[] = {
        {{}, {}, {}},                                        // a scalar
        {{7}, {2}, {5}},                                     // odd size
        {{7}, {3}, {0}},                                     // nothing
        {{1001}, {400}, {601}},                              // across the two halves of the legacy layout
        {{13, 5}, {4, 0}, {6, 5}},                           // whole rows
        {{13, 5}, {0, 3}, {13, 2}},                          // columns
        {{4, 6, 10}, {1, 2, 3}, {2, 3, 4}},                  // inside
        {{4, 6, 10}, {1, 0, 0}, {2, 6, 10}},                 // a run over merged dims
        {{3, 5, 1, 7, 1}, {1, 1, 0, 0, 0}, {2, 3, 1, 7, 1}}, // dims of size 1
        {{65, 129}, {1, 64}, {64, 65}},                      // more than a block, in short runs
        {{3, 2048}, {0, 1024}, {3, 1024}},                   // runs longer than a block
    };
    for (BitLayout layout : {BitLayout::legacy, BitLayout::partitionable}) {
        for (const Case& c : cases) {
            CAPTURE(bit_layout_name(layout));
            CAPTURE(fmt::format("{} from {} of {}", fmt::join(c.local, "x"), fmt::join(c.start, ","),
                                fmt::join(c.shape, "x")));
            const Key key = key_from_seed(9);
            const std::vector<T> whole = draw<T>(distribution, key, layout, c.shape);
            CHECK(draw_box<T>(distribution, key, layout, c.shape, c.start, c.local) ==
                  slice(whole, c.shape, c.start, c.local));
        }
    }
}

} // namespace

TEST_CASE("a box is the slice of the whole: normal") { check_boxes<float>({.kind = DistributionKind::normal}); }
TEST_CASE("a box is the slice of the whole: truncated normal") {
    check_boxes<float>({.kind = DistributionKind::truncated_normal, .low = -2, .high = 2, .scale = 0.5});
}
TEST_CASE("a box is the slice of the whole: integers") {
    check_boxes<std::int32_t>({.kind = DistributionKind::randint, .low = -3, .high = 1000});
}
TEST_CASE("a box is the slice of the whole: bits") { check_boxes<std::uint32_t>({.kind = DistributionKind::bits}); }
TEST_CASE("a box is the slice of the whole: booleans") {
    check_boxes<std::uint8_t>({.kind = DistributionKind::bernoulli, .probability = 0.5});
}

TEST_CASE("wider and narrower types hold the float samples") {
    const Distribution normal{.kind = DistributionKind::normal, .scale = 3};
    const Shape shape = {700};
    const Shape zero = {0};
    const Key key = key_from_seed(5);
    const std::vector<float> floats = draw<float>(normal, key, BitLayout::legacy, shape);
    const std::vector<double> doubles = draw<double>(normal, key, BitLayout::legacy, shape);
    std::vector<Bf16> halves(700);
    sample<Bf16>(normal, key, BitLayout::legacy, {shape, zero, shape}, halves);
    i64 wrong = 0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
        if (doubles[i] != static_cast<double>(floats[i])) ++wrong;
        const float half = static_cast<float>(halves[i]);
        if (std::fabs(half - floats[i]) > std::fabs(floats[i]) * 0x1p-8f) ++wrong; // bfloat16 keeps 8 bits
    }
    CHECK(wrong == 0);
}

TEST_CASE("bfloat16 rounds to nearest, ties to even") {
    const auto rounded = [](double value) {
        Bf16 out;
        sample<Bf16>({.value = value}, {}, BitLayout::legacy, {}, std::span<Bf16>(&out, 1));
        return out.bits;
    };
    CHECK(rounded(1.0) == 0x3F80);
    CHECK(rounded(0x1.01p+0) == 0x3F80);     // half way: to the even 1.0
    CHECK(rounded(0x1.03p+0) == 0x3F82);     // half way: to the even 1.015625
    CHECK(rounded(0x1.010002p+0) == 0x3F81); // just over half way
    CHECK(rounded(-0x1.03p+0) == 0xBF82);
}

TEST_CASE("the scale and the offset come after the sample, each rounded") {
    const Shape shape = {1000};
    const Key key = key_from_seed(1);
    const std::vector<float> plain = draw<float>({.kind = DistributionKind::normal}, key, BitLayout::legacy, shape);
    const std::vector<float> moved =
        draw<float>({.kind = DistributionKind::normal, .scale = 0.3, .offset = 5}, key, BitLayout::legacy, shape);
    i64 wrong = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const volatile float scaled = plain[i] * 0.3f;
        if (moved[i] != scaled + 5.0f) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("integers at the edges of their range") {
    const Shape shape = {4000};
    const Key key = key_from_seed(1);
    const auto integers = [&](double low, double high) {
        return draw<std::int32_t>({.kind = DistributionKind::randint, .low = low, .high = high}, key, BitLayout::legacy,
                                  shape);
    };
    CHECK(integers(5, 5) == std::vector<std::int32_t>(4000, 5)); // an empty range gives its low end
    CHECK(integers(5, 4) == std::vector<std::int32_t>(4000, 5));
    // All of int32: the low 32 bits of the draw, shifted to start at the least integer.
    const std::vector<std::uint32_t> low_bits = draw<std::uint32_t>(
        {.kind = DistributionKind::bits}, split(key, 2, BitLayout::legacy)[1], BitLayout::legacy, shape);
    const std::vector<std::int32_t> all = integers(-2147483648.0, 2147483648.0);
    i64 wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (static_cast<std::uint32_t>(all[i]) != low_bits[i] + 0x80000000u) ++wrong;
    CHECK(wrong == 0);
}

TEST_CASE("samples have the moments of their distribution") {
    const Shape shape = {100000};
    for (BitLayout layout : {BitLayout::legacy, BitLayout::partitionable}) {
        const std::vector<float> z = draw<float>({.kind = DistributionKind::normal}, key_from_seed(4), layout, shape);
        double mean = 0;
        double square = 0;
        for (float x : z)
            mean += static_cast<double>(x) / 1e5, square += static_cast<double>(x) * static_cast<double>(x) / 1e5;
        CHECK(std::fabs(mean) < 0.02); // six deviations of the mean
        CHECK(std::fabs(square - 1) < 0.03);
        const Distribution cut{.kind = DistributionKind::truncated_normal, .low = -2, .high = 2};
        for (float x : draw<float>(cut, key_from_seed(4), layout, shape)) REQUIRE((x > -2.0f && x < 2.0f));
    }
}

TEST_CASE("a box outside its array is a bug") {
    const Shape shape = {4};
    const Shape start = {2};
    const Shape local = {3};
    std::vector<float> out(3);
    CHECK_THROWS_AS(
        sample({.kind = DistributionKind::normal}, {}, BitLayout::legacy, {shape, start, local}, std::span<float>(out)),
        InternalError);
    std::vector<std::int32_t> integers(4);
    const Shape zero = {0};
    CHECK_THROWS_AS(sample({.kind = DistributionKind::normal}, {}, BitLayout::legacy, {shape, zero, shape},
                           std::span<std::int32_t>(integers)),
                    InternalError);
}
