// Reductions, by what their region does: sums, products, extremes, all and any, and where the largest is.
#include "importer/model/op_context.h"
#include "importer/model/region_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shard {

namespace {

struct Reduction {
    std::string_view reduce, combine; // the model's ops: over dims, and of two values; none of bits
    std::string_view of_bools;        // of two of them
};

const std::map<std::string_view, Reduction>& reductions() {
    static const std::map<std::string_view, Reduction> table = {
        {"stablehlo.add", {"reduce_sum", "add", "or"}},
        {"stablehlo.multiply", {"reduce_prod", "mul", "and"}},
        {"stablehlo.maximum", {"reduce_max", "max", "or"}},
        {"stablehlo.minimum", {"reduce_min", "min", "and"}},
        {"stablehlo.and", {{}, {}, "and"}},
        {"stablehlo.or", {{}, {}, "or"}},
    };
    return table;
}

// Whether combining with the number changes nothing.
bool is_neutral(std::string_view combine, DType dtype, const DraftNumber& number) {
    if (dtype == DType::boolean) return (combine == "and" || combine == "min") == (number.integer != 0);
    if (is_floating(dtype)) {
        if (combine == "add") return number.real == 0;
        if (combine == "mul") return number.real == 1;
        return std::isinf(number.real) && (number.real < 0) == (combine == "max");
    }
    if (combine == "add") return number.integer == 0;
    if (combine == "mul") return number.integer == 1;
    const DTypeInfo& of = info(dtype);
    return combine == "max" ? number.integer == of.lowest
                            : number.integer > 0 && static_cast<std::uint64_t>(number.integer) == of.highest;
}

// The region that jnp.argmax and argmin have: the first of the best, NaN best of all.
std::string arg_form(std::string_view better) {
    return fmt::format("compare{}(0,2);compareNE(0,0);or(4,5);compareEQ(0,2);compareLT(1,3);and(7,8);or(6,9);"
                       "select(6,0,2);select(10,1,3);return(11,12);",
                       better);
}

bool import_arg(OpContext& context, const std::vector<i64>& dims) {
    const std::string form = region_form(context.module, context.op.regions.front());
    const bool largest = form == arg_form("GT"), least = form == arg_form("LT");
    if ((!largest && !least) || dims.size() != 1)
        return context.refuse("a reduction of several values by a rule of its own");
    const std::optional<DraftType> best = context.result_type(0), index = context.result_type(1);
    if (!best || !index ||
        !context.expect(context.type(1).shape == context.type(0).shape && index->shape == best->shape,
                        "has values of one shape"))
        return false;
    if (!context.draft.counts_along(context.operand(1), dims[0]))
        return context.refuse("a reduction of several values by a rule of its own");
    const std::optional<DraftNumber> begin = context.draft[context.operand(2)].number,
                                     at = context.draft[context.operand(3)].number;
    if (!begin || !at || at->integer != 0 || !is_neutral(largest ? "max" : "min", best->dtype, *begin))
        return context.refuse("a reduction of several values that begins elsewhere than at the first");
    // The least place of those where the best is, or a NaN, in which the best is NaN itself.
    Draft& draft = context.draft;
    const bool logical = best->dtype == DType::boolean;
    const DraftId value = logical ? draft.cast(context.operand(0), DType::i32) : context.operand(0);
    const DraftType whole = draft.type(value), truth = {DType::boolean, whole.shape};
    const std::string over = fmt::format(", dims: {}", list_text(dims));
    const DraftId found = draft.add(largest ? "reduce_max" : "reduce_min", {value}, over, {whole.dtype, best->shape});
    context.set(0, logical ? draft.pointwise("ne", {found, draft.number(draft.type(found), {})}, *best) : found);
    std::vector<i64> kept(whole.shape.size());
    std::iota(kept.begin(), kept.end(), 0);
    kept.erase(kept.begin() + dims[0]);
    DraftId is_best = draft.pointwise("eq", {value, draft.broadcast(found, whole.shape, kept)}, truth);
    if (is_floating(whole.dtype))
        is_best = draft.pointwise("or", {is_best, draft.pointwise("ne", {value, value}, truth)}, truth);
    const DraftId last = draft.number({index->dtype, {}}, {0, whole.shape[static_cast<size_t>(dims[0])] - 1});
    const DraftId places = draft.pointwise("select", {is_best, context.operand(1), last}, {index->dtype, whole.shape});
    context.set(1, draft.add("reduce_min", {places}, over, *index));
    return true;
}

bool import_reduce(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 2 * context.op.results.size(),
                                 "takes a value and a beginning for each result"))
        return false;
    const Shape from = context.type(0).shape;
    const std::optional<std::vector<i64>> dims = context.dims({"dimensions"}, from.size());
    if (!dims) return false;
    Shape left;
    for (size_t i = 0; i < from.size(); ++i)
        if (std::find(dims->begin(), dims->end(), static_cast<i64>(i)) == dims->end()) left.push_back(from[i]);
    if (!context.expect(left == type->shape, "has a result of the dims that are left")) return false;
    for (size_t i = 0; i < context.op.results.size(); ++i)
        if (!context.expect(context.type(context.op.results.size() + i) == DraftType{context.type(i).dtype, {}},
                            "begins with a scalar of its operand's type"))
            return false;
    if (context.op.results.size() == 1 && element_count(from) == 0) {
        context.set(0, context.draft.broadcast(context.operand(1), left, {}));
        return true;
    }
    if (context.op.results.size() == 2 && context.op.regions.size() == 1) return import_arg(context, *dims);
    const std::string applied = applied_op(context.op);
    if (context.op.results.size() != 1 || !reductions().contains(applied))
        return context.refuse("a reduction by a rule of its own",
                              "sums, products, maxima, minima, and, or and argmax are known");
    const Reduction& reduction = reductions().at(applied);
    Draft& draft = context.draft;
    const DType dtype = context.type(0).dtype;
    const bool logical = dtype == DType::boolean;
    const std::string_view combine = logical ? reduction.of_bools : reduction.combine;
    if (combine.empty()) return context.refuse("a reduction of the bits of whole numbers");
    DraftId value = context.operand(0);
    const bool is_alone =
        std::all_of(dims->begin(), dims->end(), [&](i64 dim) { return from[static_cast<size_t>(dim)] == 1; });
    if (is_alone) {
        value = draft.reshape(value, left); // one element each
    } else {
        if (logical) value = draft.cast(value, DType::i32);
        const std::string_view least = combine == "and" ? "reduce_min" : "reduce_max";
        value = draft.add(std::string(logical ? least : reduction.reduce), {value},
                          fmt::format(", dims: {}", list_text(*dims)), {draft.type(value).dtype, left});
        if (logical) value = draft.pointwise("ne", {value, draft.number(draft.type(value), {})}, *type);
    }
    const std::optional<DraftNumber> begin = draft[context.operand(1)].number;
    if (!begin || !is_neutral(combine, dtype, *begin))
        value = draft.pointwise(std::string(combine), {value, draft.broadcast(context.operand(1), left, {})}, *type);
    context.set(0, value);
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_reductions() { return {{"stablehlo.reduce", import_reduce}}; }

} // namespace shard
