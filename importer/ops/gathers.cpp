// gather and scatter of whole rows, as embeddings, take_along_axis and their gradients have them.
#include "importer/model/lookup_form.h"
#include "importer/model/region_form.h"

#include <fmt/format.h>

#include <algorithm>

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
    LookupNumbers numbers = {
        numbers_of(*list, "offset_dims"),           numbers_of(*list, "collapsed_slice_dims"),
        numbers_of(*list, "operand_batching_dims"), numbers_of(*list, "start_indices_batching_dims"),
        numbers_of(*list, "start_index_map"),       0};
    if (const MlirAttribute* const dim = find_attribute(list->items, {"index_vector_dim"}))
        numbers.vector_dim = dim->integer;
    for (size_t i = 0; i < table.size(); ++i) {
        const i64 dim = static_cast<i64>(i);
        const bool one = contains(numbers.map, dim) || contains(numbers.batch, dim);
        if ((*sizes)[i] != (one ? 1 : table[i]))
            return context.refuse("stablehlo.gather of windows",
                                  "look up whole rows by indices: x[i], x[i, j], jnp.take, jnp.take_along_axis");
    }
    const std::optional<LookupForm> form = lookup_form(context, numbers, table, context.operand(1), type->shape);
    if (!form) return false;
    Draft& draft = context.draft;
    const Shape own = found_shape(form->lookup, form->table, draft.type(form->indices).shape);
    const DraftId found = draft.add("gather", {form->table_of(draft, context.operand(0)), form->indices},
                                    form->arguments, {type->dtype, own});
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

// A window that does not fit is dropped, where dynamic_update_slice moves it.
bool import_block(OpContext& context, const LookupNumbers& numbers, const DraftType& type) {
    Draft& draft = context.draft;
    Shape window, rest = context.type(2).shape;
    for (size_t dim = 0; dim < type.shape.size(); ++dim) {
        const bool one = contains(numbers.dropped, static_cast<i64>(dim));
        if (!context.expect(one || !rest.empty(), "has a window of the dims that are left")) return false;
        window.push_back(one ? 1 : rest.front());
        if (!one) rest.erase(rest.begin());
    }
    if (!context.expect(rest.empty(), "has a window of the dims that are left")) return false;
    const DraftId indices = context.operand(1), update = draft.reshape(context.operand(2), window);
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
    const DraftId written =
        draft.add("dynamic_update_slice", operands, fmt::format(", dim: {}", list_text(dims)), type);
    context.set(0, inside ? draft.pointwise("select", {*inside, written, context.operand(0)}, type) : written);
    return true;
}

// Of updates that go to one row the last stays, as XLA on CPU does it: each row looks up the update that it is given.
bool set_rows(OpContext& context, const LookupForm& form, DraftId updates, const DraftType& type) {
    if (!form.lookup.batch.empty())
        return context.refuse("stablehlo.scatter that sets, with dims of a batch",
                              "set whole rows: x.at[i].set(rows), x.at[i, j].set(elements)");
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
    // The dims of the updates that are places first, then those of the window.
    const LookupDims dims = lookup_dims(form.lookup, form.table.size(), places.size());
    std::vector<i64> order(dims.indices.begin(), dims.indices.end());
    Shape flat = {count}, found = {rows.shape[0]};
    for (size_t dim = 0; dim < form.table.size(); ++dim) {
        if (dim == axis) continue;
        order.push_back(dims.table[dim]);
        flat.push_back(form.table[dim]);
        found.push_back(form.table[dim]);
    }
    const DraftId listed = draft.reshape(transposed(draft, updates, order), flat);
    const DraftId looked_up =
        draft.add("gather", {listed, draft.pointwise("max", {given, draft.number(number, {})}, rows)}, ", dim: 0",
                  {type.dtype, found});
    std::vector<i64> back; // the table's dims: its axis is the first of what is looked up
    for (size_t dim = 0; dim < form.table.size(); ++dim)
        back.push_back(dim == axis ? 0 : static_cast<i64>(dim < axis ? dim + 1 : dim));
    const DraftId is_given = draft.pointwise("ge", {given, draft.number(number, {})}, {DType::boolean, rows.shape});
    const DraftId set = draft.pointwise("select",
                                        {draft.broadcast(is_given, form.table, {static_cast<i64>(axis)}),
                                         transposed(draft, looked_up, back), form.table_of(draft, context.operand(0))},
                                        {type.dtype, form.table});
    context.set(0, form.whole_of(draft, set, type));
    return true;
}

// What is added beyond the ends is dropped there, and comes to the end in the model: it is made zero before.
bool import_scatter(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const MlirAttribute* const list = find_attribute(context.op.items, {"scatter_dimension_numbers"});
    if (!type || !context.expect(context.operand_count() == 3 && list != nullptr && context.type(0) == *type &&
                                     context.type(2).dtype == type->dtype,
                                 "needs an operand of the result's type, indices, updates and dimension numbers"))
        return false;
    const bool sets =
        context.op.regions.size() == 1 && region_form(context.module, context.op.regions.front()) == "return(1);";
    if (!sets && applied_op(context.op) != "stablehlo.add")
        return context.refuse("stablehlo.scatter that neither adds nor sets",
                              "only .at[].add, .at[].set and gradients of lookups are known");
    LookupNumbers numbers = {
        numbers_of(*list, "update_window_dims"),           numbers_of(*list, "inserted_window_dims"),
        numbers_of(*list, "input_batching_dims"),          numbers_of(*list, "scatter_indices_batching_dims"),
        numbers_of(*list, "scatter_dims_to_operand_dims"), 0};
    if (const MlirAttribute* const dim = find_attribute(list->items, {"index_vector_dim"}))
        numbers.vector_dim = dim->integer;
    Draft& draft = context.draft;
    if (sets && is_block(context, numbers, *type)) return import_block(context, numbers, *type);
    const std::optional<LookupForm> form =
        lookup_form(context, numbers, type->shape, context.operand(1), context.type(2).shape);
    if (!form) return false;
    const DraftType indices = draft.type(form->indices);
    const Shape own = found_shape(form->lookup, form->table, indices.shape);
    std::vector<i64> back(form->found.size());
    for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(form->found[i])] = static_cast<i64>(i);
    DraftId updates = transposed(draft, context.operand(2), back);
    if (sets) return set_rows(context, *form, updates, *type);
    const LookupDims dims = lookup_dims(form->lookup, form->table.size(), indices.shape.size());
    const DraftId mask = draft.broadcast(form->inside, own, std::vector<i64>(dims.indices.begin(), dims.indices.end()));
    updates = draft.pointwise("select", {mask, updates, draft.number({type->dtype, {}}, {})}, {type->dtype, own});

    std::vector<DraftId> operands = {form->indices, updates};
    std::string arguments = form->arguments;
    const std::optional<DraftNumber> begin = draft[context.operand(0)].number;
    if (begin && begin->real == 0 && begin->integer == 0)
        arguments += fmt::format(", size: {}", form->table[static_cast<size_t>(form->lookup.axis)]);
    else
        operands.insert(operands.begin(), form->table_of(draft, context.operand(0)));
    const DraftId sum = draft.add("scatter_add", operands, std::move(arguments), {type->dtype, form->table});
    context.set(0, form->whole_of(draft, sum, *type));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_gathers() {
    return {{"stablehlo.gather", import_gather}, {"stablehlo.scatter", import_scatter}};
}

} // namespace shard
