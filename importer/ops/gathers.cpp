// gather and scatter: embeddings, take_along_axis, .at[].set and .at[].add, windows at places, and their gradients.
#include "importer/model/lookup_form.h"
#include "importer/model/region_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace shard {

namespace {

std::vector<i64> numbers_of(const MlirAttribute& list, std::string_view key) {
    const MlirAttribute* const numbers = find_attribute(list.items, {key});
    return numbers == nullptr ? std::vector<i64>() : integers_of(*numbers).value_or(std::vector<i64>());
}

bool contains(const std::vector<i64>& dims, i64 dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

bool import_gather(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const MlirAttribute* const list = find_attribute(context.op.items, {"dimension_numbers"});
    if (!type || !context.expect(context.operand_count() == 2 && list != nullptr, "needs its dimension_numbers"))
        return false;
    const Shape table = context.type(0).shape;
    const std::optional<std::vector<i64>> sizes = context.integers({"slice_sizes"}, table.size());
    if (!sizes) return false;
    LookupNumbers numbers = {numbers_of(*list, "offset_dims"),
                             numbers_of(*list, "collapsed_slice_dims"),
                             numbers_of(*list, "operand_batching_dims"),
                             numbers_of(*list, "start_indices_batching_dims"),
                             numbers_of(*list, "start_index_map"),
                             0,
                             *sizes};
    if (const MlirAttribute* const dim = find_attribute(list->items, {"index_vector_dim"}))
        numbers.vector_dim = dim->integer;
    for (size_t i = 0; i < table.size(); ++i) {
        const i64 dim = static_cast<i64>(i);
        const bool one = contains(numbers.dropped, dim) || contains(numbers.batch, dim);
        if (!context.expect(!one || (*sizes)[i] == 1, "takes one place of dims that are left out")) return false;
    }
    const std::optional<LookupForm> form =
        lookup_form(context, numbers, table, context.operand(1), type->shape, LookupUse::gather);
    if (!form) return false;
    Draft& draft = context.draft;
    const Shape own = found_shape(form->lookup, form->table, draft.type(form->indices).shape);
    const DraftId from = form->table_of(draft, context.operand(0));
    DraftId found = -1;
    if (const std::optional<DraftNumber>& place = draft[form->indices].number;
        place && draft.type(form->indices).shape.empty() && form->lookup.batch.empty()) {
        // One place that is known, as jnp.take(x, 0, axis) asks for it.
        Shape one = form->table;
        i64& size = one[static_cast<size_t>(form->lookup.axis)];
        const i64 start = std::clamp<i64>(place->integer, 0, size - 1);
        const bool is_all = size == 1;
        size = 1;
        found =
            is_all
                ? from
                : draft.add("slice", {from},
                            fmt::format(", dim: [{}], start: [{}], limit: [{}]", form->lookup.axis, start, start + 1),
                            {type->dtype, one});
        found = draft.reshape(found, own);
    } else {
        found = draft.add("gather", {from, form->indices}, form->arguments, {type->dtype, own});
    }
    context.set(0, transposed(draft, found, form->found));
    return true;
}

// One window at one place: x.at[2].set(row), x.at[i:i + 3].set(rows).
bool is_block(OpContext& context, const LookupNumbers& numbers, const DraftType& type) {
    const Shape &index = context.type(1).shape, &update = context.type(2).shape;
    return numbers.vector_dim == 0 && index.size() == 1 && index[0] == std::ssize(numbers.map) &&
           numbers.batch.empty() && is_integer(context.type(1).dtype) && numbers.window.size() == update.size() &&
           update.size() + numbers.dropped.size() == type.shape.size();
}

// What a scatter makes of what is there and of an update: the model's op, or "" if the update alone stays.
struct Combining {
    std::string_view op;      // "add"
    std::string_view scatter; // "scatter_add", or "" if models have none
};

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
        const bool one = contains(numbers.dropped, static_cast<i64>(dim));
        if (!context.expect(one || !rest.empty(), "has a window of the dims that are left")) return false;
        window.push_back(one ? 1 : rest.front());
        if (!one) rest.erase(rest.begin());
    }
    if (!context.expect(rest.empty(), "has a window of the dims that are left")) return false;
    const DraftId indices = context.operand(1);
    DraftId update = draft.reshape(context.operand(2), window);
    const DraftType number{draft.type(indices).dtype, {}}, truth{DType::boolean, {}};
    std::vector<DraftId> operands = {context.operand(0), update};
    std::optional<DraftId> inside;
    std::vector<std::pair<i64, DraftId>> starts; // by dim
    for (size_t i = 0; i < numbers.map.size(); ++i) {
        const i64 dim = numbers.map[i];
        if (!context.expect(dim >= 0 && dim < std::ssize(type.shape), "names dims of its operand")) return false;
        DraftId start = indices;
        if (numbers.map.size() > 1)
            start = draft.add("slice", {indices}, fmt::format(", dim: [0], start: [{}], limit: [{}]", i, i + 1),
                              {number.dtype, {1}});
        start = draft.reshape(start, {});
        const i64 last = type.shape[static_cast<size_t>(dim)] - window[static_cast<size_t>(dim)];
        starts.emplace_back(dim, start);
        if (const std::optional<DraftNumber>& known = draft[start].number;
            known && known->integer >= 0 && known->integer <= last)
            continue;
        const DraftId here = draft.pointwise("and",
                                             {draft.pointwise("ge", {start, draft.number(number, {0, 0})}, truth),
                                              draft.pointwise("le", {start, draft.number(number, {0, last})}, truth)},
                                             truth);
        inside = inside ? draft.pointwise("and", {*inside, here}, truth) : here;
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
                                (contains(dims, static_cast<i64>(dim)) && window[dim] < type.shape[dim]),
                            "has a window that fits its operand"))
            return false;
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
    context.set(0, inside ? draft.pointwise("select", {*inside, written, context.operand(0)}, type) : written);
    return true;
}

