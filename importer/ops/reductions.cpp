// Reductions, by what their region does: sums, products, extremes, all and any, and where the largest is.
#include "importer/model/op_context.h"
#include "importer/model/region_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

struct Reduction {
    std::string_view reduce, combine; // the model's ops: over dims, and of two values
};

const std::map<std::string_view, Reduction>& reductions() {
    static const std::map<std::string_view, Reduction> table = {
        {"stablehlo.add", {"reduce_sum", "add"}},     {"stablehlo.multiply", {"reduce_prod", "mul"}},
        {"stablehlo.maximum", {"reduce_max", "max"}}, {"stablehlo.minimum", {"reduce_min", "min"}},
        {"stablehlo.and", {"reduce_min", "and"}},     {"stablehlo.or", {"reduce_max", "or"}},
    };
    return table;
}

// Whether combining with the number changes nothing.
bool is_neutral(std::string_view combine, DType dtype, const DraftNumber& number) {
    if (dtype == DType::boolean) return (combine == "and") == (number.integer != 0);
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
    Draft& draft = context.draft;
    const DraftId value = context.operand(0);
    context.set(0, draft.add(largest ? "reduce_max" : "reduce_min", {value}, fmt::format(", dims: {}", list_text(dims)),
                             *best));
    // argmax is along the last dim.
    const size_t rank = context.type(0).shape.size();
    DraftType moved = context.type(0);
    DraftId operand = least ? draft.pointwise("neg", {value}, moved) : value;
    if (dims[0] != static_cast<i64>(rank) - 1) {
        std::vector<i64> order;
        for (size_t i = 0; i < rank; ++i)
            if (static_cast<i64>(i) != dims[0]) order.push_back(static_cast<i64>(i));
        order.push_back(dims[0]);
        for (size_t i = 0; i < rank; ++i) moved.shape[i] = context.type(0).shape[static_cast<size_t>(order[i])];
        operand = draft.add("transpose", {operand}, fmt::format(", permutation: {}", list_text(order)), moved);
    }
    const DraftId found = draft.add("argmax", {operand}, {}, {DType::i32, index->shape});
    context.set(1, draft.cast(found, index->dtype));
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
    if (context.op.results.size() == 2 && context.op.regions.size() == 1) return import_arg(context, *dims);
    const std::string applied = applied_op(context.op);
    if (context.op.results.size() != 1 || !reductions().contains(applied))
        return context.refuse("a reduction by a rule of its own",
                              "sums, products, maxima, minima, and, or and argmax are known");
    const Reduction& reduction = reductions().at(applied);
    Draft& draft = context.draft;
    const DType dtype = context.type(0).dtype;
    const bool logical = dtype == DType::boolean;
    if ((reduction.combine == "and" || reduction.combine == "or") && !logical)
        return context.refuse("a reduction of the bits of whole numbers");
    DraftId value = context.operand(0);
    if (!dims->empty()) {
        if (logical) value = draft.cast(value, DType::i32);
        value = draft.add(std::string(reduction.reduce), {value}, fmt::format(", dims: {}", list_text(*dims)),
                          {draft.type(value).dtype, left});
        if (logical) value = draft.pointwise("ne", {value, draft.number(draft.type(value), {})}, *type);
    }
    if (!context.expect(context.type(1).shape.empty(), "begins with a scalar")) return false;
    const std::optional<DraftNumber> begin = draft[context.operand(1)].number;
    if (!begin || !is_neutral(reduction.combine, dtype, *begin))
        value = draft.pointwise(std::string(reduction.combine), {value, draft.broadcast(context.operand(1), left, {})},
                                *type);
    context.set(0, value);
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_reductions() { return {{"stablehlo.reduce", import_reduce}}; }

} // namespace shard
