// Ops that go element by element and have a counterpart of one name.
#include "importer/model/fold.h"
#include "importer/model/op_context.h"
#include "importer/model/partition_number.h"
#include "importer/model/simplified.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

// Only what a select chooses by may be a scalar.
bool same_shapes(OpContext& context, const DraftType& result) {
    for (size_t i = 0; i < context.operand_count(); ++i)
        if (!context.expect(context.type(i).shape == result.shape ||
                                (i == 0 && context.operand_count() == 3 && context.type(i).shape.empty()),
                            "has operands of other shapes than its result"))
            return false;
    return true;
}

bool import_as(OpContext& context, std::string_view becomes, size_t operands) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == operands, fmt::format("takes {} operands", operands)) ||
        !same_shapes(context, *type))
        return false;
    std::vector<DraftId> values;
    for (size_t i = 0; i < operands; ++i) values.push_back(context.operand(i));
    if (const std::optional<DraftId> known = without_op(context.draft, becomes, values, *type)) {
        context.set(0, *known);
        return true;
    }
    // x to the power of 2 is x * x, in XLA too.
    if (becomes == "pow" && context.draft[values[1]].number && is_floating(type->dtype) &&
        context.draft[values[1]].number->real == 2)
        context.set(0, context.draft.pointwise("mul", {values[0], values[0]}, *type));
    else
        context.set(0, context.draft.pointwise(std::string(becomes), std::move(values), *type));
    return true;
}

bool import_unary(OpContext& context, std::string_view becomes) { return import_as(context, becomes, 1); }
bool import_binary(OpContext& context, std::string_view becomes) { return import_as(context, becomes, 2); }

// One number, and no known one is added to it as a norm of layers adds its eps: its root may be that of all squares of
// several arrays (importer/shape/global_norm_forms.h), which is there as a root for who divides by it, too.
bool is_plain_sum(const Draft& draft, DraftId value) {
    const DraftEntry* const made = draft.type(value).shape.empty() ? draft.entry_of(value) : nullptr;
    if (made == nullptr) return false;
    const auto is_number = [&](DraftId operand) { return draft[operand].number.has_value(); };
    return made->op == "reduce_sum" ||
           (made->op == "add" && std::none_of(made->operands.begin(), made->operands.end(), is_number));
}

// Of sqrt(x), repeated or reshaped up to `most` times, 1 / sqrt(x).
std::optional<DraftId> reciprocal_of_root(Draft& draft, DraftId root, int most = 4) {
    const DraftValue value = draft[root];
    if (value.of >= 0) {
        const std::optional<DraftId> of = reciprocal_of_root(draft, value.of, most);
        return of ? std::optional(draft.broadcast(*of, value.type.shape, value.dims)) : std::nullopt;
    }
    const DraftEntry* const made = draft.entry_of(root);
    if (made == nullptr) return std::nullopt;
    if (made->op == "sqrt" && is_plain_sum(draft, made->operands[0])) return std::nullopt;
    if (made->op == "sqrt") return draft.pointwise("rsqrt", {made->operands[0]}, value.type);
    if (made->op != "reshape" || most == 0) return std::nullopt;
    const std::optional<DraftId> of = reciprocal_of_root(draft, made->operands[0], most - 1);
    return of ? std::optional(draft.reshape(*of, value.type.shape)) : std::nullopt;
}

// By a root XLA multiplies, too.
bool import_divide(OpContext& context, std::string_view becomes) {
    const std::optional<DraftType> type = context.result_type();
    if (type && context.operand_count() == 2 && is_floating(type->dtype) && context.type(0) == *type &&
        context.type(1) == *type)
        if (const std::optional<DraftId> by = reciprocal_of_root(context.draft, context.operand(1))) {
            context.set(0, simplified(context.draft, "mul", {context.operand(0), *by}, *type));
            return true;
        }
    return import_as(context, becomes, 2);
}

bool import_remainder(OpContext& context, std::string_view becomes) {
    const std::optional<DraftType> type = context.result_type();
    if (type && context.operand_count() == 2 && type->shape.empty() && *type == context.type(0))
        if (const std::optional<DraftNumber> size = context.draft[context.operand(1)].number)
            if (const std::optional<DraftId> index = index_along_axis(context, context.operand(0), size->integer)) {
                context.set(0, *index);
                return true;
            }
    return import_as(context, becomes, 2);
}

// Of numbers without a sign, 0 - x, which wraps.
bool import_negate(OpContext& context, std::string_view becomes) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || context.operand_count() != 1 || !is_integer(type->dtype) || is_signed(type->dtype) ||
        *type != context.type(0))
        return import_as(context, becomes, 1);
    const DraftId zero = context.draft.number({type->dtype, {}}, {0, 0});
    context.set(0, simplified(context.draft, "sub", {zero, context.operand(0)}, *type));
    return true;
}

bool import_select(OpContext& context, std::string_view becomes) {
    if (context.operand_count() == 3 && !context.expect(context.type(0).dtype == DType::boolean, "chooses by i1"))
        return false;
    return import_as(context, becomes, 3);
}

