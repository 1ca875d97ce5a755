// Ops that go element by element and have no counterpart, written over those that have one, as XLA does it.
#include "dtype_headers.inc"
#include "importer/model/op_context.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

namespace shard {

namespace {

// Formulas over one value: numbers are of its type.
class Formula {
public:
    Formula(Draft& draft, DraftType type) : draft_(draft), type_(std::move(type)) {}

    DraftId number(double real) { return draft_.number({type_.dtype, {}}, {real, 0}); }
    DraftId operator()(std::string op, DraftId a) { return draft_.pointwise(std::move(op), {a}, type_); }
    DraftId operator()(std::string op, DraftId a, DraftId b) { return draft_.pointwise(std::move(op), {a, b}, type_); }
    DraftId with(std::string op, DraftId a, double b) { return (*this)(std::move(op), a, number(b)); }
    DraftId compared(std::string comparison, DraftId a, DraftId b) {
        return draft_.pointwise(std::move(comparison), {a, b}, {DType::boolean, type_.shape});
    }
    // One of both, where the comparison holds and where it does not.
    DraftId choose(DraftId truth, DraftId yes, DraftId no) {
        return draft_.pointwise("select", {truth, yes, no}, type_);
    }
    DraftId choose(std::string comparison, DraftId a, double b, DraftId yes, DraftId no) {
        return choose(compared(std::move(comparison), a, number(b)), yes, no);
    }
    DraftId polynomial(DraftId x, std::span<const double> coefficients) { // the highest power's first
        DraftId sum = with("add", with("mul", x, coefficients[0]), coefficients[1]);
        for (const double next : coefficients.subspan(2)) sum = with("add", (*this)("mul", sum, x), next);
        return sum;
    }

private:
    Draft& draft_;
    DraftType type_;
};

DraftId tangent(Formula& formula, DraftId x) { return formula("div", formula("sin", x), formula("cos", x)); }

DraftId arc_tangent(Formula& formula, DraftId x) { return formula.with("atan2", x, 1); }

// Halves go away from zero.
DraftId rounded(Formula& formula, DraftId x) {
    const DraftId size = formula("abs", x), below = formula("floor", size);
    const DraftId nearest =
        formula.choose("ge", formula("sub", size, below), 0.5, formula.with("add", below, 1), below);
    return formula("mul", formula("sign", x), nearest);
}

// Of f32: M. Giles, "Approximating the erfinv function".
DraftId inverse_erf(Formula& formula, DraftId x) {
    static constexpr double middle[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                        -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
    static constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                      -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
    const DraftId w = formula("neg", formula("log1p", formula("neg", formula("mul", x, x))));
    const DraftId factor = formula.choose("lt", w, 5, formula.polynomial(formula.with("sub", w, 2.5), middle),
                                          formula.polynomial(formula.with("sub", formula("sqrt", w), 3), tail));
    return formula.choose("eq", formula("abs", x), 1, formula.with("mul", x, std::numeric_limits<double>::infinity()),
                          formula("mul", factor, x));
}

DraftId hyperbolic_sine(Formula& formula, DraftId x) {
    const DraftId grown = formula("expm1", x); // near 0 the exponentials would cancel
    const DraftId near =
        formula.with("mul", formula("add", grown, formula("div", grown, formula.with("add", grown, 1))), 0.5);
    const DraftId up = formula("exp", formula.with("add", x, -std::numbers::ln2)),
                  down = formula("exp", formula.with("sub", formula("neg", x), std::numbers::ln2));
    return formula.choose("lt", formula("abs", x), 1, near, formula("sub", up, down));
}

// Halves inside the exponentials, so that they are not infinite before their sum is.
DraftId hyperbolic_cosine(Formula& formula, DraftId x) {
    return formula("add", formula("exp", formula.with("add", x, -std::numbers::ln2)),
                   formula("exp", formula.with("sub", formula("neg", x), std::numbers::ln2)));
}

DraftId square(Formula& formula, DraftId x) { return formula("mul", x, x); }

// sqrt(1 - x^2).
DraftId complement(Formula& formula, DraftId x) {
    return formula("sqrt", formula("mul", formula.with("add", formula("neg", x), 1), formula.with("add", x, 1)));
}

DraftId arc_sine(Formula& formula, DraftId x) {
    return formula.with("mul", formula("atan2", x, formula.with("add", complement(formula, x), 1)), 2);
}

DraftId arc_cosine(Formula& formula, DraftId x) {
    const DraftId inside = formula.with("mul", formula("atan2", complement(formula, x), formula.with("add", x, 1)), 2);
    return formula.choose("eq", x, -1, formula.number(std::numbers::pi), inside);
}

constexpr double large = 1e9; // whose square is far from infinite, and beside which 1 is lost

DraftId inverse_sinh(Formula& formula, DraftId x) {
    const DraftId size = formula("abs", x), two = square(formula, size);
    const DraftId root = formula.with("add", formula("sqrt", formula.with("add", two, 1)), 1);
    const DraftId near = formula("log1p", formula("add", size, formula("div", two, root)));
    const DraftId far = formula.with("add", formula("log", size), std::numbers::ln2);
    return formula("mul", formula("sign", x), formula.choose("gt", size, large, far, near));
}

DraftId inverse_cosh(Formula& formula, DraftId x) {
    const DraftId less = formula.with("sub", x, 1);
    const DraftId root = formula("sqrt", formula("mul", less, formula.with("add", x, 1)));
    const DraftId far = formula.with("add", formula("log", x), std::numbers::ln2);
    return formula.choose("gt", x, large, far, formula("log1p", formula("add", less, root)));
}

DraftId inverse_tanh(Formula& formula, DraftId x) {
    return formula.with("mul", formula("sub", formula("log1p", x), formula("log1p", formula("neg", x))), 0.5);
}

// C. Lanczos, "A precision approximation of the gamma function", with g = 7 and the coefficients of P. Godfrey: of
// z = x - 1, gamma(x) = sqrt(2 pi) t^(z + 1/2) e^-t sum, t = z + 7.5.
constexpr double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                              771.3234287776530788486528258894,   -176.61502916214059906584551354,
                              12.507343278686904814458936853,     -0.13857109526572011689554707,
                              9.984369578019570859563e-6,         1.50563273514931155834e-7};

struct Lanczos {
    DraftId is_low, z, log_t, t, sum, slope; // slope: the derivative of the sum
};

// Below 1/2 of 1 - x.
Lanczos lanczos_of(Formula& formula, DraftId x) {
    Lanczos of;
    of.z = formula.choose("lt", x, 0.5, formula("neg", x), formula.with("sub", x, 1));
    of.sum = formula.number(0.99999999999980993227684700473478);
    for (size_t i = 0; i < std::size(lanczos); ++i) {
        const DraftId below = formula.with("add", of.z, static_cast<double>(i + 1));
        const DraftId part = formula("div", formula.number(lanczos[i]), below);
        of.sum = formula("add", part, of.sum);
        const DraftId fall = formula("div", part, below);
        of.slope = i == 0 ? formula("neg", fall) : formula("sub", of.slope, fall);
    }
    of.t = formula.with("add", of.z, 7.5);
    // log(z + 7.5) is more exact as this.
    of.log_t = formula.with("add", formula("log1p", formula.with("div", of.z, 7.5)), std::log(7.5));
    return of;
}

DraftId log_gamma(Formula& formula, DraftId x) {
    const Lanczos of = lanczos_of(formula, x);
    const DraftId power =
        formula("mul", formula("sub", formula.with("add", of.z, 0.5), formula("div", of.t, of.log_t)), of.log_t);
    const DraftId high =
        formula("add", formula.with("add", power, 0.5 * std::log(2 * std::numbers::pi)), formula("log", of.sum));
    // gamma(x) gamma(1 - x) = pi / sin(pi x), with the part of x after the point, which is exact.
    const DraftId size = formula("abs", x), part = formula("sub", size, formula("floor", size));
    const DraftId near = formula.choose("gt", part, 0.5, formula.with("add", formula("neg", part), 1), part);
    const DraftId sine = formula("log", formula("sin", formula.with("mul", near, std::numbers::pi)));
    const DraftId low = formula("sub", formula.with("sub", formula("neg", sine), -std::log(std::numbers::pi)), high);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // A whole number from 0 down has no gamma.
    const DraftId reflected = formula.choose("eq", near, 0, formula.number(infinity), low);
    return formula.choose("eq", size, infinity, formula.number(infinity),
                          formula.choose("lt", x, 0.5, reflected, high));
}

DraftId digamma(Formula& formula, DraftId x) {
    const Lanczos of = lanczos_of(formula, x);
    const DraftId high = formula("sub", formula("add", of.log_t, formula("div", of.slope, of.sum)),
                                 formula("div", formula.number(7), of.t));
    // digamma(1 - x) - digamma(x) = pi / tan(pi x), with x moved to within 1/2 of 0.
    const DraftId angle = formula.with(
        "mul", formula("add", x, formula("abs", formula("floor", formula.with("add", x, 0.5)))), std::numbers::pi);
    const DraftId turned =
        formula("div", formula.with("mul", formula("cos", angle), std::numbers::pi), formula("sin", angle));
    const DraftId whole = formula.choose("le", x, 0, formula("floor", x), formula.with("add", x, 1));
    const DraftId is_pole = formula.compared("eq", whole, x);
    return formula.choose(
        "lt", x, 0.5,
        formula.choose(is_pole, formula.number(std::numeric_limits<double>::quiet_NaN()), formula("sub", high, turned)),
        high);
}

// Narrow types are computed in f32, as XLA does it.
template<DraftId (*formula_of)(Formula&, DraftId)>
bool import_composed(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1 && context.type(0) == *type && is_floating(type->dtype),
                                 "takes 1 operand of its result's type"))
        return false;
    const DraftType wide{computed_as(type->dtype), type->shape};
    Formula formula(context.draft, wide);
    const DraftId result = formula_of(formula, context.draft.cast(context.operand(0), wide.dtype));
    context.set(0, context.draft.cast(result, type->dtype));
    return true;
}

