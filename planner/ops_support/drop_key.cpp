#include "planner/ops_support/drop_key.h"

#include "plans/base/path_hash.h"

#include <fmt/format.h>

namespace shard {

namespace {

// flax's names of the modules below the top one: repetition 0 of `block` is block_0.
std::vector<std::string> module_path(const std::string& scope) {
    std::vector<std::string> path;
    for (size_t at = 0; at < scope.size();) {
        const size_t end = std::min(scope.find('.', at), scope.size());
        const std::string part = scope.substr(at, end - at);
        if (!path.empty() && part.find_first_not_of("0123456789") == std::string::npos)
            path.back() += "_" + part;
        else
            path.push_back(part);
        at = end + 1;
    }
    return path;
}

// In the model, as a number that is folded into the key.
std::optional<i64> place_of(Builder& builder, std::string_view op, std::string_view example, Span span) {
    const std::string scope = builder.place().scope;
    switch (builder.random().scheme) {
    case KeyScheme::nnx:
        return builder.next_random("");
    case KeyScheme::linen: {
        std::vector<std::string> path = module_path(scope);
        path.push_back(fmt::format("Dropout_{}", builder.next_random(scope)));
        return path_hash(path, 1);
    }
    case KeyScheme::explicit_keys:
        break;
    }
    builder.diagnostics()
        .error("E0232", span, fmt::format("'{}' has no key, and the model says `keys: explicit`", op))
        .help(fmt::format("write one: {}", example));
    return std::nullopt;
}

} // namespace

std::optional<Attributes> drop_key(Builder& builder, const Attributes& attributes, std::string_view op,
                                   std::string_view example, Span span) {
    const RandomSource& source = builder.random();
    Attributes made;
    made.set("key",
             attributes.has("key") ? attributes.integers("key") : std::vector<i64>{source.root.k0, source.root.k1});
    if (!attributes.has("key") && !attributes.has("place")) {
        const std::optional<i64> place = place_of(builder, op, example, span);
        if (!place) return std::nullopt;
        made.set("place", std::vector<i64>{*place});
    }
    if (!attributes.has("bits")) made.set("bits", std::string(bit_layout_name(source.layout)));
    return made;
}

bool check_rate(double rate, std::string_view op, Span span, Diagnostics& diagnostics) {
    if (rate >= 0 && rate < 1) return true;
    diagnostics.error("E0226", span, fmt::format("'{}' cannot drop at the rate {}", op, rate))
        .help("a number from 0 up to, not including, 1");
    return false;
}

} // namespace shard
