// Golden values made with jax 0.10.2 on CPU (jax.random, both settings of jax_threefry_partitionable). They must never
// change: models that were made once have to be made again.
#include "tests/support/draw.h"

#include <doctest/doctest.h>

#include <limits>

using namespace shard;

namespace {

constexpr Key key42{0, 42};

// Eleven elements: odd, so that the legacy layout pads.
std::vector<float> eleven(const Distribution& distribution, BitLayout layout) {
    return draw<float>(distribution, key42, layout, {11});
}

std::vector<std::int32_t> eleven_integers(double low, double high, BitLayout layout) {
    const Distribution distribution{.kind = DistributionKind::randint, .low = low, .high = high};
    return draw<std::int32_t>(distribution, key42, layout, {11});
}

const Distribution standard_normal{.kind = DistributionKind::normal};
const Distribution unit_uniform{.kind = DistributionKind::uniform, .low = 0, .high = 1};
const Distribution cut_normal{.kind = DistributionKind::truncated_normal, .low = -2, .high = 2};

} // namespace

TEST_CASE("float samples in the legacy layout") {
    CHECK(eleven(unit_uniform, BitLayout::legacy) == std::vector<float>{0x1.4a0d88p-1f, 0x1.eb4bep-4f, 0x1.36ca98p-2f,
                                                                        0x1.f2d31cp-1f, 0x1.8da4cp-4f, 0x1.dd6eep-2f,
                                                                        0x1.6c40e4p-1f, 0x1.14f7cp-1f, 0x1.9f78ep-3f,
                                                                        0x1.6b237p-2f, 0x1.2a8b98p-2f});
    CHECK(eleven({.kind = DistributionKind::uniform, .low = -0.3, .high = 1.7}, BitLayout::legacy) ==
          std::vector<float>{0x1.fa8176p-1f, -0x1.ec6a2p-5f, 0x1.3a61fcp-2f, 0x1.a6065p+0f, -0x1.b1835p-4f,
                             0x1.43d546p-1f, 0x1.1f7418p+0f, 0x1.9055e6p-1f, 0x1.b116bp-4f, 0x1.a313acp-2f,
                             0x1.21e3fcp-2f});
    CHECK(eleven(standard_normal, BitLayout::legacy) ==
          std::vector<float>{0x1.7bc68ep-2f, -0x1.2cdddp+0f, -0x1.07578ap-1f, 0x1.f29418p+0f, -0x1.4c61a6p+0f,
                             -0x1.5affeep-4f, 0x1.1d7a72p-1f, 0x1.a53574p-4f, -0x1.a9b04ep-1f, -0x1.7dce44p-2f,
                             -0x1.19052ep-1f});
    CHECK(eleven(cut_normal, BitLayout::legacy) == std::vector<float>{0x1.69bd3cp-2f, -0x1.17c294p+0f, -0x1.f4a88cp-2f,
                                                                      0x1.abe6d4p+0f, -0x1.32bf2ap+0f, -0x1.4b2d18p-4f,
                                                                      0x1.0f2a6p-1f, 0x1.91faf4p-4f, -0x1.91a3f4p-1f,
                                                                      -0x1.6baa2cp-2f, -0x1.0af936p-1f});
    CHECK(eleven({.kind = DistributionKind::truncated_normal, .low = -1, .high = 3}, BitLayout::legacy) ==
          std::vector<float>{0x1.0cb4dcp-1f, -0x1.4a539ep-1f, -0x1.bf114ep-3f, 0x1.fefb84p+0f, -0x1.694b08p-1f,
                             0x1.02e46cp-3f, 0x1.637c1ep-1f, 0x1.262de4p-2f, -0x1.c51f74p-2f, -0x1.bf179ap-4f,
                             -0x1.f4092cp-3f});
}

TEST_CASE("integer and boolean samples in the legacy layout") {
    const Distribution coin{.kind = DistributionKind::bernoulli, .probability = 0.3};
    CHECK(draw<std::uint8_t>(coin, key42, BitLayout::legacy, {11}) ==
          std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1});
    CHECK(eleven_integers(0, 10, BitLayout::legacy) == std::vector<std::int32_t>{7, 8, 4, 7, 6, 8, 6, 0, 9, 4, 1});
    CHECK(eleven_integers(-5, 50257, BitLayout::legacy) ==
          std::vector<std::int32_t>{40090, 10023, 8821, 31982, 39449, 31383, 16623, 31757, 37364, 11131, 1904});
    CHECK(eleven_integers(-2147483648.0, 2147483647, BitLayout::legacy) ==
          std::vector<std::int32_t>{-1121493395, 1999566390, -661754232, 671683937, -1181544426, 151570444, 1147081276,
                                    10569472, 386137711, 1555165566, -1977106271});
}

