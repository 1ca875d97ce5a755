#include "plans/random/initializer.h"
#include "tests/support/draw.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

Distribution made(const InitializerSpec& spec, const std::vector<i64>& shape) {
    InitializerProblem problem;
    const std::optional<Distribution> distribution = initializer_distribution(spec, shape, problem);
    CHECK(problem.message == "");
    REQUIRE(distribution.has_value());
    return *distribution;
}

std::string refused(const InitializerSpec& spec, const std::vector<i64>& shape) {
    InitializerProblem problem;
    CHECK(!initializer_distribution(spec, shape, problem).has_value());
    return problem.message + " | " + problem.help;
}

} // namespace

TEST_CASE("the deviation of a lecun normal matrix of 1024 by 1024") {
    const Distribution d = made({.name = "lecun_normal"}, {1024, 1024});
    CHECK(d.kind == DistributionKind::truncated_normal);
    CHECK(d.low == -2);
    CHECK(d.high == 2);
    CHECK(static_cast<float>(d.scale) == 0x1.23086cp-5f);
    CHECK(to_text(d) == "truncated_normal(-2, 2) * 0.035526477");
    CHECK(made({.name = "glorot_normal"}, {1024, 1024}) == d);
}

// Checksums of whole arrays that jax.nn.initializers makes from PRNGKey(42), jax 0.10.2, outside of jit: under jit XLA
// may fold the factor sqrt(2) of a normal sample and the scale into one constant.
TEST_CASE("initializers give the values of jax.nn.initializers") {
    struct Golden {
        InitializerSpec spec;
        std::vector<i64> shape;
        std::uint64_t legacy;
        std::uint64_t partitionable;
    };
    const Golden goldens[] = {
        {{.name = "lecun_normal"}, {24, 40}, 0x6d1201566505b, 0x6a5f7f7d17d1c},
        {{.name = "lecun_uniform"}, {24, 40}, 0x6d26d68cba121, 0x6a7459d08f86c},
        {{.name = "he_normal"}, {24, 40}, 0x6d4a2fa1f3fbe, 0x6a9804e2975d9},
        {{.name = "he_uniform"}, {24, 40}, 0x6d5edf397827c, 0x6aac95785ca08},
        {{.name = "glorot_normal"}, {24, 40}, 0x6cfa40a12bc17, 0x6a48633934f0d},
        {{.name = "glorot_uniform"}, {24, 40}, 0x6d0ff69e18229, 0x6a5d7413ddb66},
        {{.name = "he_normal"}, {3, 3, 5, 7}, 0xbbf547106e67, 0xb8954d0f38ad},
        {{.name = "variance_scaling", .scale = 0.5, .mode = "fan_out", .distribution = "normal"},
         {24, 40},
         0x6ca7770dd70af,
         0x69f42f3e24490},
        {{.name = "variance_scaling", .scale = 2, .mode = "fan_geo_avg", .distribution = "uniform"},
         {24, 40},
         0x6d49957e64495,
         0x6a9776ab1e34b},
        {{.name = "normal"}, {24, 40}, 0x6b1f1992ccbcb, 0x686c852cafb0f},
        {{.name = "normal", .stddev = 0.02}, {24, 40}, 0x6b8f9992ccbcb, 0x68dd052cafb0f},
        {{.name = "uniform"}, {24, 40}, 0x343b40391b9b6, 0x3445dfb59d60b},
        {{.name = "truncated_normal", .stddev = 0.5, .lower = -1, .upper = 3},
         {24, 40},
         0x6354e3f07b04d,
         0x610a346ecbc37},
        {{.name = "lecun_normal", .fan = {.in = {0, 1}, .out = {2}, .batch = {}}},
         {4, 6, 10},
         0x6abbc7d6ca8e,
         0x6d43e478fd4a},
        {{.name = "lecun_normal", .fan = {.in = {-2}, .out = {-1}, .batch = {0}}},
         {4, 6, 10},
         0x6b2c47d6ca8e,
         0x6db46478fd4a},
    };
    for (const Golden& golden : goldens) {
        CAPTURE(golden.spec.name);
        const Distribution d = made(golden.spec, golden.shape);
        const Key key = key_from_seed(42);
        CHECK(checksum(draw<float>(d, key, BitLayout::legacy, golden.shape)) == golden.legacy);
        CHECK(checksum(draw<float>(d, key, BitLayout::partitionable, golden.shape)) == golden.partitionable);
    }
}