bool import_inverse_erf(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (type && type->dtype == DType::f64) return context.refuse("chlo.erf_inv of another type than f32");
    return type && import_composed<inverse_erf>(context, {});
}

// Of x: that it is an infinity.
bool import_is_infinite(OpContext& context, std::string_view which) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1 && is_floating(context.type(0).dtype) &&
                                     *type == DraftType{DType::boolean, context.type(0).shape},
                                 "tells of a floating-point number whether it is one"))
        return false;
    Formula formula(context.draft, context.type(0));
    const DraftId x = which == "any" ? formula("abs", context.operand(0)) : context.operand(0);
    const double infinity = std::numeric_limits<double>::infinity();
    context.set(0, formula.compared("eq", x, formula.number(which == "negative" ? -infinity : infinity)));
    return true;
}

// As another type with fewer bits has it: rounded there and back. Of numbers below its least normal one nothing stays.
bool import_reduce_precision(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1 && context.type(0) == *type && is_floating(type->dtype),
                                 "takes 1 operand of its result's type"))
        return false;
    i64 exponent = 0, mantissa = 0; // format = e5m10, or two attributes
    if (const MlirAttribute* const format = find_attribute(context.op.items, {"format"})) {
        const size_t m = std::min(format->text.find('m'), format->text.size());
        exponent = parse_number<i64>(std::string_view(format->text).substr(std::min<size_t>(1, m), m - 1)).value_or(0);
        mantissa =
            parse_number<i64>(std::string_view(format->text).substr(std::min(m + 1, format->text.size()))).value_or(0);
    } else {
        const std::optional<i64> e = context.integer({"exponent_bits"}), m = context.integer({"mantissa_bits"});
        if (!e || !m) return false;
        exponent = *e, mantissa = *m;
    }
    const DraftId x = context.operand(0);
    Draft& draft = context.draft;
    if ((type->dtype == DType::f32 && exponent == 8 && mantissa == 23) ||
        (type->dtype == DType::bf16 && exponent == 8 && mantissa == 7) ||
        (type->dtype == DType::f16 && exponent == 5 && mantissa == 10)) {
        context.set(0, x);
        return true;
    }
    const bool is_half = exponent == 5 && mantissa == 10;
    if (type->dtype != DType::f32 || !(is_half || (exponent == 8 && mantissa == 7)))
        return context.refuse(fmt::format("rounding to {} bits of exponent and {} after the point", exponent, mantissa),
                              "round to bfloat16 or float16");
    const DraftId rounded_there = draft.cast(draft.cast(x, is_half ? DType::f16 : DType::bf16), type->dtype);
    Formula formula(draft, *type);
    context.set(0, !is_half ? rounded_there
                            : formula.choose("lt", formula("abs", rounded_there), 0x1p-14,
                                             formula.with("mul", rounded_there, 0), rounded_there));
    return true;
}

