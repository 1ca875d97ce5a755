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

// What is added beyond the ends is dropped there, and comes to the end in the model: it is made zero before.
bool import_scatter(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const MlirAttribute* const list = find_attribute(context.op.items, {"scatter_dimension_numbers"});
    if (!type || !context.expect(context.operand_count() == 3 && list != nullptr && context.type(0) == *type &&
                                     context.type(2).dtype == type->dtype,
                                 "needs an operand of the result's type, indices, updates and dimension numbers"))
        return false;
    if (applied_op(context.op) != "stablehlo.add")
        return context.refuse("stablehlo.scatter that does not add",
                              "only .at[].add and gradients of lookups are known");
    LookupNumbers numbers = {
        numbers_of(*list, "update_window_dims"),           numbers_of(*list, "inserted_window_dims"),
        numbers_of(*list, "input_batching_dims"),          numbers_of(*list, "scatter_indices_batching_dims"),
        numbers_of(*list, "scatter_dims_to_operand_dims"), 0};
    if (const MlirAttribute* const dim = find_attribute(list->items, {"index_vector_dim"}))
        numbers.vector_dim = dim->integer;
    Draft& draft = context.draft;
    const std::optional<LookupForm> form =
        lookup_form(context, numbers, type->shape, context.operand(1), context.type(2).shape);
    if (!form) return false;
    const DraftType indices = draft.type(form->indices);
    const Shape own = found_shape(form->lookup, form->table, indices.shape);
    std::vector<i64> back(form->found.size());
    for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(form->found[i])] = static_cast<i64>(i);
    DraftId updates = transposed(draft, context.operand(2), back);
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