TEST_CASE("a million samples in the legacy layout") {
    const std::vector<i64> shape = {1000003};
    CHECK(checksum(draw<float>(standard_normal, key42, BitLayout::legacy, shape)) == 0x7482ada834684ec9);
    CHECK(checksum(draw<float>(cut_normal, key42, BitLayout::legacy, shape)) == 0x687f5393a7dac370);
    CHECK(checksum(draw<float>(unit_uniform, key42, BitLayout::legacy, shape)) == 0x11f091a277311fa2);
    CHECK(checksum(draw<std::uint32_t>({.kind = DistributionKind::bits}, key42, BitLayout::legacy, shape)) ==
          0x6c4b3f8f7a65f8a2);
    CHECK(checksum(draw<std::int32_t>({.kind = DistributionKind::randint, .low = 0, .high = 50257}, key42,
                                      BitLayout::legacy, shape)) == 0x594bf00fbf5524);
}

TEST_CASE("float samples in the partitionable layout") {
    CHECK(eleven(unit_uniform, BitLayout::partitionable) ==
          std::vector<float>{0x1.f47048p-2f, 0x1.5c0e6p-1f, 0x1.3b87fp-1f, 0x1.1f3d8p-1f, 0x1.cd75c8p-2f,
                             0x1.2bf69cp-1f, 0x1.326b6p-4f, 0x1.8cde48p-1f, 0x1.65ddfcp-1f, 0x1.a323f4p-1f,
                             0x1.66b668p-2f});
    CHECK(eleven({.kind = DistributionKind::uniform, .low = -0.3, .high = 1.7}, BitLayout::partitionable) ==
          std::vector<float>{0x1.5ad6aep-1f, 0x1.0f4194p+0f, 0x1.dd7646p-1f, 0x1.a4e166p-1f, 0x1.33dc2ep-1f,
                             0x1.be539ep-1f, -0x1.33fb08p-3f, 0x1.40117cp+0f, 0x1.19113p+0f, 0x1.565728p+0f,
                             0x1.9a399cp-2f});
    CHECK(eleven(standard_normal, BitLayout::partitionable) ==
          std::vector<float>{-0x1.cfbe2ap-6f, 0x1.de57dp-2f, 0x1.2eccc2p-2f, 0x1.3a7648p-3f, -0x1.fc09d6p-4f,
                             0x1.bc4234p-3f, -0x1.70dd72p+0f, 0x1.830012p-1f, 0x1.0af634p-1f, 0x1.d201dap-1f,
                             -0x1.89b97ap-2f});
    CHECK(eleven(cut_normal, BitLayout::partitionable) ==
          std::vector<float>{-0x1.baa368p-6f, 0x1.c70bc4p-2f, 0x1.20a462p-2f, 0x1.2c0c6ap-3f, -0x1.e4cfdep-4f,
                             0x1.a7bf1cp-3f, -0x1.50ca9p+0f, 0x1.6df238p-1f, 0x1.fb7ac2p-2f, 0x1.b68572p-1f,
                             -0x1.76f736p-2f});
    CHECK(eleven({.kind = DistributionKind::truncated_normal, .low = -1, .high = 3}, BitLayout::partitionable) ==
          std::vector<float>{0x1.64e18ep-3f, 0x1.39445cp-1f, 0x1.d4696p-2f, 0x1.539006p-2f, 0x1.7e6f7ap-4f,
                             0x1.8cb968p-2f, -0x1.88c87ep-1f, 0x1.c10952p-1f, 0x1.5290c2p-1f, 0x1.054d08p+0f,
                             -0x1.e49c32p-4f});
}

TEST_CASE("integer and boolean samples in the partitionable layout") {
    const Distribution coin{.kind = DistributionKind::bernoulli, .probability = 0.3};
    CHECK(draw<std::uint8_t>(coin, key42, BitLayout::partitionable, {11}) ==
          std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
    CHECK(eleven_integers(0, 10, BitLayout::partitionable) ==
          std::vector<std::int32_t>{4, 4, 1, 9, 9, 9, 7, 7, 4, 6, 2});
    CHECK(eleven_integers(-5, 50257, BitLayout::partitionable) ==
          std::vector<std::int32_t>{16693, 11503, 38854, 15986, 20832, 12028, 25272, 28552, 8477, 16105, 26293});
    CHECK(eleven_integers(-2147483648.0, 2147483647, BitLayout::partitionable) ==
          std::vector<std::int32_t>{977810628, 1236381714, -1367112521, -1019495231, -1671904627, -1277190805,
                                    -783021695, -1694062297, -301336570, -84224766, -686112216});
}

TEST_CASE("a million samples in the partitionable layout") {
    const std::vector<i64> shape = {1000003};
    CHECK(checksum(draw<float>(standard_normal, key42, BitLayout::partitionable, shape)) == 0x7f9b56b7c2c60cc0);
    CHECK(checksum(draw<float>(cut_normal, key42, BitLayout::partitionable, shape)) == 0x739dcab9d47b2b2a);
    CHECK(checksum(draw<float>(unit_uniform, key42, BitLayout::partitionable, shape)) == 0x123f656c58055fd0);
    CHECK(checksum(draw<std::uint32_t>({.kind = DistributionKind::bits}, key42, BitLayout::partitionable, shape)) ==
          0x7317fbc6c4a1473d);
    CHECK(checksum(draw<std::int32_t>({.kind = DistributionKind::randint, .low = 0, .high = 50257}, key42,
                                      BitLayout::partitionable, shape)) == 0x592f81ea300218);
}