// The dims of the updates that are places first, as one, then those of the window.
DraftId listed_updates(Draft& draft, const LookupForm& form, DraftId updates) {
    const Shape places = draft.type(form.indices).shape;
    const LookupDims dims = lookup_dims(form.lookup, form.table.size(), places.size());
    std::vector<i64> order(dims.indices.begin(), dims.indices.end());
    Shape flat = {element_count(places)};
    for (size_t dim = 0; dim < form.table.size(); ++dim) {
        if (dim == static_cast<size_t>(form.lookup.axis)) continue;
        order.push_back(dims.table[dim]);
        flat.push_back(form.table[dim]);
    }
    return draft.reshape(transposed(draft, updates, order), flat);
}

// Of what has the rows first, the table's order of dims.
DraftId rows_in_table(Draft& draft, const LookupForm& form, DraftId rows) {
    const size_t axis = static_cast<size_t>(form.lookup.axis);
    std::vector<i64> back;
    for (size_t dim = 0; dim < form.table.size(); ++dim)
        back.push_back(dim == axis ? 0 : static_cast<i64>(dim < axis ? dim + 1 : dim));
    return transposed(draft, rows, back);
}

// Of updates that go to one row the last stays, as XLA on CPU does it: each row looks up the update that it is given.
void set_rows(OpContext& context, const LookupForm& form, DraftId updates, const DraftType& type) {
    Draft& draft = context.draft;
    const Shape places = draft.type(form.indices).shape;
    const i64 count = element_count(places);
    const size_t axis = static_cast<size_t>(form.lookup.axis);
    const DraftType rows{DType::i32, {form.table[axis]}}, number{DType::i32, {}};
    // Which update each row is given: the largest number of those that are sent there.
    const DraftId counted = draft.literal("iota", list_text({count}), {}, {}, {DType::i32, {count}});
    const DraftId numbered = draft.pointwise(
        "select", {form.inside, draft.reshape(counted, places), draft.number(number, {0, -1})}, {DType::i32, places});
    const DraftId given =
        draft.add("scatter_max", {form.indices, numbered}, fmt::format(", dim: 0, size: {}", rows.shape[0]), rows);
    Shape found = form.table;
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(axis));
    found.insert(found.begin(), rows.shape[0]);
    const DraftId looked_up = draft.add(
        "gather",
        {listed_updates(draft, form, updates), draft.pointwise("max", {given, draft.number(number, {})}, rows)},
        ", dim: 0", {type.dtype, found});
    const DraftId is_given = draft.pointwise("ge", {given, draft.number(number, {})}, {DType::boolean, rows.shape});
    const DraftId set =
        draft.pointwise("select",
                        {draft.broadcast(is_given, form.table, {static_cast<i64>(axis)}),
                         rows_in_table(draft, form, looked_up), form.table_of(draft, context.operand(0))},
                        {type.dtype, form.table});
    context.set(0, form.whole_of(draft, set, type));
}

