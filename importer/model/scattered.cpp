#include "importer/model/scattered.h"

#include "importer/model/simplified.h"
#include "importer/model/transposed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

// 0, 1, 2, ... along one dim of a shape that has 1 along the others.
DraftId counted(Draft& draft, DType dtype, const Shape& shape, i64 dim) {
    const i64 size = shape[static_cast<size_t>(dim)];
    const std::string arguments = dtype == DType::i32 ? "" : fmt::format(", dtype: {}", name(dtype));
    return draft.reshape(draft.literal("iota", list_text({size}), {}, arguments, {dtype, {size}}), shape);
}

std::string pairs_text(size_t count) {
    std::vector<std::string> pairs;
    for (size_t i = 0; i < count; ++i) pairs.push_back(fmt::format("[{}, {}]", i, i));
    return pairs.empty() ? std::string() : fmt::format(", batch: [{}]", fmt::join(pairs, ", "));
}

// One window for each place of the batch, by the table's dims: what a value lacks of them has size 1.
class Window {
public:
    Window(Draft& draft, const LookupStarts& starts, const Shape& shape)
        : draft_(draft), starts_(starts), shape_(shape), batch_(shape.size(), 1) {
        for (const i64 dim : starts.batch) batch_[index(dim)] = shape[index(dim)];
        inside_ = draft.number({DType::boolean, batch_}, {0, 1});
    }

    // The updates; -1 if they have other dims.
    DraftId take(DraftId updates) {
        const Shape shape = draft_.type(updates).shape;
        std::vector<i64> source(shape_.size(), -1), others, order;
        i64 next_window = 0, next_index = 0;
        for (i64 dim = 0; dim < std::ssize(shape); ++dim) {
            if (!holds_dim(starts_.window, dim)) {
                const std::vector<i64>::const_iterator pair =
                    std::find(starts_.index_batch.begin(), starts_.index_batch.end(), next_index++);
                if (pair == starts_.index_batch.end())
                    others.push_back(dim);
                else
                    source[index(starts_.batch[static_cast<size_t>(pair - starts_.index_batch.begin())])] = dim;
                continue;
            }
            while (next_window < std::ssize(shape_) &&
                   (holds_dim(starts_.dropped, next_window) || holds_dim(starts_.batch, next_window)))
                ++next_window;
            if (next_window == std::ssize(shape_)) return -1;
            source[index(next_window++)] = dim;
        }
        Shape own(shape_.size(), 1);
        for (size_t dim = 0; dim < source.size(); ++dim) {
            const bool is_one = holds_dim(starts_.dropped, static_cast<i64>(dim));
            if ((source[dim] < 0) != is_one) return -1;
            if (source[dim] < 0) continue;
            own[dim] = shape[index(source[dim])];
            order.push_back(source[dim]);
        }
        order.insert(order.end(), others.begin(), others.end());
        if (element_count(own) != element_count(shape)) return -1;
        return draft_.reshape(transposed(draft_, updates, order), own);
    }

    // Along one of the scattered dims.
    void place(size_t i, DraftId& updates) {
        const i64 dim = starts_.dims[i], size = shape_[index(dim)], window = starts_.sizes[index(dim)];
        DraftId start = by_table(starts_.coordinates[i]);
        if (static_cast<std::uint64_t>(size) > info(starts_.dtype).highest) start = draft_.cast(start, DType::i32);
        const DType dtype = draft_.type(start).dtype;
        const auto number = [&](i64 n) { return draft_.number({dtype, {}}, {0, n}); };
        if (window == size) { // it begins at the first place, or is left out
            hold(inside_, batch_, "eq", start, number(0));
            return;
        }
        Shape along = batch_;
        along[index(dim)] = size;
        const DraftId count = counted(draft_, dtype, along_only(dim), dim);
        if (window == 1) {
            narrow(draft_.pointwise("eq", {count, start}, {DType::boolean, along}));
            return;
        }
        hold(inside_, batch_, "ge", start, number(0));
        hold(inside_, batch_, "le", start, number(size - window));
        const DraftId behind = draft_.pointwise("sub", {count, start}, {dtype, along});
        DraftId here = draft_.number({DType::boolean, along}, {0, 1});
        hold(here, along, "ge", behind, number(0));
        hold(here, along, "lt", behind, number(window));
        narrow(here);
        const DraftId own = draft_.pointwise(
            "min", {draft_.pointwise("max", {behind, number(0)}, {dtype, along}), number(window - 1)}, {dtype, along});
        look_up(updates, own, dim);
    }

    // Whether a place of the table is in the window.
    DraftId holds() {
        if (!mask_) return inside_;
        Shape shape = draft_.type(*mask_).shape;
        return simplified(draft_, "and", {*mask_, inside_}, {DType::boolean, shape});
    }

private:
    static size_t index(i64 dim) { return static_cast<size_t>(dim); }

    Shape along_only(i64 dim) const {
        Shape shape(shape_.size(), 1);
        shape[index(dim)] = shape_[index(dim)];
        return shape;
    }

