// scatter: .at[].set, .add, .multiply, .max and .min, windows that are written, and gradients of lookups.
#include "importer/model/known_places.h"
#include "importer/model/region_form.h"
#include "importer/model/scattered.h"
#include "importer/model/simplified.h"
#include "importer/model/transposed.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace shard {

namespace {

// One window at one place: x.at[2].set(row), x.at[i:i + 3].set(rows).
bool is_block(OpContext& context, const LookupNumbers& numbers, const DraftType& type) {
    const Shape &index = context.type(1).shape, &update = context.type(2).shape;
    return numbers.vector_dim == 0 && index.size() == 1 && index[0] == std::ssize(numbers.map) &&
           numbers.batch.empty() && is_integer(context.type(1).dtype) && numbers.window.size() == update.size() &&
           update.size() + numbers.dropped.size() == type.shape.size();
}

std::optional<Combining> combining_of(const OpContext& context) {
    static const std::map<std::string, Combining> known = {{"stablehlo.add", {"add", "scatter_add"}},
                                                           {"stablehlo.maximum", {"max", "scatter_max"}},
                                                           {"stablehlo.minimum", {"min", "scatter_min"}},
                                                           {"stablehlo.multiply", {"mul", {}}}};
    if (context.op.regions.size() != 1) return std::nullopt;
    if (region_form(context.module, context.op.regions.front()) == "return(1);") return Combining{};
    const std::map<std::string, Combining>::const_iterator it = known.find(applied_op(context.op));
    return it == known.end() ? std::nullopt : std::optional(it->second);
}

// A window that does not fit is dropped, where dynamic_update_slice moves it.
bool import_block(OpContext& context, const LookupNumbers& numbers, const Combining& combining, const DraftType& type) {
    Draft& draft = context.draft;
    Shape window, rest = context.type(2).shape;
    for (size_t dim = 0; dim < type.shape.size(); ++dim) {
        const bool one = holds_dim(numbers.dropped, static_cast<i64>(dim));
        if (!context.expect(one || !rest.empty(), "has a window of the dims that are left")) return false;
        window.push_back(one ? 1 : rest.front());
        if (!one) rest.erase(rest.begin());
    }
    if (!context.expect(rest.empty(), "has a window of the dims that are left")) return false;
    const DraftId indices = context.operand(1);
    const DraftId update = draft.reshape(context.operand(2), window);
    const DraftType number{draft.type(indices).dtype, {}}, truth{DType::boolean, {}};
    std::vector<DraftId> operands = {context.operand(0), update};
    std::optional<DraftId> inside;
    std::vector<std::pair<i64, DraftId>> starts; // by dim
    for (size_t i = 0; i < numbers.map.size(); ++i) {
        const i64 dim = numbers.map[i];
        if (!context.expect(dim >= 0 && dim < std::ssize(type.shape), "names dims of its operand")) return false;
        const DraftId start = place_along(draft, indices, 0, static_cast<i64>(i));
        const i64 last = type.shape[static_cast<size_t>(dim)] - window[static_cast<size_t>(dim)];
        starts.emplace_back(dim, start);
        if (const std::optional<DraftNumber>& known = draft[start].number;
            known && known->integer >= 0 && known->integer <= last)
            continue;
        const DraftId here = simplified(draft, "and",
                                        {simplified(draft, "ge", {start, draft.number(number, {0, 0})}, truth),
                                         simplified(draft, "le", {start, draft.number(number, {0, last})}, truth)},
                                        truth);
        inside = inside ? simplified(draft, "and", {*inside, here}, truth) : here;
    }
    std::sort(starts.begin(), starts.end());
    std::vector<i64> dims;
    for (const auto& [dim, start] : starts) {
        if (!context.expect(dims.empty() || dims.back() != dim, "names each dim once")) return false;
        dims.push_back(dim);
        operands.push_back(start);
    }
    for (size_t dim = 0; dim < window.size(); ++dim)
        if (!context.expect(window[dim] == type.shape[dim] ||
                                (holds_dim(dims, static_cast<i64>(dim)) && window[dim] < type.shape[dim]),
                            "has a window that fits its operand"))
            return false;
    if (starts.empty()) { // x.at[:, :].set(rows)
        context.set(0, combining.op.empty()
                           ? update
                           : draft.pointwise(std::string(combining.op), {context.operand(0), update}, type));
        return true;
    }
    if (!combining.op.empty()) {
        std::vector<DraftId> there = operands;
        there.erase(there.begin() + 1);
        std::vector<i64> sizes;
        for (const i64 dim : dims) sizes.push_back(window[static_cast<size_t>(dim)]);
        const DraftId old =
            draft.add("dynamic_slice", there, fmt::format(", dim: {}, size: {}", list_text(dims), list_text(sizes)),
                      {type.dtype, window});
        operands[1] = draft.pointwise(std::string(combining.op), {old, update}, {type.dtype, window});
    }
    const DraftId written =
        draft.add("dynamic_update_slice", operands, fmt::format(", dim: {}", list_text(dims)), type);
    context.set(0, inside ? simplified(draft, "select", {*inside, written, context.operand(0)}, type) : written);
    return true;
}

// What changes nothing of what an update meets: 0 of a sum, the least number of a maximum.
DraftNumber neutral(std::string_view op, DType dtype) {
    if (op == "add") return {};
    const bool is_max = op == "max";
    const double infinity = std::numeric_limits<double>::infinity();
    if (is_floating(dtype)) return {is_max ? -infinity : infinity, 0};
    const std::uint64_t highest = std::min<std::uint64_t>(info(dtype).highest, INT64_MAX);
    return {0, is_max ? info(dtype).lowest : static_cast<i64>(highest)};
}

// What is sent beyond the ends is dropped there, and comes to the end in the model: it is made zero before, or what else
// changes nothing.
bool import_scatter(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const MlirAttribute* const list = find_attribute(context.op.items, {"scatter_dimension_numbers"});
    if (!type || !context.expect(context.operand_count() == 3 && list != nullptr && context.type(0) == *type &&
                                     context.type(2).dtype == type->dtype,
                                 "needs an operand of the result's type, indices, updates and dimension numbers"))
        return false;
    if (element_count(context.type(2).shape) == 0) { // writes nothing
        context.set(0, context.operand(0));
        return true;
    }
    const std::optional<Combining> combining = combining_of(context);
    if (!combining)
        return context.refuse("stablehlo.scatter with a function of its own",
                              "known are .at[].set, .add, .multiply, .max, .min and gradients of lookups");
    LookupNumbers numbers = {dims_listed(*list, "update_window_dims"),
                             dims_listed(*list, "inserted_window_dims"),
                             dims_listed(*list, "input_batching_dims"),
                             dims_listed(*list, "scatter_indices_batching_dims"),
                             dims_listed(*list, "scatter_dims_to_operand_dims"),
                             0,
                             {}};
    if (const MlirAttribute* const dim = find_attribute(list->items, {"index_vector_dim"}))
        numbers.vector_dim = dim->integer;
    const Shape& update_shape = context.type(2).shape;
    bool is_partial = false; // a window that is neither a whole dim nor one row of it
    for (i64 dim = 0, next = 0; dim < std::ssize(type->shape); ++dim) {
        const bool one = holds_dim(numbers.dropped, dim) || holds_dim(numbers.batch, dim);
        if (!context.expect(one || (next < std::ssize(numbers.window) &&
                                    numbers.window[static_cast<size_t>(next)] < std::ssize(update_shape) &&
                                    numbers.window[static_cast<size_t>(next)] >= 0),
                            "has a window of the dims that are left"))
            return false;
        numbers.sizes.push_back(one ? 1
                                    : update_shape[static_cast<size_t>(numbers.window[static_cast<size_t>(next++)])]);
        is_partial = is_partial || (!one && numbers.sizes.back() != type->shape[static_cast<size_t>(dim)]);
    }
    Draft& draft = context.draft;
    const bool sets = combining->op.empty();
    if ((combining->op != "add" || is_partial || numbers.map.empty()) && is_block(context, numbers, *type))
        return import_block(context, numbers, *combining, *type);
    std::optional<LookupStarts> starts = lookup_starts(context, numbers, type->shape, context.operand(1));
    if (!starts) return false;
    const KnownPlaces places(*starts, draft, type->shape, false);
    if (places.is_outside()) {
        context.set(0, context.operand(0));
        return true;
    }
    const DraftId table = places.part_of(draft, context.operand(0));
    const DraftType part{type->dtype, places.left()};
    const auto set = [&](DraftId result) {
        context.set(0, places.with_part(draft, context.operand(0), result));
        return true;
    };
    if (combining->scatter.empty() && is_one_window(*starts))
        if (const DraftId result = with_window(draft, *starts, *combining, table, part.shape, context.operand(2));
            result >= 0)
            return set(result);
    const std::optional<LookupForm> form = lookup_form(context, *starts, part.shape, update_shape, LookupUse::scatter);
    if (!form) return false;
    const Shape own = found_shape(form->lookup, form->table, draft.type(form->indices).shape);
    std::vector<i64> back(form->found.size());
    for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(form->found[i])] = static_cast<i64>(i);
    DraftId updates = transposed(draft, context.operand(2), back);
    if (combining->scatter.empty()) {
        const DraftId result =
            sets ? with_rows(draft, *form, table, updates) : times_rows(draft, *form, table, updates);
        return set(form->whole_of(draft, result, part));
    }
    const LookupDims dims = lookup_dims(form->lookup, form->table.size(), draft.type(form->indices).shape.size());
    const DraftId mask = draft.broadcast(form->inside, own, std::vector<i64>(dims.indices.begin(), dims.indices.end()));
    updates = simplified(draft, "select",
                         {mask, updates, draft.number({type->dtype, {}}, neutral(combining->op, type->dtype))},
                         {type->dtype, own});

    std::vector<DraftId> operands = {form->indices, updates};
    std::string arguments = form->arguments;
    const std::optional<DraftNumber> begin = draft[table].number;
    if (combining->op == "add" && begin && begin->real == 0 && begin->integer == 0)
        arguments += fmt::format(", size: {}", form->table[static_cast<size_t>(form->lookup.axis)]);
    else
        operands.insert(operands.begin(), form->table_of(draft, table));
    const DraftId sum =
        draft.add(std::string(combining->scatter), operands, std::move(arguments), {type->dtype, form->table});
    return set(form->whole_of(draft, sum, part));
}

} // namespace

std::vector<ImportRow> import_rows_scatters() { return {{"stablehlo.scatter", import_scatter}}; }

} // namespace shard