// Of i1 these are logical, of whole numbers they go bit by bit: "bit_and".
bool import_logical(OpContext& context, std::string_view becomes) {
    const bool logical = context.operand_count() > 0 && context.type(0).dtype == DType::boolean;
    const std::string_view of_truths = becomes == "bit_xor" ? "ne" : becomes.substr(4);
    return import_as(context, logical ? of_truths : becomes, becomes == "bit_not" ? 1 : 2);
}

// The model's shifts keep the sign of types that have one: bits are shifted in the type without, where zeros come in, or
// in the one with, where copies of the highest do.
using TypeOfBits = DType (*)(DType);

template<TypeOfBits type_of_bits>
bool import_shift_right(OpContext& context, std::string_view becomes) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 2 && is_integer(type->dtype) && *type == context.type(0) &&
                                     *type == context.type(1),
                                 "takes two whole numbers of one type"))
        return false;
    const DType bits = type_of_bits(type->dtype);
    Draft& draft = context.draft;
    const std::optional<DraftNumber>& by = draft[context.operand(1)].number;
    if (by && by->integer >= 8 * byte_size(bits) && !is_signed(bits)) { // no bit is left
        context.set(0, draft.number(*type, {}));
        return true;
    }
    if (bits == type->dtype) return import_as(context, becomes, 2);
    const auto cast = [&](DraftId value, DType to) {
        const DraftType cast_type{to, type->shape};
        const std::optional<DraftId> known = fold(draft, "cast", {value}, cast_type);
        return known ? *known : draft.cast(value, to);
    };
    const std::vector<DraftId> of_bits = {cast(context.operand(0), bits), cast(context.operand(1), bits)};
    const DraftType shifted_type{bits, type->shape};
    const std::optional<DraftId> known = fold(draft, becomes, of_bits, shifted_type);
    context.set(0, cast(known ? *known : draft.pointwise(std::string(becomes), of_bits, shifted_type), type->dtype));
    return true;
}

// In which -0 is less than 0, and NaN greater than all else: the order of jnp.sort.
bool import_total_order(OpContext& context, const std::string& direction) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !same_shapes(context, *type) ||
        !context.expect(context.type(0) == context.type(1), "compares values of one type"))
        return false;
    Draft& draft = context.draft;
    const DraftType of = context.type(0);
    const bool swapped = direction == "GT" || direction == "LE";
    const DraftId a = context.operand(swapped ? 1 : 0), b = context.operand(swapped ? 0 : 1);
    const auto both = [&](std::string op, DraftId x, DraftId y) {
        return draft.pointwise(std::move(op), {x, y}, *type);
    };
    const DraftId one = draft.number({of.dtype, {}}, {1, 0}), zero = draft.number({of.dtype, {}}, {});
    const auto over = [&](DraftId x) { return draft.pointwise("div", {one, x}, of); }; // of zeros, their sign
    const auto are_zeros = [&] { return both("and", both("eq", a, zero), both("eq", b, zero)); };
    DraftId result;
    if (direction == "EQ" || direction == "NE") {
        const DraftId nans = both("and", both("ne", a, a), both("ne", b, b));
        const DraftId equal =
            both("and", both("eq", a, b),
                 both("or", draft.pointwise("not", {are_zeros()}, *type), both("eq", over(a), over(b))));
        result = both("or", nans, equal);
    } else {
        const DraftId of_zeros = both("and", are_zeros(), both("lt", over(a), over(b)));
        const DraftId of_nan = both("and", both("ne", b, b), both("eq", a, a));
        result = both("or", both("lt", a, b), both("or", of_zeros, of_nan));
    }
    const bool negated = direction == "NE" || direction == "LE" || direction == "GE";
    context.set(0, negated ? draft.pointwise("not", {result}, *type) : result);
    return true;
}

bool import_compare(OpContext& context, std::string_view) {
    static const std::map<std::string, std::string_view> directions = {{"LT", "lt"}, {"LE", "le"}, {"GT", "gt"},
                                                                       {"GE", "ge"}, {"EQ", "eq"}, {"NE", "ne"}};
    const std::string direction = context.word("comparison_direction", {"LT", "LE", "GT", "GE", "EQ", "NE"});
    if (!context.expect(directions.contains(direction), "needs a direction: LT, LE, GT, GE, EQ or NE")) return false;
    if (!context.word("compare_type", {"TOTALORDER"}).empty() && context.operand_count() == 2 &&
        is_floating(context.type(0).dtype))
        return import_total_order(context, direction);
    return import_as(context, directions.at(direction), 2);
}

bool import_square(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1, "takes 1 operand") || !same_shapes(context, *type))
        return false;
    context.set(0, simplified(context.draft, "mul", {context.operand(0), context.operand(0)}, *type));
    return true;
}