TEST_CASE("second names mean the same") {
    const std::vector<i64> shape = {6, 10};
    CHECK(made({.name = "xavier_normal"}, shape) == made({.name = "glorot_normal"}, shape));
    CHECK(made({.name = "xavier_uniform"}, shape) == made({.name = "glorot_uniform"}, shape));
    CHECK(made({.name = "kaiming_normal"}, shape) == made({.name = "he_normal"}, shape));
    CHECK(made({.name = "kaiming_uniform"}, shape) == made({.name = "he_uniform"}, shape));
}

TEST_CASE("constants draw nothing") {
    CHECK(draw<float>(made({.name = "zeros"}, {3}), {}, BitLayout::legacy, {3}) == std::vector<float>{0, 0, 0});
    CHECK(draw<float>(made({.name = "ones"}, {2}), {}, BitLayout::legacy, {2}) == std::vector<float>{1, 1});
    const Distribution constant = made({.name = "constant", .value = 2.5}, {2});
    CHECK(draw<float>(constant, {}, BitLayout::legacy, {2}) == std::vector<float>{2.5f, 2.5f});
    CHECK(!is_random(constant));
    CHECK(is_random(made({.name = "normal"}, {2})));
}

TEST_CASE("every listed initializer can be made") {
    for (const InitializerInfo& info : initializers()) {
        CAPTURE(info.name);
        InitializerSpec spec{.name = std::string(info.name)};
        if (info.name == "constant") spec.value = 1;
        if (info.name == "variance_scaling") spec.scale = 1, spec.mode = "fan_avg", spec.distribution = "uniform";
        (void)made(spec, {4, 4});
        CHECK(!info.doc.empty());
    }
}

TEST_CASE("what cannot be made is refused with a reason") {
    CHECK(refused({.name = "lecun"}, {4, 4}) == "unknown initializer lecun | ");
    CHECK(refused({.name = "lecun_normal"}, {4}) ==
          "no fan in and fan out for a shape of rank 1 | variance scaling needs at least two dims, unless the fan dims "
          "are named");
    for (const FanAxes& fan : {FanAxes{{2}, {1}, {}}, {{0}, {2}, {}}, {{0}, {1}, {-3}}, {{-3}, {2}, {2}}})
        CHECK(refused({.name = "he_normal", .fan = fan}, {4, 4}) ==
              "no fan in and fan out for a shape of rank 2 | variance scaling needs at least two dims, unless the fan "
              "dims are named");
    CHECK(refused({.name = "zeros", .stddev = 1}, {4}) ==
          "initializer zeros has no argument stddev | zeros takes no arguments");
    CHECK(refused({.name = "normal", .scale = 1}, {4}) ==
          "initializer normal has no argument scale | normal takes stddev=0.01");
    CHECK(refused({.name = "constant"}, {4}) == "initializer constant lacks an argument | constant takes value");
    CHECK(refused({.name = "variance_scaling", .scale = 1, .mode = "fan", .distribution = "normal"}, {4, 4}) ==
          "unknown variance_scaling mode fan | modes are fan_in, fan_out, fan_avg, fan_geo_avg");
    CHECK(refused({.name = "variance_scaling", .scale = 1, .mode = "fan_in", .distribution = "cauchy"}, {4, 4}) ==
          "unknown variance_scaling distribution cauchy | distributions are truncated_normal, normal, uniform");
    CHECK(refused({.name = "variance_scaling", .scale = 1}, {4, 4}) ==
          "initializer variance_scaling lacks an argument | variance_scaling takes scale mode distribution");
    CHECK(refused({.name = "truncated_normal", .lower = 2, .upper = 1}, {4}) ==
          "truncated_normal has lower 2 and upper 1 | lower must be less than upper");
}
