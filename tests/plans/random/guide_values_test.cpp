// The arrays that the guides print or that were recomputed for them: bits, samples and sums. Both matrices of the
// DotReluDot guide, its input and label, and the arrays of the shard_map notebook. All in the legacy layout, the
// default when those pages were written.
#include "plans/random/initializer.h"
#include "plans/random/parameter_keys.h"
#include "tests/support/draw.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

constexpr BitLayout legacy = BitLayout::legacy;
const Distribution standard_normal{.kind = DistributionKind::normal};

std::vector<std::uint32_t> first_bits(Key key, i64 total) {
    std::vector<std::uint32_t> out(3);
    random_bits32(key, legacy, total, 0, out);
    return out;
}

std::vector<float> first_three(const std::vector<float>& values) { return {values[0], values[1], values[2]}; }

std::vector<float> lecun_matrix(Key key) {
    const std::vector<i64> shape = {1024, 1024};
    InitializerProblem problem;
    return draw<float>(*initializer_distribution({.name = "lecun_normal"}, shape, problem), key, legacy, shape);
}

} // namespace

TEST_CASE("the weights of the DotReluDot guide") {
    const i64 size = 1024 * 1024;
    const Key root = key_from_seed(0);
    CHECK(first_bits(nnx_key(root, 0), size) == std::vector<std::uint32_t>{2727179030, 3585748863, 1336570462});
    const std::vector<float> w1 = lecun_matrix(nnx_key(root, 0));
    CHECK(first_three(w1) == std::vector<float>{0.011679509f, 0.032470357f, -0.016637031f});
    CHECK(w1.back() == -0.038673747f);
    CHECK(sum_of(w1) == doctest::Approx(-20.3071358).epsilon(1e-8));

    CHECK(first_bits(nnx_key(root, 1), size) == std::vector<std::uint32_t>{2529199909, 3742622389, 4205630130});
    const std::vector<float> w2 = lecun_matrix(nnx_key(root, 1));
    CHECK(first_three(w2) == std::vector<float>{0.00761222f, 0.037513252f, 0.061149377f});
    CHECK(w2.back() == -0.025078757f);
    CHECK(sum_of(w2) == doctest::Approx(-7.8059531).epsilon(1e-8));
}

TEST_CASE("the input and label of the DotReluDot guide") {
    CHECK(first_bits(key_from_seed(1), 8192) == std::vector<std::uint32_t>{1507434929, 521675137, 2842967939});
    const std::vector<float> input = draw<float>(standard_normal, key_from_seed(1), legacy, {8, 1024});
    CHECK(first_three(input) == std::vector<float>{-0.3826842f, -1.16771f, 0.4177362f});
    CHECK(input.back() == -0.6333947f);
    CHECK(sum_of(input) == doctest::Approx(59.7670573).epsilon(1e-8));

    CHECK(first_bits(key_from_seed(2), 8192) == std::vector<std::uint32_t>{2878699918, 659637106, 3183129776});
    const std::vector<float> label = draw<float>(standard_normal, key_from_seed(2), legacy, {8, 1024});
    CHECK(first_three(label) == std::vector<float>{0.4406022f, -1.0211837f, 0.6468335f});
    CHECK(label.back() == -1.3987104f);
    CHECK(sum_of(label) == doctest::Approx(158.2164088).epsilon(1e-8));
}

TEST_CASE("the arrays of the shard_map notebook") {
    const auto three = [](i64 seed, const std::vector<i64>& shape) {
        return first_three(draw<float>(standard_normal, key_from_seed(seed), legacy, shape));
    };
    CHECK(three(0, {192, 64}) == std::vector<float>{-0.40502435f, 0.4408976f, -0.2564435f});
    CHECK(three(1, {64, 128}) == std::vector<float>{-0.3826842f, -1.16771f, 0.4177362f});
    CHECK(three(2, {128}) == std::vector<float>{-0.530202746f, -0.432775259f, -0.110009626f});
}

TEST_CASE("the batch of the notebook's classifier") {
    const std::vector<Key> keys = split(key_from_seed(42), 3, legacy); // model, inputs, labels
    const std::vector<float> inputs = draw<float>(standard_normal, keys[1], legacy, {128, 784});
    CHECK(first_three(inputs) == std::vector<float>{-0.9723122f, -1.2452544f, 0.17470965f});
    const Distribution classes{.kind = DistributionKind::randint, .low = 0, .high = 10};
    std::vector<std::int32_t> labels = draw<std::int32_t>(classes, keys[2], legacy, {128});
    labels.resize(10);
    CHECK(labels == std::vector<std::int32_t>{0, 9, 4, 1, 0, 8, 4, 9, 8, 7});
    CHECK(split(keys[0], 2, legacy) == std::vector<Key>{{2073407881, 1735592262}, {1472286103, 2479424396}});
}
