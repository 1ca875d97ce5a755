// Sorting, and the k largest.
#include "importer/model/op_context.h"
#include "importer/model/region_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace shard {

namespace {

// The comparison that jnp.sort and lax.sort have, of the first `keys` of `types`: -0 is 0, and all NaN are one, the
// largest; where a key is equal the next decides.
std::string order_form(const std::vector<DType>& types, size_t keys) {
    static const std::map<DType, std::string_view> nan = {{DType::f32, "0x7FC00000"},
                                                          {DType::bf16, "0x7FC0"},
                                                          {DType::f16, "0x7E00"},
                                                          {DType::f64, "0x7FF8000000000000"}};
    size_t next = 2 * types.size();
    std::string form;
    const auto canonical = [&](size_t side, DType dtype) {
        const auto word = nan.find(dtype);
        form += fmt::format("constant0.000000e+00();compareEQ({0},{1});constant0.000000e+00();select({2},{3},{0});"
                            "compareNE({0},{0});constant{4}();select({5},{6},{7});",
                            side, next, next + 1, next + 2, word == nan.end() ? "" : word->second, next + 4, next + 5,
                            next + 3);
        return (next += 7) - 1;
    };
    std::vector<std::pair<size_t, size_t>> sides;
    for (size_t key = 0; key < keys; ++key) {
        size_t left = 2 * key, right = 2 * key + 1;
        if (is_floating(types[key])) left = canonical(left, types[key]), right = canonical(right, types[key]);
        sides.emplace_back(left, right);
    }
    size_t decided = 0;
    for (size_t key = keys; key-- > 0;) {
        const std::string_view order = is_floating(types[key]) ? "TOTALORDER" : "";
        const auto [left, right] = sides[key];
        form += fmt::format("compareLT{}({},{});", order, left, right);
        const size_t less = next++;
        if (key + 1 == keys) {
            decided = less;
            continue;
        }
        form +=
            fmt::format("compareEQ{}({},{});and({},{});or({},{});", order, left, right, next, decided, less, next + 1);
        next += 3;
        decided = next - 1;
    }
    return form + fmt::format("return({});", decided);
}

bool import_sort(OpContext& context, std::string_view) {
    const size_t count = context.operand_count();
    const std::optional<i64> dim = context.integer({"dimension"});
    if (!dim || !context.expect(context.op.regions.size() == 1 && count > 0 && count == context.op.results.size() &&
                                    *dim >= 0 && *dim < std::ssize(context.type(0).shape),
                                "has a comparison, a dim, and as many results as operands"))
        return false;
    const std::string form = region_form(context.module, context.op.regions.front());
    std::vector<DType> element_types;
    for (size_t i = 0; i < count; ++i) element_types.push_back(context.type(i).dtype);
    size_t keys = 1;
    while (keys <= count && form != order_form(element_types, keys)) ++keys;
    if (keys > count)
        return context.refuse("a sort by an order of its own",
                              "jnp.sort, argsort, lexsort and lax.sort, ascending, are known");
    // What counts along the dim is where the elements come from: argsort, and the rest is sorted without it.
    Draft& draft = context.draft;
    const std::string arguments = fmt::format(", dim: {}", *dim) + (keys > 1 ? fmt::format(", keys: {}", keys) : "");
    std::vector<DraftId> values;
    std::vector<DraftType> types;
    std::vector<size_t> places;
    for (size_t i = 0; i < count; ++i) {
        const std::optional<DraftType> type = context.result_type(i);
        if (!type || !context.expect(*type == context.type(i) && type->shape == context.type(0).shape,
                                     "has values of one shape"))
            return false;
        if (keys == 1 && i > 0 && draft.counts_along(context.operand(i), *dim)) {
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