bool import_convert(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1, "takes 1 operand") || !same_shapes(context, *type))
        return false;
    const DraftId value = context.operand(0);
    if (const std::optional<DraftId> known = fold(context.draft, "cast", {value}, *type))
        context.set(0, *known);
    else if (type->dtype == DType::boolean && context.type(0).dtype != DType::boolean)
        context.set(0, context.draft.pointwise("ne", {value, context.draft.number(context.type(0), {})}, *type));
    else
        context.set(0, context.draft.cast(value, type->dtype));
    return true;
}

// The number that a bound is; nullopt: it is none, or no number that can be written as one.
std::optional<double> bound_number(OpContext& context, size_t bound) {
    const std::optional<DraftNumber>& number = context.draft[context.operand(bound)].number;
    return number && std::isfinite(number->real) ? std::optional<double>(number->real) : std::nullopt;
}

// clamp(low, x, high), as the model's op where both are numbers: at these it has no gradient, max and min have half.
bool import_clamp(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 3 && context.type(1).shape == type->shape,
                                 "takes a bound, a value of the result's shape and a bound"))
        return false;
    for (const size_t bound : {0, 2})
        if (!context.expect(context.type(bound).shape.empty() || context.type(bound).shape == type->shape,
                            "has bounds of another shape"))
            return false;
    const std::optional<double> least = bound_number(context, 0), most = bound_number(context, 2);
    if (is_floating(type->dtype) && least && most && *least <= *most && !context.draft[context.operand(1)].number) {
        context.set(0, context.draft.pointwise("clamp", {context.operand(1)}, *type,
                                               fmt::format(", min: {}, max: {}", number_text(type->dtype, {*least, 0}),
                                                           number_text(type->dtype, {*most, 0}))));
        return true;
    }
    const DraftId low = simplified(context.draft, "max", {context.operand(1), context.operand(0)}, *type);
    context.set(0, simplified(context.draft, "min", {low, context.operand(2)}, *type));
    return true;
}

bool import_same(OpContext& context, std::string_view) {
    if (!context.expect(context.operand_count() == context.op.results.size(), "has as many results as operands"))
        return false;
    for (size_t i = 0; i < context.operand_count(); ++i) {
        const std::optional<DraftType> type = context.result_type(i);
        if (!type || !context.expect(*type == context.type(i), "has the types of its operands")) return false;
        context.set(i, context.operand(i));
    }
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_pointwise() {
    using Names = std::pair<std::string_view, std::string_view>;
    std::vector<ImportRow> rows = {
        {"stablehlo.select", import_select, "select"},
        {"stablehlo.compare", import_compare},
        {"stablehlo.convert", import_convert},
        {"stablehlo.clamp", import_clamp},
        {"stablehlo.remainder", import_remainder, "rem"},
        {"chlo.square", import_square},
        {"stablehlo.and", import_logical, "bit_and"},
        {"stablehlo.or", import_logical, "bit_or"},
        {"stablehlo.not", import_logical, "bit_not"},
        {"stablehlo.xor", import_logical, "bit_xor"},
        {"stablehlo.shift_right_logical", import_shift_right<unsigned_of>, "shift_right"},
        {"stablehlo.shift_right_arithmetic", import_shift_right<signed_of>, "shift_right"},
        {"stablehlo.negate", import_negate, "neg"},
        {"stablehlo.optimization_barrier", import_same},
        {"stablehlo.divide", import_divide, "div"},
    };
    for (const Names& pair : std::initializer_list<Names>{
             {"stablehlo.abs", "abs"},
             {"stablehlo.cbrt", "cbrt"},
             {"stablehlo.ceil", "ceil"},
             {"stablehlo.cosine", "cos"},
             {"stablehlo.exponential", "exp"},
             {"stablehlo.exponential_minus_one", "expm1"},
             {"stablehlo.floor", "floor"},
             {"stablehlo.is_finite", "is_finite"},
             {"stablehlo.log", "log"},
             {"stablehlo.log_plus_one", "log1p"},
             {"stablehlo.logistic", "logistic"},
             {"stablehlo.round_nearest_even", "round"},
             {"stablehlo.rsqrt", "rsqrt"},
             {"stablehlo.sign", "sign"},
             {"stablehlo.sine", "sin"},
             {"stablehlo.sqrt", "sqrt"},
             {"stablehlo.tanh", "tanh"},
             {"chlo.erf", "erf"},
             {"chlo.erfc", "erfc"},
         })
        rows.push_back({pair.first, import_unary, pair.second});
    for (const Names& pair : std::initializer_list<Names>{
             {"stablehlo.add", "add"},
             {"stablehlo.atan2", "atan2"},
             {"stablehlo.maximum", "max"},
             {"stablehlo.minimum", "min"},
             {"stablehlo.multiply", "mul"},
             {"stablehlo.power", "pow"},
             {"stablehlo.shift_left", "shift_left"},
             {"stablehlo.subtract", "sub"},
         })
        rows.push_back({pair.first, import_binary, pair.second});
    return rows;
}

} // namespace shard
