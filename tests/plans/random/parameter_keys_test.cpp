#include "plans/random/parameter_keys.h"

#include <doctest/doctest.h>

#include <string>

using namespace shard;

namespace {

constexpr Key root{0, 0};

using Path = std::vector<std::string>;

} // namespace

// The 4-layer MLP of DotReluDot modules in Flax Linen: a kernel inside Dense, a W2 in the module itself.
TEST_CASE("linen keys are the hash of module path and counter") {
    const Key kernels[] = {
        {2596726166, 1787114568}, {4276479095, 3348792642}, {3567682767, 1668052465}, {4033574590, 287870858}};
    const Key w2[] = {
        {2882174458, 2850398827}, {3241172184, 26064968}, {3983275112, 1603678732}, {3786614452, 689248052}};
    for (std::size_t i = 0; i < 4; ++i) {
        const std::string layer = "DotReluDot_" + std::to_string(i);
        CHECK(linen_key(root, {layer, "Dense_0"}, 1) == kernels[i]);
        CHECK(linen_key(root, {layer}, 1) == w2[i]);
    }
}

// Made with flax 0.12.8 and an initializer that returns its key.
TEST_CASE("linen counters rise with every parameter of a module") {
    CHECK(linen_key(root, {"DRD_0", "Dense_0"}, 1) == Key{2897127740, 2462076488});
    CHECK(linen_key(root, {"DRD_0"}, 1) == Key{2985620365, 3998377076});
    CHECK(linen_key(root, {"DRD_0"}, 2) == Key{4008039397, 1187136356});
    CHECK(linen_key(root, {"DRD_1"}, 2) == Key{2251833847, 3449528928});
}

TEST_CASE("a linen counter over 255 takes two bytes") {
    // Python: int.from_bytes(hashlib.sha1(b"a\x01\x00").digest()[:4], "big")
    CHECK(linen_key(root, {"a"}, 256) == fold_in(root, 2566628949u));
    CHECK(linen_key(root, {"a"}, 255) == fold_in(root, 501321169u));
}

TEST_CASE("path names are joined without separators") {
    CHECK(linen_key(root, {"ab", "c"}, 1) == linen_key(root, {"a", "bc"}, 1));
    CHECK(linen_key(root, {}, 1) != linen_key(root, {"a"}, 1));
}

TEST_CASE("nnx keys count the parameters in order of declaration") {
    CHECK(nnx_key(root, 0) == Key{1797259609, 2579123966});
    CHECK(nnx_key(root, 1) == Key{928981903, 3453687069});
}

TEST_CASE("a model's parameters get their keys by the scheme") {
    const Key written = key_from_seed(7);
    const std::vector<ParameterKeyRequest> requests = {
        {.path = {"DotReluDot_0", "Dense_0"}},
        {.path = {"DotReluDot_0"}, .takes_key = false},
        {.path = {"DotReluDot_0"}},
        {.path = {"DotReluDot_0"}, .explicit_key = written},
        {.path = {"DotReluDot_0"}},
    };
    const Path layer = {"DotReluDot_0"};
    const std::optional<Key> none;
    SUBCASE("linen") {
        CHECK(parameter_keys(KeyScheme::linen, root, requests) ==
              std::vector<std::optional<Key>>{Key{2596726166, 1787114568}, none, Key{2882174458, 2850398827}, written,
                                              linen_key(root, layer, 3)});
    }
    SUBCASE("nnx") {
        CHECK(parameter_keys(KeyScheme::nnx, root, requests) ==
              std::vector<std::optional<Key>>{nnx_key(root, 0), none, nnx_key(root, 1), written, nnx_key(root, 3)});
    }
    SUBCASE("explicit") {
        CHECK(parameter_keys(KeyScheme::explicit_keys, root, requests) ==
              std::vector<std::optional<Key>>{none, none, none, written, none});
    }
}

TEST_CASE("schemes have names") {
    CHECK(key_scheme_from_name("linen") == KeyScheme::linen);
    CHECK(key_scheme_from_name("nnx") == KeyScheme::nnx);
    CHECK(key_scheme_from_name("explicit") == KeyScheme::explicit_keys);
    CHECK(!key_scheme_from_name("flax"));
}