    DraftId by_table(DraftId start) {
        std::vector<std::pair<i64, i64>> pairs;
        for (size_t i = 0; i < starts_.batch.size(); ++i) pairs.emplace_back(starts_.batch[i], starts_.index_batch[i]);
        std::sort(pairs.begin(), pairs.end());
        std::vector<i64> order;
        for (const auto& [table, own] : pairs) order.push_back(own);
        for (i64 dim = 0; dim < std::ssize(starts_.shape); ++dim)
            if (!holds_dim(starts_.index_batch, dim)) order.push_back(dim);
        return draft_.reshape(transposed(draft_, start, order), batch_);
    }

    void hold(DraftId& all, const Shape& shape, const std::string& op, DraftId a, DraftId b) {
        const DraftType truth{DType::boolean, shape};
        all = simplified(draft_, "and", {all, simplified(draft_, op, {a, b}, truth)}, truth);
    }

    void narrow(DraftId here) {
        if (mask_) {
            Shape shape = draft_.type(*mask_).shape;
            for (size_t dim = 0; dim < shape.size(); ++dim)
                shape[dim] = std::max(shape[dim], draft_.type(here).shape[dim]);
            here = draft_.pointwise("and", {*mask_, here}, {DType::boolean, shape});
        }
        mask_ = here;
    }

    // Each place of the dim finds its own of the window.
    void look_up(DraftId& updates, DraftId own, i64 dim) {
        Shape flat;
        std::vector<std::string> pairs;
        for (i64 d = 0; d < std::ssize(shape_); ++d) {
            const bool is_batch = holds_dim(starts_.batch, d);
            if (is_batch) pairs.push_back(fmt::format("[{}, {}]", d, flat.size()));
            if (is_batch || d == dim) flat.push_back(shape_[index(d)]);
        }
        Shape found = draft_.type(updates).shape;
        found[index(dim)] = shape_[index(dim)];
        const std::string batch = pairs.empty() ? "" : fmt::format(", batch: [{}]", fmt::join(pairs, ", "));
        updates = draft_.add("gather", {updates, draft_.reshape(own, flat)}, fmt::format(", dim: {}{}", dim, batch),
                             {draft_.type(updates).dtype, found});
    }

    Draft& draft_;
    const LookupStarts& starts_;
    const Shape& shape_;
    Shape batch_; // of the table, 1 along all dims but those of the batch
    DraftId inside_ = -1;
    std::optional<DraftId> mask_;
};

// Rows that are updated, and updates: dims of the batch first, then rows or updates as one dim, then those of a row.
struct Rows {
    size_t batch = 0;
    i64 count = 0, updates = 0; // of rows, of updates
    Shape batches, row;
    DraftId indices = -1, inside = -1, listed = -1;
    std::vector<i64> back; // of each dim of the table, the dim here

    Shape shape(std::initializer_list<i64> middle, bool with_row) const {
        Shape all = batches;
        all.insert(all.end(), middle);
        if (with_row) all.insert(all.end(), row.begin(), row.end());
        return all;
    }
    std::vector<i64> first(size_t dims) const {
        std::vector<i64> all(dims);
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
};

Rows rows_of(Draft& draft, const LookupForm& form, DraftId updates) {
    Rows rows;
    const Shape places = draft.type(form.indices).shape;
    const LookupDims dims = lookup_dims(form.lookup, form.table.size(), places.size());
    std::vector<std::pair<int, int>> batch = form.lookup.batch;
    std::sort(batch.begin(), batch.end());
    rows.batch = batch.size();
    rows.back.assign(form.table.size(), 0);
    std::vector<i64> order;
    for (const auto& [table, own] : batch) {
        rows.back[static_cast<size_t>(table)] = std::ssize(order);
        order.push_back(own);
        rows.batches.push_back(places[static_cast<size_t>(own)]);
    }
    rows.updates = 1;
    for (i64 dim = 0; dim < std::ssize(places); ++dim) {
        if (holds_dim(order, dim)) continue;
        order.push_back(dim);
        rows.updates *= places[static_cast<size_t>(dim)];
    }
    rows.count = form.table[static_cast<size_t>(form.lookup.axis)];
    std::vector<i64> updates_order;
    for (const i64 dim : order) updates_order.push_back(dims.indices[static_cast<size_t>(dim)]);
    for (i64 dim = 0; dim < std::ssize(form.table); ++dim) {
        const size_t d = static_cast<size_t>(dim);
        const bool is_batch =
            std::any_of(batch.begin(), batch.end(), [&](const auto& pair) { return pair.first == dim; });
        if (dim == form.lookup.axis) rows.back[d] = static_cast<i64>(rows.batch);
        if (dim == form.lookup.axis || is_batch) continue;
        rows.back[d] = static_cast<i64>(rows.batch + 1 + rows.row.size());
        rows.row.push_back(form.table[d]);
        updates_order.push_back(dims.table[d]);
    }
    const Shape flat = rows.shape({rows.updates}, false);
    rows.indices = draft.reshape(transposed(draft, form.indices, order), flat);
    rows.inside = draft.reshape(transposed(draft, form.inside, order), flat);
    rows.listed = draft.reshape(transposed(draft, updates, updates_order), rows.shape({rows.updates}, true));
    return rows;
}

} // namespace

