#include "exporter/stablehlo/hlo_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shard {

namespace {

class Sampler {
public:
    Sampler(const Distribution& distribution, const HloValues& words, HloOps& ops)
        : d_(distribution), words_(words), ops_(ops), shape_(words[0].shape) {}

    HloValue sample() {
        switch (d_.kind) {
        case DistributionKind::bits:
            return words_[0];
        case DistributionKind::randint:
            return randint();
        case DistributionKind::bernoulli:
            return ops_.less({uniform({number(0), number(1)}), number(d_.probability)});
        case DistributionKind::uniform:
            return scaled(uniform({number(d_.low), number(d_.high)}));
        case DistributionKind::normal:
            return scaled(normal({number(std::nextafterf(-1, 0)), number(1)}));
        case DistributionKind::truncated_normal: {
            const float low = static_cast<float>(d_.low), high = static_cast<float>(d_.high);
            const HloValue value = normal({erf_of(low), erf_of(high)});
            constexpr float infinity = std::numeric_limits<float>::infinity();
            const HloValue least = number(std::nextafterf(low, infinity)),
                           most = number(std::nextafterf(high, -infinity));
            return scaled(ops_.pointwise("stablehlo.clamp", {least, value, most}));
        }
        case DistributionKind::constant:
            break;
        }
        internal_error("no bits are drawn for it");
    }

private:
    HloValue number(double value) { return ops_.constant(static_cast<float>(value), DType::f32, shape_); }
    HloValue word(std::uint32_t value) { return ops_.constant(std::to_string(value), DType::u32, shape_); }
    HloValue times(const HloValues& operands) { return ops_.pointwise("stablehlo.multiply", operands); }
    HloValue plus(const HloValues& operands) { return ops_.pointwise("stablehlo.add", operands); }

    // In [low, high), of the high 23 bits.
    HloValue uniform(const HloValues& ends) {
        const HloValue mantissa = ops_.pointwise("stablehlo.shift_right_logical", {words_[0], word(9)});
        const HloValue bits = ops_.pointwise("stablehlo.or", {mantissa, word(0x3F800000)});
        const HloValue from_one = ops_.op("stablehlo.bitcast_convert", {bits}, "", DType::f32, shape_);
        const HloValue unit = ops_.pointwise("stablehlo.subtract", {from_one, number(1)});
        const HloValue range = ops_.pointwise("stablehlo.subtract", {ends[1], ends[0]});
        return ops_.pointwise("stablehlo.maximum", {ends[0], plus({times({unit, range}), ends[0]})});
    }

    HloValue normal(const HloValues& ends) {
        const HloValue drawn = ops_.pointwise("chlo.erf_inv", {uniform(ends)});
        return times({number(std::sqrt(2.0F)), drawn});
    }

    HloValue erf_of(float value) {
        return ops_.filled(ops_.pointwise("chlo.erf", {ops_.constant(value / std::sqrt(2.0F), DType::f32)}), shape_);
    }

    HloValue scaled(const HloValue& value) {
        const HloValue product = d_.scale == 1 ? value : times({value, number(d_.scale)});
        return d_.offset == 0 ? product : plus({product, number(d_.offset)});
    }

    HloValue randint() {
        constexpr i64 least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
        const auto inside = [](double end) {
            return static_cast<i64>(std::clamp(end, static_cast<double>(least), static_cast<double>(most)));
        };
        const i64 first = inside(d_.low), last = inside(d_.high);
        const bool past = d_.high > static_cast<double>(most) && last > first;
        const i64 span = std::max<i64>(last - first, 1) + (past ? 1 : 0);
        HloValue offset = words_[1];
        if (span < i64{1} << 32) {
            const i64 square = (65536 % span) * (65536 % span) % (i64{1} << 32);
            const HloValue size = word(static_cast<std::uint32_t>(span));
            const auto rest = [&](const HloValue& value) {
                return ops_.pointwise("stablehlo.remainder", {value, size});
            };
            const HloValue high = times({rest(words_[0]), word(static_cast<std::uint32_t>(square % span))});
            offset = rest(plus({high, rest(words_[1])}));
        }
        return ops_.convert(plus({word(static_cast<std::uint32_t>(first)), offset}), DType::i32);
    }

    const Distribution& d_;
    const HloValues& words_;
    HloOps& ops_;
    const Shape& shape_;
};

} // namespace

HloValue hlo_sample(const Distribution& distribution, const HloValues& words, HloOps& ops) {
    return Sampler(distribution, words, ops).sample();
}

} // namespace shard
