// How the key of each parameter is derived from the model's root key. Three schemes:
//   linen     a hash of the module path and a counter (flax.linen): inserting a module elsewhere changes nothing
//   nnx       the n-th parameter of the model gets fold_in(root, n) (flax.nnx.Rngs)
//   explicit  the user writes a seed or two key words for each parameter
// A key depends only on its arguments here, never on the mesh or the sharding.
//
//     linen_key(key_from_seed(0), {"DotReluDot_0", "Dense_0"}, 1);   // {2596726166, 1787114568}
//     nnx_key(key_from_seed(0), 1);                                  // {928981903, 3453687069}
#pragma once

#include "plans/random/random.h"

#include <string>

namespace shard {

enum class KeyScheme { linen, nnx, explicit_keys };

// "linen", "nnx", "explicit".
[[nodiscard]] std::optional<KeyScheme> key_scheme_from_name(std::string_view name);

// path: the names of the modules from below the top module down to the one that owns the parameter (empty for the top
// module itself). counter: 1 for the first key taken in that module and stream, then 2, and so on.
// The names are hashed without separators (flax_fix_rng_separator off, flax's default).
[[nodiscard]] Key linen_key(Key root, const std::vector<std::string>& path, i64 counter);

// index: how many keys the stream has given before, from 0.
[[nodiscard]] Key nnx_key(Key root, i64 index);

// What a scheme has to know of one parameter. Parameters are listed in declaration order.
struct ParameterKeyRequest {
    std::vector<std::string> path = {};   // of the owning module, as for linen_key
    bool takes_key = true;                // false: gets no key and is not counted
    std::optional<Key> explicit_key = {}; // wins over any scheme; the parameter is counted all the same
};

// One key per request; nullopt where takes_key is false, or where the scheme is explicit and no key was written.
[[nodiscard]] std::vector<std::optional<Key>> parameter_keys(KeyScheme scheme, Key root,
                                                             const std::vector<ParameterKeyRequest>& requests);

} // namespace shard
