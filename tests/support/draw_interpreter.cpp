#include "tests/support/draw_interpreter.h"

#include "plans/random/random.h"

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

using Operands = std::vector<const Array*>;

i64 place_in(const Shape& shape, const Index& index) {
    i64 place = 0;
    for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + index[d];
    return place;
}

// What jax.random draws: of the key that is written, with counts folded in, or of the two words that are operands.
template<typename OfBits>
Array drawn(const Operands& in, const Node& node, const TensorType& type, OfBits of_bits) {
    const auto word_of = [&](size_t n) { return static_cast<std::uint32_t>(static_cast<i64>(in[n]->values[0])); };
    Key key;
    if (in.size() > 1) {
        key = {word_of(0), word_of(1)};
        if (in.size() == 4) key = {word_of(0), word_of(1), word_of(2), word_of(3)};
    } else {
        const std::vector<i64>& words = node.attributes().integers("key");
        key = words.size() == 1 ? key_from_seed(words[0])
                                : Key{static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1])};
        if (!in.empty()) key = fold_in(key, word_of(0));
        if (node.attributes().has("place"))
            for (i64 fold : node.attributes().integers("place")) key = fold_in(key, static_cast<std::uint32_t>(fold));
    }
    const BitLayout layout = in.size() == 4 ? BitLayout::rbg
                             : node.attributes().string("bits", std::string("partitionable")) == "legacy"
                                 ? BitLayout::legacy
                                 : BitLayout::partitionable;
    const bool cut = node.attributes().has("blocks");
    Shape block = type.shape;
    i64 count = 1;
    for (size_t d = 0; d < block.size(); ++d)
        count *= cut ? block[d] /= node.attributes().integers("blocks")[d] : block[d];
    return make(type.shape, [&](Index index) {
        i64 number = 0;
        for (size_t d = 0; cut && d < index.size(); ++d) {
            number = number * node.attributes().integers("blocks")[d] + index[d] / block[d];
            index[d] %= block[d];
        }
        const Key own = cut ? fold_in(key, static_cast<std::uint32_t>(number)) : key;
        return of_bits(own, layout, count, place_in(block, index));
    });
}

float unit_of(Key key, BitLayout layout, i64 count, i64 place) {
    return std::ldexp(static_cast<float>(random_bits32(key, layout, count, place) >> 9), -23);
}

Array bernoulli(const Operands& in, const Node& node, const TensorType& type) {
    const float probability = static_cast<float>(node.attributes().number("probability"));
    return drawn(in, node, type, [&](Key key, BitLayout layout, i64 count, i64 place) {
        return unit_of(key, layout, count, place) < probability ? 1.0 : 0.0;
    });
}

Array random_bits(const Operands& in, const Node& node, const TensorType& type) {
    return drawn(in, node, type, [](Key key, BitLayout layout, i64 count, i64 place) {
        return static_cast<double>(random_bits32(key, layout, count, place));
    });
}

Array uniform(const Operands& in, const Node& node, const TensorType& type) {
    const float low = static_cast<float>(node.attributes().number("low", 0));
    const float high = static_cast<float>(node.attributes().number("high", 1));
    return drawn(in, node, type, [&](Key key, BitLayout layout, i64 count, i64 place) {
        return std::max(low, unit_of(key, layout, count, place) * (high - low) + low);
    });
}

// In the middle of its distribution; halves are sought where the normal distribution's function has y.
double normal_of(float uniform) {
    double low = -7, high = 7;
    for (int n = 0; n < 80; ++n) {
        const double middle = (low + high) / 2;
        // Of what is far from 0, by the smaller side.
        const bool below = uniform < 0 ? std::erfc(-middle / std::sqrt(2.0)) < 1.0 + uniform
                                       : std::erfc(middle / std::sqrt(2.0)) > 1.0 - uniform;
        (below ? low : high) = middle;
    }
    return low;
}

Array normal(const Operands& in, const Node& node, const TensorType& type) {
    const float low = std::nextafterf(-1, 0);
    return drawn(in, node, type, [&](Key key, BitLayout layout, i64 count, i64 place) {
        return normal_of(std::max(low, unit_of(key, layout, count, place) * (1 - low) + low));
    });
}

Array truncated_normal(const Operands& in, const Node& node, const TensorType& type) {
    const double low = node.attributes().number("low"), high = node.attributes().number("high");
    const float first = static_cast<float>(std::erf(low / std::sqrt(2.0)));
    const float last = static_cast<float>(std::erf(high / std::sqrt(2.0)));
    return drawn(in, node, type, [&](Key key, BitLayout layout, i64 count, i64 place) {
        const float uniform = std::max(first, unit_of(key, layout, count, place) * (last - first) + first);
        return std::clamp(normal_of(uniform), low, high);
    });
}

Array randint(const Operands& in, const Node& node, const TensorType& type) {
    const i64 low = node.attributes().integer("low"), high = node.attributes().integer("high");
    const auto span = static_cast<std::uint32_t>(std::max<i64>(1, high - low));
    return drawn(in, node, type, [&](Key key, BitLayout layout, i64 count, i64 place) {
        const std::vector<Key> halves = split(key, 2, layout);
        const std::uint32_t above = random_bits32(halves[0], layout, count, place) % span,
                            below = random_bits32(halves[1], layout, count, place) % span;
        const std::uint32_t half = 65536 % span;
        return static_cast<double>(low + (above * (half * half % span) + below) % span);
    });
}

} // namespace

DrawEvaluate find_draw_op(std::string_view name) {
    const std::pair<std::string_view, DrawEvaluate> ops[] = {
        {"bernoulli", bernoulli}, {"random_bits", random_bits}, {"randint", randint},
        {"uniform", uniform},     {"normal", normal},           {"truncated_normal", truncated_normal},
    };
    for (const auto& [known, evaluate] : ops)
        if (known == name) return evaluate;
    return nullptr;
}

} // namespace shard
