// gather: embeddings, take_along_axis, windows at places.
#include "importer/model/known_places.h"
#include "importer/model/slice_at.h"
#include "importer/model/transposed.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// One window of several places that are next to each other, as vmap makes of dynamic_slice where all begin at one place.
bool is_one_window(const LookupStarts& starts, const Shape& table) {
    return starts.shape.empty() && starts.batch.empty() &&
           std::any_of(starts.dims.begin(), starts.dims.end(), [&](i64 dim) {
               const size_t d = static_cast<size_t>(dim);
               return starts.sizes[d] > 1 && starts.sizes[d] < table[d];
           });
}

DraftId window_at(Draft& draft, const LookupStarts& starts, DraftId value, const Shape& shape) {
    std::vector<DraftId> begins(starts.sizes.size(), draft.number({starts.dtype, {}}, {}));
    for (size_t i = 0; i < starts.dims.size(); ++i) begins[static_cast<size_t>(starts.dims[i])] = starts.coordinates[i];
    return draft.reshape(slice_at(draft, value, starts.sizes, begins), shape);
}

bool import_gather(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const MlirAttribute* const list = find_attribute(context.op.items, {"dimension_numbers"});
    if (!type || !context.expect(context.operand_count() == 2 && list != nullptr, "needs its dimension_numbers"))
        return false;
    const Shape table = context.type(0).shape;
    const std::optional<std::vector<i64>> sizes = context.integers({"slice_sizes"}, table.size());
    if (!sizes) return false;
    LookupNumbers numbers = {dims_listed(*list, "offset_dims"),
                             dims_listed(*list, "collapsed_slice_dims"),
                             dims_listed(*list, "operand_batching_dims"),
                             dims_listed(*list, "start_indices_batching_dims"),
                             dims_listed(*list, "start_index_map"),
                             0,
                             *sizes};
    if (const MlirAttribute* const dim = find_attribute(list->items, {"index_vector_dim"}))
        numbers.vector_dim = dim->integer;
    for (size_t i = 0; i < table.size(); ++i) {
        const i64 dim = static_cast<i64>(i);
        const bool one = holds_dim(numbers.dropped, dim) || holds_dim(numbers.batch, dim);
        if (!context.expect(!one || (*sizes)[i] == 1, "takes one place of dims that are left out")) return false;
    }
    std::optional<LookupStarts> starts = lookup_starts(context, numbers, table, context.operand(1));
    if (!starts) return false;
    Draft& draft = context.draft;
    if (is_one_window(*starts, table)) {
        Shape own;
        for (size_t i = 0; i < table.size(); ++i)
            if (!holds_dim(starts->dropped, static_cast<i64>(i))) own.push_back((*sizes)[i]);
        if (!context.expect(own == type->shape, "has a result of its window")) return false;
        context.set(0, window_at(draft, *starts, context.operand(0), type->shape));
        return true;
    }
    const KnownPlaces known(*starts, draft, table, true);
    const std::optional<LookupForm> form = lookup_form(context, *starts, known.left(), type->shape, LookupUse::gather);
    if (!form) return false;
    const Shape own = found_shape(form->lookup, form->table, draft.type(form->indices).shape);
    const DraftId from = form->table_of(draft, known.part_of(draft, context.operand(0)));
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

} // namespace

std::vector<ImportRow> import_rows_gathers() { return {{"stablehlo.gather", import_gather}}; }

} // namespace shard