// Of a type of 16 bits: numbers beside each other have bits beside each other.
template<DType dtype>
double next_narrow(double from, double to) {
    using Element = typename ElementType<dtype>::Element;
    Element next(static_cast<float>(from));
    if (from == to) return from;
    if (from == 0)
        next.bits = to > 0 ? 0x0001 : 0x8001;
    else
        next.bits = static_cast<std::uint16_t>(next.bits + ((to > from) == (from > 0) ? 1 : -1));
    return static_cast<float>(next);
}

std::optional<double> next_after(double from, double to, DType dtype) {
    if (std::isnan(from) || std::isnan(to)) return std::nullopt;
    if (dtype == DType::f64) return std::nextafter(from, to);
    if (dtype == DType::f32) return std::nextafter(static_cast<float>(from), static_cast<float>(to));
    if (dtype == DType::bf16) return next_narrow<DType::bf16>(from, to);
    return dtype == DType::f16 ? std::optional<double>(next_narrow<DType::f16>(from, to)) : std::nullopt;
}

// The next number after one that is known, as jax.random.truncated_normal asks for it.
bool import_next_after(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 2 && context.type(0) == *type && context.type(1) == *type,
                                 "takes 2 operands of its result's type"))
        return false;
    const std::optional<DraftNumber> from = context.draft[context.operand(0)].number,
                                     to = context.draft[context.operand(1)].number;
    const std::optional<double> next = from && to ? next_after(from->real, to->real, type->dtype) : std::nullopt;
    if (!next) return context.refuse("the next number after one that is computed", "give jnp.nextafter known numbers");
    context.set(0, context.draft.number(*type, {*next, 0}));
    return true;
}

