// Sorting, and the k largest.
#include "importer/model/op_context.h"
#include "importer/model/region_form.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// The comparison that jnp.sort has for the first of `operands` values: -0 is 0, and all NaN are one, the largest.
std::string float_order(size_t operands, std::string_view nan) {
    size_t next = 2 * operands;
    std::string form;
    const auto canonical = [&](size_t side) {
        form += fmt::format("constant0.000000e+00();compareEQ({0},{1});constant0.000000e+00();select({2},{3},{0});"
                            "compareNE({0},{0});constant{4}();select({5},{6},{7});",
                            side, next, next + 1, next + 2, nan, next + 4, next + 5, next + 3);
        return (next += 7) - 1;
    };
    const size_t left = canonical(0), right = canonical(1);
    return form + fmt::format("compareLTTOTALORDER({},{});return({});", left, right, next);
}

bool import_sort(OpContext& context, std::string_view) {
    const size_t count = context.operand_count();
    const std::optional<i64> dim = context.integer({"dimension"});
    if (!dim || !context.expect(context.op.regions.size() == 1 && count > 0 && count == context.op.results.size() &&
                                    *dim >= 0 && *dim < std::ssize(context.type(0).shape),
                                "has a comparison, a dim, and as many results as operands"))
        return false;
    const std::string form = region_form(context.module, context.op.regions.front());
    const std::string whole = fmt::format("compareLT(0,1);return({});", 2 * count);
    bool known = !is_floating(context.type(0).dtype) && form == whole;
    for (const std::string_view nan : {"0x7FC00000", "0x7FC0", "0x7FF8000000000000"})
        known = known || (is_floating(context.type(0).dtype) && form == float_order(count, nan));
    if (!known)
        return context.refuse("a sort by an order of its own",
                              "jnp.sort, argsort and lax.sort with one key, ascending, are known");
    // What counts along the dim is where the elements come from: argsort, and the rest is sorted without it.
    Draft& draft = context.draft;
    const std::string arguments = fmt::format(", dim: {}", *dim);
    std::vector<DraftId> values;
    std::vector<DraftType> types;
    std::vector<size_t> places;
    for (size_t i = 0; i < count; ++i) {
        const std::optional<DraftType> type = context.result_type(i);
        if (!type || !context.expect(*type == context.type(i) && type->shape == context.type(0).shape,
                                     "has values of one shape"))
            return false;
        if (i > 0 && draft.counts_along(context.operand(i), *dim)) {
            const DraftId positions = draft.add("argsort", {context.operand(0)}, arguments, {DType::i32, type->shape});
            context.set(i, draft.cast(positions, type->dtype));
            continue;
        }
        values.push_back(context.operand(i));
        types.push_back(*type);
        places.push_back(i);
    }
    const std::vector<DraftId> sorted = draft.add_many("sort", values, arguments, types);
    for (size_t i = 0; i < places.size(); ++i) context.set(places[i], sorted[i]);
    return true;
}

bool import_top_k(OpContext& context, std::string_view) {
    const std::optional<i64> k = context.integer({"k"});
    if (!k || !context.expect(context.operand_count() == 1 && context.op.results.size() == 2 &&
                                  !context.type(0).shape.empty(),
                              "takes 1 operand and has 2 results"))
        return false;
    const std::optional<DraftType> values = context.result_type(0), positions = context.result_type(1);
    if (!values || !positions) return false;
    const std::vector<DraftId> found = context.draft.add_many("top_k", {context.operand(0)}, fmt::format(", k: {}", *k),
                                                              {*values, {DType::i32, positions->shape}});
    context.set(0, found[0]);
    context.set(1, context.draft.cast(found[1], positions->dtype));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_sorts() { return {{"stablehlo.sort", import_sort}, {"chlo.top_k", import_top_k}}; }

} // namespace shard