// Each row times all updates that are sent there: the product over them of those that are its own, and of 1.
void multiply_rows(OpContext& context, const LookupForm& form, DraftId updates, const DraftType& type) {
    Draft& draft = context.draft;
    const i64 count = element_count(draft.type(form.indices).shape);
    const DraftId listed = listed_updates(draft, form, updates);
    Shape all = draft.type(listed).shape, found = all;
    found[0] = form.table[static_cast<size_t>(form.lookup.axis)];
    all.insert(all.begin(), found[0]);
    const DType dtype = draft.type(form.indices).dtype;
    const std::string counted_as = dtype == DType::i32 ? "" : fmt::format(", dtype: {}", name(dtype));
    const DraftId rows = draft.literal("iota", list_text({found[0]}), {}, counted_as, {dtype, {found[0]}});
    const DType truth = DType::boolean;
    const Shape pairs = {found[0], count};
    const DraftId own =
        draft.pointwise("and",
                        {draft.pointwise("eq",
                                         {draft.broadcast(rows, pairs, {0}),
                                          draft.broadcast(draft.reshape(form.indices, {count}), pairs, {1})},
                                         {truth, pairs}),
                         draft.broadcast(draft.reshape(form.inside, {count}), pairs, {1})},
                        {truth, pairs});
    std::vector<i64> behind;
    for (size_t dim = 1; dim < all.size(); ++dim) behind.push_back(static_cast<i64>(dim));
    const DraftId factors = draft.pointwise("select",
                                            {draft.broadcast(own, all, {0, 1}), draft.broadcast(listed, all, behind),
                                             draft.number({type.dtype, {}}, {1, 1})},
                                            {type.dtype, all});
    const DraftId product = draft.add("reduce_prod", {factors}, ", dims: [1]", {type.dtype, found});
    const DraftId whole =
        draft.pointwise("mul", {form.table_of(draft, context.operand(0)), rows_in_table(draft, form, product)},
                        {type.dtype, form.table});
    context.set(0, form.whole_of(draft, whole, type));
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
    const std::optional<Combining> combining = combining_of(context);
    if (!combining)
        return context.refuse("stablehlo.scatter with a function of its own",
                              "known are .at[].set, .add, .multiply, .max, .min and gradients of lookups");
    LookupNumbers numbers = {numbers_of(*list, "update_window_dims"),
                             numbers_of(*list, "inserted_window_dims"),
                             numbers_of(*list, "input_batching_dims"),
                             numbers_of(*list, "scatter_indices_batching_dims"),
                             numbers_of(*list, "scatter_dims_to_operand_dims"),
                             0,
                             {}};
    if (const MlirAttribute* const dim = find_attribute(list->items, {"index_vector_dim"}))
        numbers.vector_dim = dim->integer;
    const Shape& update_shape = context.type(2).shape;
    bool is_partial = false; // a window that is neither a whole dim nor one row of it
    for (i64 dim = 0, next = 0; dim < std::ssize(type->shape); ++dim) {
        const bool one = contains(numbers.dropped, dim) || contains(numbers.batch, dim);
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
    if ((combining->op != "add" || is_partial) && is_block(context, numbers, *type))
        return import_block(context, numbers, *combining, *type);
    const std::optional<LookupForm> form =
        lookup_form(context, numbers, type->shape, context.operand(1), update_shape,
                    combining->scatter.empty() ? LookupUse::scatter_no_batch : LookupUse::scatter);
    if (!form) return false;
    const DraftType indices = draft.type(form->indices);
    const Shape own = found_shape(form->lookup, form->table, indices.shape);
    std::vector<i64> back(form->found.size());
    for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(form->found[i])] = static_cast<i64>(i);
    DraftId updates = transposed(draft, context.operand(2), back);
    if (combining->scatter.empty()) {
        if (sets)
            set_rows(context, *form, updates, *type);
        else
            multiply_rows(context, *form, updates, *type);
        return true;
    }
    const LookupDims dims = lookup_dims(form->lookup, form->table.size(), indices.shape.size());
    const DraftId mask = draft.broadcast(form->inside, own, std::vector<i64>(dims.indices.begin(), dims.indices.end()));
    updates =
        draft.pointwise("select", {mask, updates, draft.number({type->dtype, {}}, neutral(combining->op, type->dtype))},
                        {type->dtype, own});

    std::vector<DraftId> operands = {form->indices, updates};
    std::string arguments = form->arguments;
    const std::optional<DraftNumber> begin = draft[context.operand(0)].number;
    if (combining->op == "add" && begin && begin->real == 0 && begin->integer == 0)
        arguments += fmt::format(", size: {}", form->table[static_cast<size_t>(form->lookup.axis)]);
    else
        operands.insert(operands.begin(), form->table_of(draft, context.operand(0)));
    const DraftId sum =
        draft.add(std::string(combining->scatter), operands, std::move(arguments), {type->dtype, form->table});
    context.set(0, form->whole_of(draft, sum, *type));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_gathers() {
    return {{"stablehlo.gather", import_gather}, {"stablehlo.scatter", import_scatter}};
}

} // namespace shard
