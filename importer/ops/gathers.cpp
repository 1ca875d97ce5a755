// gather and scatter along one dim, as embeddings, take_along_axis and their gradients have them.
#include "importer/model/op_context.h"
#include "importer/model/region_form.h"
#include "plans/kernel/lookup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

// A lookup as the model has it, and how StableHLO orders the dims of what is found.
struct LookupForm {
    Lookup lookup;
    DraftId indices = -1;   // without the dim along which an index has its coordinates
    std::vector<i64> found; // of each dim of StableHLO's order, the dim of the model's
    std::string arguments;  // ", dim: 0, batch: [[0, 0]]"
};

std::vector<i64> numbers_of(const MlirAttribute& list, std::string_view key) {
    const MlirAttribute* const numbers = find_attribute(list.items, {key});
    return numbers == nullptr ? std::vector<i64>() : integers_of(*numbers).value_or(std::vector<i64>());
}

bool contains(const std::vector<i64>& dims, i64 dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

struct Numbers {
    std::vector<i64> window; // dims of what is found that come from the table
    std::vector<i64> dropped, batch, index_batch, map;
    i64 vector_dim = 0;
};

std::optional<LookupForm> lookup_form(OpContext& context, const Numbers& numbers, const Shape& table, DraftId indices,
                                      const Shape& found) {
    const auto refuse = [&]() -> std::optional<LookupForm> {
        context.refuse(fmt::format("{} along more than one dim, or of windows", context.op.name),
                       "look up whole rows by one index: x[i], jnp.take, jnp.take_along_axis");
        return std::nullopt;
    };
    Shape index_shape = context.draft.type(indices).shape;
    const i64 rank = static_cast<i64>(index_shape.size());
    if (numbers.map.size() != 1 || numbers.dropped != numbers.map || numbers.vector_dim < 0 ||
        numbers.vector_dim > rank || numbers.batch.size() != numbers.index_batch.size() ||
        !is_integer(context.draft.type(indices).dtype))
        return refuse();
    if (numbers.vector_dim < rank) {
        if (index_shape[static_cast<size_t>(numbers.vector_dim)] != 1) return refuse();
        index_shape.erase(index_shape.begin() + numbers.vector_dim);
    }
    LookupForm form;
    form.lookup.axis = static_cast<int>(numbers.map[0]);
    std::vector<std::string> pairs;
    for (size_t i = 0; i < numbers.batch.size(); ++i) {
        const i64 dim = numbers.index_batch[i] - (numbers.index_batch[i] > numbers.vector_dim ? 1 : 0);
        if (dim < 0 || dim > rank || numbers.batch[i] < 0 || numbers.batch[i] > std::ssize(table)) return refuse();
        form.lookup.batch.emplace_back(static_cast<int>(numbers.batch[i]), static_cast<int>(dim));
        pairs.push_back(fmt::format("[{}, {}]", numbers.batch[i], dim));
    }
    if (!lookup_problem(form.lookup, table, index_shape).empty()) return refuse();
    const LookupDims dims = lookup_dims(form.lookup, table.size(), index_shape.size());
    // StableHLO: the window's dims are those of the table that are left, the others those of the indices.
    size_t next_table = 0, next_index = 0;
    for (i64 r = 0; r < std::ssize(found); ++r) {
        if (contains(numbers.window, r)) {
            while (next_table < table.size() && (static_cast<i64>(next_table) == numbers.map[0] ||
                                                 contains(numbers.batch, static_cast<i64>(next_table))))
                ++next_table;
            if (next_table == table.size()) return refuse();
            form.found.push_back(dims.table[next_table++]);
        } else {
            if (next_index == index_shape.size()) return refuse();
            form.found.push_back(dims.indices[next_index++]);
        }
    }
    const Shape own = found_shape(form.lookup, table, index_shape);
    if (own.size() != found.size()) return refuse();
    for (size_t r = 0; r < found.size(); ++r)
        if (own[static_cast<size_t>(form.found[r])] != found[r]) return refuse();
    form.indices = context.draft.reshape(indices, index_shape);
    form.arguments = fmt::format(", dim: {}", form.lookup.axis);
    if (!pairs.empty()) form.arguments += fmt::format(", batch: [{}]", fmt::join(pairs, ", "));
    return form;
}

DraftId transposed(Draft& draft, DraftId value, const std::vector<i64>& order, const Shape& shape) {
    if (std::is_sorted(order.begin(), order.end())) return value;
    return draft.add("transpose", {value}, fmt::format(", permutation: {}", list_text(order)),
                     {draft.type(value).dtype, shape});
}

bool import_gather(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const MlirAttribute* const list = find_attribute(context.op.items, {"dimension_numbers"});
    if (!type || !context.expect(context.operand_count() == 2 && list != nullptr, "needs its dimension_numbers"))
        return false;
    const Shape table = context.type(0).shape;
    const std::optional<std::vector<i64>> sizes = context.integers({"slice_sizes"}, table.size());
    if (!sizes) return false;
    Numbers numbers = {numbers_of(*list, "offset_dims"),           numbers_of(*list, "collapsed_slice_dims"),
                       numbers_of(*list, "operand_batching_dims"), numbers_of(*list, "start_indices_batching_dims"),
                       numbers_of(*list, "start_index_map"),       0};
    if (const MlirAttribute* const dim = find_attribute(list->items, {"index_vector_dim"}))
        numbers.vector_dim = dim->integer;
    for (size_t i = 0; i < table.size(); ++i) {
        const i64 dim = static_cast<i64>(i);
        const bool one = contains(numbers.map, dim) || contains(numbers.batch, dim);
        if ((*sizes)[i] != (one ? 1 : table[i]))
            return context.refuse("stablehlo.gather of windows",
                                  "look up whole rows by one index: x[i], jnp.take, jnp.take_along_axis");
    }
    const std::optional<LookupForm> form = lookup_form(context, numbers, table, context.operand(1), type->shape);
    if (!form) return false;
    const Shape own = found_shape(form->lookup, table, context.draft.type(form->indices).shape);
    const DraftId found =
        context.draft.add("gather", {context.operand(0), form->indices}, form->arguments, {type->dtype, own});
    context.set(0, transposed(context.draft, found, form->found, type->shape));
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
    Numbers numbers = {
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
    const Shape own = found_shape(form->lookup, type->shape, indices.shape);
    std::vector<i64> back(form->found.size());
    for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(form->found[i])] = static_cast<i64>(i);
    DraftId updates = transposed(draft, context.operand(2), back, own);

    const i64 size = type->shape[static_cast<size_t>(form->lookup.axis)];
    const DraftType truth{DType::boolean, indices.shape};
    const DraftId least = draft.number({indices.dtype, {}}, {0, 0}), end = draft.number({indices.dtype, {}}, {0, size});
    const DraftId inside = draft.pointwise(
        "and",
        {draft.pointwise("ge", {form->indices, least}, truth), draft.pointwise("lt", {form->indices, end}, truth)},
        truth);
    const LookupDims dims = lookup_dims(form->lookup, type->shape.size(), indices.shape.size());
    const DraftId mask = draft.broadcast(inside, own, std::vector<i64>(dims.indices.begin(), dims.indices.end()));
    updates = draft.pointwise("select", {mask, updates, draft.number({type->dtype, {}}, {})}, {type->dtype, own});

    std::vector<DraftId> operands = {form->indices, updates};
    std::string arguments = form->arguments;
    const std::optional<DraftNumber> begin = draft[context.operand(0)].number;
    if (begin && begin->real == 0 && begin->integer == 0)
        arguments += fmt::format(", size: {}", size);
    else
        operands.insert(operands.begin(), context.operand(0));
    context.set(0, draft.add("scatter_add", operands, std::move(arguments), *type));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_gathers() {
    return {{"stablehlo.gather", import_gather}, {"stablehlo.scatter", import_scatter}};
}

} // namespace shard