bool is_one_window(const LookupStarts& starts) {
    for (i64 dim = 0; dim < std::ssize(starts.shape); ++dim)
        if (!holds_dim(starts.index_batch, dim) && starts.shape[static_cast<size_t>(dim)] != 1) return false;
    return true;
}

DraftId with_window(Draft& draft, const LookupStarts& starts, const Combining& combining, DraftId table,
                    const Shape& shape, DraftId updates) {
    Window window(draft, starts, shape);
    const DraftType type{draft.type(table).dtype, shape};
    DraftId own = window.take(updates);
    if (own < 0) return -1;
    for (size_t i = 0; i < starts.dims.size(); ++i) window.place(i, own);
    if (!combining.op.empty()) {
        const DraftType combined = draft[table].number ? draft.type(own) : type;
        own = simplified(draft, std::string(combining.op), {table, own}, combined);
    }
    return simplified(draft, "select", {window.holds(), own, table}, type);
}

DraftId with_rows(Draft& draft, const LookupForm& form, DraftId table, DraftId updates) {
    const Rows rows = rows_of(draft, form, updates);
    const DType dtype = draft.type(table).dtype;
    const DraftId none = draft.number({DType::i32, {}}, {0, -1}), first = draft.number({DType::i32, {}}, {});
    // Which update each row is given: the largest number of those that are sent there.
    const Shape flat = rows.shape({rows.updates}, false);
    const DraftId count =
        draft.broadcast(draft.literal("iota", list_text({rows.updates}), {}, {}, {DType::i32, {rows.updates}}), flat,
                        {static_cast<i64>(rows.batch)});
    const DraftId numbered = simplified(draft, "select", {rows.inside, count, none}, {DType::i32, flat});
    const DraftType by_row{DType::i32, rows.shape({rows.count}, false)};
    const std::string pairs = pairs_text(rows.batch);
    const DraftId given = draft.add("scatter_max", {rows.indices, numbered},
                                    fmt::format(", dim: {}{}, size: {}", rows.batch, pairs, rows.count), by_row);
    const DraftId looked_up =
        draft.add("gather", {rows.listed, draft.pointwise("max", {given, first}, by_row)},
                  fmt::format(", dim: {}{}", rows.batch, pairs), {dtype, rows.shape({rows.count}, true)});
    const DraftId is_given = draft.pointwise("ge", {given, first}, {DType::boolean, by_row.shape});
    std::vector<i64> along; // the table's dims of the batch and of its rows
    for (size_t i = 0; i <= rows.batch; ++i)
        along.push_back(std::find(rows.back.begin(), rows.back.end(), static_cast<i64>(i)) - rows.back.begin());
    return draft.pointwise("select",
                           {draft.broadcast(is_given, form.table, along), transposed(draft, looked_up, rows.back),
                            form.table_of(draft, table)},
                           {dtype, form.table});
}

// The product over all updates of those that are a row's own, and of 1.
DraftId times_rows(Draft& draft, const LookupForm& form, DraftId table, DraftId updates) {
    const Rows rows = rows_of(draft, form, updates);
    const DType dtype = draft.type(table).dtype, whole = draft.type(rows.indices).dtype;
    const DraftType pairs{DType::boolean, rows.shape({rows.count, rows.updates}, false)},
        all{dtype, rows.shape({rows.count, rows.updates}, true)};
    const std::string arguments = whole == DType::i32 ? "" : fmt::format(", dtype: {}", name(whole));
    const DraftId counted_rows = draft.literal("iota", list_text({rows.count}), {}, arguments, {whole, {rows.count}});
    const i64 middle = static_cast<i64>(rows.batch);
    std::vector<i64> by_update = rows.first(rows.batch);
    by_update.push_back(middle + 1);
    const DraftId own = simplified(draft, "and",
                                   {draft.pointwise("eq",
                                                    {draft.broadcast(counted_rows, pairs.shape, {middle}),
                                                     draft.broadcast(rows.indices, pairs.shape, by_update)},
                                                    pairs),
                                    draft.broadcast(rows.inside, pairs.shape, by_update)},
                                   pairs);
    std::vector<i64> listed = by_update;
    for (size_t i = 0; i < rows.row.size(); ++i) listed.push_back(middle + 2 + static_cast<i64>(i));
    const DraftId factors =
        draft.pointwise("select",
                        {draft.broadcast(own, all.shape, rows.first(rows.batch + 2)),
                         draft.broadcast(rows.listed, all.shape, listed), draft.number({dtype, {}}, {1, 1})},
                        all);
    const DraftId product = draft.add("reduce_prod", {factors}, fmt::format(", dims: [{}]", middle + 1),
                                      {dtype, rows.shape({rows.count}, true)});
    return draft.pointwise("mul", {form.table_of(draft, table), transposed(draft, product, rows.back)},
                           {dtype, form.table});
}

} // namespace shard
