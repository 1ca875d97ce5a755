#include "importer/complex/complex_arithmetic.h"

#include <array>
#include <limits>

namespace shard {

namespace {

MlirId larger_part(RealOps& ops, const Pair& z, const MlirType& type) {
    return ops.make(
        "stablehlo.maximum",
        {ops.apply("stablehlo.abs", ops.whole(z.real, type)), ops.apply("stablehlo.abs", ops.whole(z.imaginary, type))},
        type);
}

double least_normal(const MlirType& type) {
    return type.element == "f64" ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

// A size that can be divided by: neither 0 nor infinite.
MlirId within_normal(RealOps& ops, MlirId size, const MlirType& type) {
    const double most = type.element == "f64" ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
    const MlirId above = ops.make("stablehlo.maximum", {size, ops.number(least_normal(type), type)}, type);
    return ops.make("stablehlo.minimum", {above, ops.number(most, type)}, type);
}

MlirId angle_of(RealOps& ops, const Pair& z, const MlirType& type) {
    const MlirId real = ops.whole(z.real, type), imaginary = ops.whole(z.imaginary, type);
    return ops.make("stablehlo.atan2", {imaginary, real}, type);
}

// size (cos angle + i sin angle); without a size, 1.
Pair at_angle(RealOps& ops, Part size, MlirId angle) {
    const MlirId cosine = ops.apply("stablehlo.cosine", angle), sine = ops.apply("stablehlo.sine", angle);
    if (!size) return {cosine, sine};
    return {ops.multiply(size, cosine), ops.multiply(size, sine)};
}

Pair root(RealOps& ops, const Pair& z, const MlirType& type, std::string_view of_size, double of_angle) {
    const MlirId size = ops.apply(std::string(of_size), size_of(ops, z, type)), angle = angle_of(ops, z, type);
    return at_angle(ops, size, *ops.multiply(angle, ops.number(of_angle, type)));
}

// sin x, cos x, cosh y and sinh y of x + i y.
std::array<Part, 4> waves_of(RealOps& ops, const Pair& z, const MlirType& type) {
    const MlirId x = ops.whole(z.real, type), y = ops.whole(z.imaginary, type), half = ops.number(0.5, type);
    const MlirId grows = ops.apply("stablehlo.exponential", y),
                 falls = ops.apply("stablehlo.exponential", *ops.negate(y));
    return {ops.apply("stablehlo.sine", x), ops.apply("stablehlo.cosine", x), ops.multiply(ops.add(grows, falls), half),
            ops.multiply(ops.subtract(grows, falls), half)};
}

} // namespace

Pair add(RealOps& ops, const Pair& a, const Pair& b, const MlirType&) {
    return {ops.add(a.real, b.real), ops.add(a.imaginary, b.imaginary)};
}

Pair subtract(RealOps& ops, const Pair& a, const Pair& b, const MlirType&) {
    return {ops.subtract(a.real, b.real), ops.subtract(a.imaginary, b.imaginary)};
}

Pair multiply(RealOps& ops, const Pair& a, const Pair& b, const MlirType&) {
    return {ops.subtract(ops.multiply(a.real, b.real), ops.multiply(a.imaginary, b.imaginary)),
            ops.add(ops.multiply(a.real, b.imaginary), ops.multiply(a.imaginary, b.real))};
}

Pair divide(RealOps& ops, const Pair& a, const Pair& b, const MlirType& type) {
    if (!b.imaginary) {
        const MlirId by = ops.whole(b.real, type);
        return {ops.divide(a.real, by), ops.divide(a.imaginary, by)};
    }
    // By a number of about size 1, then by the size: squares of large and of small numbers have no place in the type.
    const MlirId size = within_normal(ops, larger_part(ops, b, type), type);
    const Pair unit = {ops.divide(b.real, size), ops.divide(b.imaginary, size)};
    const MlirId by = *ops.add(ops.multiply(unit.real, unit.real), ops.multiply(unit.imaginary, unit.imaginary));
    const Pair made = multiply(ops, a, {unit.real, ops.negate(unit.imaginary)}, type);
    const auto divided = [&](Part part) { return part ? ops.divide(ops.divide(part, by), size) : std::nullopt; };
    return {divided(made.real), divided(made.imaginary)};
}

MlirId size_of(RealOps& ops, const Pair& z, const MlirType& type) {
    if (!z.imaginary || !z.real) return ops.apply("stablehlo.abs", ops.whole(z.real ? z.real : z.imaginary, type));
    const MlirId real = ops.apply("stablehlo.abs", *z.real), imaginary = ops.apply("stablehlo.abs", *z.imaginary);
    const MlirId large = ops.make("stablehlo.maximum", {real, imaginary}, type),
                 small = ops.make("stablehlo.minimum", {real, imaginary}, type);
    const Part ratio = ops.divide(small, within_normal(ops, large, type));
    const Part one = ops.number(1, type);
    return *ops.multiply(large, ops.apply("stablehlo.sqrt", *ops.add(one, ops.multiply(ratio, ratio))));
}

Pair exponential(RealOps& ops, const Pair& z, const MlirType& type) {
    if (!z.imaginary) return {ops.apply("stablehlo.exponential", ops.whole(z.real, type)), std::nullopt};
    return at_angle(ops, z.real ? Part(ops.apply("stablehlo.exponential", *z.real)) : std::nullopt, *z.imaginary);
}

Pair logarithm(RealOps& ops, const Pair& z, const MlirType& type) {
    return {ops.apply("stablehlo.log", size_of(ops, z, type)), angle_of(ops, z, type)};
}

Pair square_root(RealOps& ops, const Pair& z, const MlirType& type) {
    return root(ops, z, type, "stablehlo.sqrt", 0.5);
}

Pair reciprocal_root(RealOps& ops, const Pair& z, const MlirType& type) {
    return root(ops, z, type, "stablehlo.rsqrt", -0.5);
}

Pair sine(RealOps& ops, const Pair& z, const MlirType& type) {
    const auto [sine, cosine, even, odd] = waves_of(ops, z, type);
    return {ops.multiply(sine, even), ops.multiply(cosine, odd)};
}

Pair cosine(RealOps& ops, const Pair& z, const MlirType& type) {
    const auto [sine, cosine, even, odd] = waves_of(ops, z, type);
    return {ops.multiply(cosine, even), ops.negate(ops.multiply(sine, odd))};
}

// With t = tanh x and s = tan y: (t + i s) / (1 + i t s), which overflows nowhere.
Pair hyperbolic_tangent(RealOps& ops, const Pair& z, const MlirType& type) {
    const MlirId t = ops.apply("stablehlo.tanh", ops.whole(z.real, type)),
                 s = ops.apply("stablehlo.tan", ops.whole(z.imaginary, type)), one = ops.number(1, type);
    const Part t_squared = ops.multiply(t, t), s_squared = ops.multiply(s, s);
    const MlirId by = *ops.add(one, ops.multiply(t_squared, s_squared));
    return {ops.divide(ops.multiply(t, ops.add(one, s_squared)), by),
            ops.divide(ops.multiply(s, ops.subtract(one, t_squared)), by)};
}

// -i tanh(i z)
Pair tangent(RealOps& ops, const Pair& z, const MlirType& type) {
    const Pair turned = hyperbolic_tangent(ops, {ops.negate(z.imaginary), z.real}, type);
    return {turned.imaginary, ops.negate(turned.real)};
}

// Of size |a|^x exp(-y arg a) with b = x + i y, at the angle x arg a + y log |a|: the power of sizes is that of 0 too.
Pair power(RealOps& ops, const Pair& a, const Pair& b, const MlirType& type) {
    const MlirId size = size_of(ops, a, type), angle = angle_of(ops, a, type), x = ops.whole(b.real, type);
    const MlirId of_sizes = ops.make("stablehlo.power", {size, x}, type);
    if (!b.imaginary) return at_angle(ops, of_sizes, *ops.multiply(x, angle));
    const MlirId falls = ops.apply("stablehlo.exponential", *ops.negate(ops.multiply(b.imaginary, angle)));
    const MlirId above = ops.make("stablehlo.maximum", {size, ops.number(least_normal(type), type)}, type);
    return at_angle(ops, ops.multiply(of_sizes, falls),
                    *ops.add(ops.multiply(x, angle), ops.multiply(b.imaginary, ops.apply("stablehlo.log", above))));
}

} // namespace shard