// Ones among the bits of a whole number, summed in pairs, fours, bytes, ...; or of those from the highest one down.
bool import_bit_count(OpContext& context, std::string_view which) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1 && context.type(0) == *type && is_integer(type->dtype),
                                 "takes a whole number of its result's type"))
        return false;
    Draft& draft = context.draft;
    const DraftType bits{unsigned_of(type->dtype), type->shape};
    const i64 width = 8 * byte_size(bits.dtype);
    const auto with = [&](std::string op, DraftId x, i64 number) {
        return draft.pointwise(std::move(op), {x, draft.number({bits.dtype, {}}, {0, number})}, bits);
    };
    DraftId x = draft.cast(context.operand(0), bits.dtype);
    if (which == "zeros") {
        for (i64 by = 1; by < width; by *= 2) x = draft.pointwise("bit_or", {x, with("shift_right", x, by)}, bits);
        x = draft.pointwise("bit_not", {x}, bits);
    }
    for (i64 by = 1; by < width; by *= 2) {
        i64 mask = 0; // `by` ones, as many zeros, ...
        for (i64 bit = 0; bit < width && bit < 63; ++bit)
            if (bit / by % 2 == 0) mask |= i64{1} << bit;
        x = draft.pointwise("add", {with("bit_and", x, mask), with("bit_and", with("shift_right", x, by), mask)}, bits);
    }
    context.set(0, draft.cast(x, type->dtype));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_composed() {
    return {{"stablehlo.tan", import_composed<tangent>},
            {"chlo.tan", import_composed<tangent>},
            {"chlo.atan", import_composed<arc_tangent>},
            {"chlo.asin", import_composed<arc_sine>},
            {"chlo.acos", import_composed<arc_cosine>},
            {"chlo.sinh", import_composed<hyperbolic_sine>},
            {"chlo.cosh", import_composed<hyperbolic_cosine>},
            {"chlo.asinh", import_composed<inverse_sinh>},
            {"chlo.acosh", import_composed<inverse_cosh>},
            {"chlo.atanh", import_composed<inverse_tanh>},
            {"chlo.lgamma", import_composed<log_gamma>},
            {"chlo.digamma", import_composed<digamma>},
            {"chlo.is_inf", import_is_infinite, "any"},
            {"chlo.is_pos_inf", import_is_infinite, "positive"},
            {"chlo.is_neg_inf", import_is_infinite, "negative"},
            {"chlo.next_after", import_next_after},
            {"stablehlo.reduce_precision", import_reduce_precision},
            {"stablehlo.popcnt", import_bit_count, "ones"},
            {"stablehlo.count_leading_zeros", import_bit_count, "zeros"},
            {"stablehlo.round_nearest_afz", import_composed<rounded>},
            {"chlo.erf_inv", import_inverse_erf}};
}

} // namespace shard
