// Ops that go element by element and have no counterpart, written over those that have one, as XLA does it.
#include "importer/model/op_context.h"

#include <limits>
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
    // One of both, where the comparison holds and where it does not.
    DraftId choose(std::string comparison, DraftId a, double b, DraftId yes, DraftId no) {
        const DraftId truth = draft_.pointwise(std::move(comparison), {a, number(b)}, {DType::boolean, type_.shape});
        return draft_.pointwise("select", {truth, yes, no}, type_);
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

template<DraftId (*formula_of)(Formula&, DraftId)>
bool import_composed(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1 && context.type(0) == *type && is_floating(type->dtype),
                                 "takes 1 operand of its result's type"))
        return false;
    Formula formula(context.draft, *type);
    context.set(0, formula_of(formula, context.operand(0)));
    return true;
}

bool import_inverse_erf(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (type && type->dtype != DType::f32) return context.refuse("chlo.erf_inv of another type than f32");
    return type && import_composed<inverse_erf>(context, {});
}

} // namespace

std::vector<ImportRow> import_rows_composed() {
    return {{"stablehlo.tan", import_composed<tangent>},
            {"chlo.atan", import_composed<arc_tangent>},
            {"stablehlo.round_nearest_afz", import_composed<rounded>},
            {"chlo.erf_inv", import_inverse_erf}};
}

} // namespace shard
