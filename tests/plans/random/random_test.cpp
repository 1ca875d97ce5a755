#include "plans/random/random.h"

#include "plans/random/philox.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace shard;

namespace {

constexpr BitLayout both_layouts[] = {BitLayout::legacy, BitLayout::partitionable};

using Words = std::array<std::uint32_t, 2>;

std::vector<std::uint32_t> bits(Key key, BitLayout layout, i64 size) {
    std::vector<std::uint32_t> out(static_cast<std::size_t>(size));
    random_bits32(key, layout, size, 0, out);
    return out;
}

} // namespace

// The known answers that come with Random123, for threefry2x32 with 20 rounds.
TEST_CASE("threefry2x32 gives the known answers") {
    CHECK(threefry2x32({0, 0}, 0, 0) == Words{0x6b200159, 0x99ba4efe});
    CHECK(threefry2x32({0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff) == Words{0x1cb996fc, 0xbb002be7});
    CHECK(threefry2x32({0x13198a2e, 0x03707344}, 0x243f6a88, 0x85a308d3) == Words{0xc4923a9c, 0x483df7a0});
}

// Those for philox4x32 with 10 rounds.
TEST_CASE("philox4x32 gives the known answers") {
    using Block = std::array<std::uint32_t, 4>;
    constexpr std::uint32_t ones = 0xffffffff;
    CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox4x32({ones, ones, ones, ones}, {ones, ones}) == Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// Made with jax 0.10.2 on a CPU, jax.lax.rng_bit_generator(key, (n,), dtype=uint32).
TEST_CASE("bits under a key of rbg are those of XLA, whose counter carries over all of its words") {
    CHECK(bits({1, 2, 3, 4}, BitLayout::rbg, 6) ==
          std::vector<std::uint32_t>{512747620, 1298009047, 1267190206, 761827841, 1383286907, 1639995030});
    const std::vector<std::uint32_t> carried = {2440199171, 2734589407, 1297845474, 626431447, 875035680, 2457449792,
                                                952865925,  536199321,  67759320,   265751716, 222428074, 2049345928};
    const Key key{1, 2, 0xfffffffe, 0xffffffff};
    CHECK(bits(key, BitLayout::rbg, 12) == carried);
    CHECK(random_bits32(key, BitLayout::rbg, 12, 9) == carried[9]);
}

TEST_CASE("a seed is the low 32 bits of a number") {
    CHECK(key_from_seed(42) == Key{0, 42});
    CHECK(key_from_seed(-1) == Key{0, 0xffffffff});
    CHECK(key_from_seed((i64{5} << 32) + 3) == Key{0, 3});
}

TEST_CASE("folding an index into a key") {
    const Key root = key_from_seed(0);
    CHECK(fold_in(root, 0) == Key{1797259609, 2579123966});
    CHECK(fold_in(root, 1) == Key{928981903, 3453687069});
    CHECK(fold_in(root, 2) == Key{4146024105, 2718843009});
    CHECK(fold_in(root, 3) == Key{2467461003, 3840466878});
}

TEST_CASE("splitting a key") {
    CHECK(split(key_from_seed(0), 2, BitLayout::legacy) ==
          std::vector<Key>{{4146024105, 967050713}, {2718843009, 1272950319}});
    CHECK(split(key_from_seed(0), 2, BitLayout::partitionable) ==
          std::vector<Key>{{1797259609, 2579123966}, {928981903, 3453687069}});
    CHECK(split(key_from_seed(42), 3, BitLayout::legacy) ==
          std::vector<Key>{{3134548294, 3733159049}, {3746501087, 894150801}, {801545058, 2363201431}});
    // Made with jax 0.10.2.
    CHECK(split(key_from_seed(42), 3, BitLayout::partitionable) ==
          std::vector<Key>{{1832780943, 270669613}, {64467757, 2916123636}, {2465931498, 255383827}});
    CHECK(split(key_from_seed(1), 5, BitLayout::legacy) == std::vector<Key>{{3243370355, 1344208528},
                                                                            {532076793, 2354449600},
                                                                            {1813813011, 1313272271},
                                                                            {3522235465, 4107438537},
                                                                            {1531693580, 2391939978}});
    CHECK(split(key_from_seed(1), 0, BitLayout::legacy).empty());
}

// jax.random.bits(PRNGKey(42), (11,)), jax 0.10.2: an odd size, so the legacy layout pads.
TEST_CASE("bits of an array in both layouts") {
    CHECK(bits(key_from_seed(42), BitLayout::legacy, 11) ==
          std::vector<std::uint32_t>{2768684296, 515161807, 1303553849, 4184444755, 416959680, 2002499661, 3055579793,
                                     2323374536, 871308580, 1523113029, 1252189920});
    CHECK(bits(key_from_seed(42), BitLayout::partitionable, 11) ==
          std::vector<std::uint32_t>{2098992034, 2919706841, 2646866425, 2409546199, 1935504149, 2516274904, 321304473,
                                     3329172656, 3002007181, 3516005296, 1504549425});
}

TEST_CASE("runs, lists and single elements agree") {
    const Key key = key_from_seed(3);
    for (BitLayout layout : both_layouts) {
        for (i64 size : {1, 2, 3, 255, 256, 257, 1001}) {
            const std::vector<std::uint32_t> whole = bits(key, layout, size);
            std::vector<i64> backwards;
            for (i64 i = size - 1; i >= 0; --i) backwards.push_back(i);
            std::vector<std::uint32_t> listed(whole.size());
            random_bits32_at(key, layout, size, backwards, listed);
            std::reverse(listed.begin(), listed.end());
            CHECK(listed == whole);
            i64 wrong = 0;
            for (i64 i = 0; i < size; ++i)
                if (random_bits32(key, layout, size, i) != whole[static_cast<std::size_t>(i)]) ++wrong;
            CHECK(wrong == 0);
            const i64 first = size / 3;
            std::vector<std::uint32_t> run(static_cast<std::size_t>(size / 2));
            random_bits32(key, layout, size, first, run);
            CHECK(std::equal(run.begin(), run.end(), whole.begin() + first));
        }
    }
}

TEST_CASE("partitionable elements past 2^32 use the high word of the counter") {
    const Key key = key_from_seed(0);
    const i64 index = (i64{3} << 32) + 5;
    const Words block = threefry2x32(key, 3, 5);
    CHECK(random_bits32(key, BitLayout::partitionable, index + 1, index) == (block[0] ^ block[1]));
}

// From 2^32 - 1 elements on, the legacy layout makes chunks of that size under keys split from the first.
TEST_CASE("legacy arrays past 2^32 are made in chunks") {
    const Key key = key_from_seed(0);
    const i64 chunk = 0xffffffff;
    const i64 size = 2 * chunk + 101;
    const std::vector<Key> keys = split(key, 3, BitLayout::legacy);
    const std::uint32_t half = 0x80000000; // of a chunk, whose size is odd
    CHECK(random_bits32(key, BitLayout::legacy, size, 7) == threefry2x32(keys[0], 7, half + 7)[0]);
    CHECK(random_bits32(key, BitLayout::legacy, size, 2 * chunk - 1) == threefry2x32(keys[1], half - 2, 0xfffffffe)[1]);
    CHECK(random_bits32(key, BitLayout::legacy, chunk, half - 1) ==
          threefry2x32(split(key, 2, BitLayout::legacy)[0], half - 1, 0)[0]);
    std::vector<std::uint32_t> last(101);
    random_bits32(key, BitLayout::legacy, size, 2 * chunk, last);
    CHECK(last == bits(keys[2], BitLayout::legacy, 101));
}

TEST_CASE("an element outside the array is a bug") {
    CHECK_THROWS_AS((void)random_bits32({}, BitLayout::legacy, 4, 4), InternalError);
    std::vector<std::uint32_t> run(3);
    CHECK_THROWS_AS(random_bits32({}, BitLayout::legacy, 4, 2, run), InternalError);
}

TEST_CASE("layouts have names") {
    for (BitLayout layout : both_layouts) CHECK(bit_layout_from_name(bit_layout_name(layout)) == layout);
    CHECK(!bit_layout_from_name("original"));
}
