#include "plans/random/parameter_keys.h"

#include "plans/base/path_hash.h"

#include <map>

namespace shard {
namespace {

constexpr std::array<std::pair<KeyScheme, std::string_view>, 3> scheme_names = {{
    {KeyScheme::linen, "linen"},
    {KeyScheme::nnx, "nnx"},
    {KeyScheme::explicit_keys, "explicit"},
}};

} // namespace

std::optional<KeyScheme> key_scheme_from_name(std::string_view name) {
    for (const auto& [scheme, candidate] : scheme_names)
        if (candidate == name) return scheme;
    return std::nullopt;
}

Key linen_key(Key root, const std::vector<std::string>& path, i64 counter) {
    return fold_in(root, path_hash(path, counter));
}

Key nnx_key(Key root, i64 index) { return fold_in(root, static_cast<std::uint32_t>(index)); }

std::vector<std::optional<Key>> parameter_keys(KeyScheme scheme, Key root,
                                               const std::vector<ParameterKeyRequest>& requests) {
    std::vector<std::optional<Key>> keys;
    keys.reserve(requests.size());
    i64 given = 0;
    std::map<std::vector<std::string>, i64> given_in_module;
    for (const ParameterKeyRequest& request : requests) {
        std::optional<Key> key;
        if (request.takes_key) {
            const i64 index = given++;
            const i64 counter = ++given_in_module[request.path];
            if (request.explicit_key)
                key = request.explicit_key;
            else if (scheme == KeyScheme::linen)
                key = linen_key(root, request.path, counter);
            else if (scheme == KeyScheme::nnx)
                key = nnx_key(root, index);
        }
        keys.push_back(key);
    }
    return keys;
}

} // namespace shard
