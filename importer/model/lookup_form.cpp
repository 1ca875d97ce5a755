#include "importer/model/lookup_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

bool contains(const std::vector<i64>& dims, i64 dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

Shape reordered(const Shape& shape, const std::vector<i64>& order) {
    Shape result;
    for (const i64 dim : order) result.push_back(shape[static_cast<size_t>(dim)]);
    return result;
}

DraftId all_inside(Draft& draft, const std::vector<DraftId>& coordinates, const Shape& sizes) {
    const DraftType truth{DType::boolean, draft.type(coordinates[0]).shape};
    std::optional<DraftId> inside;
    for (size_t i = 0; i < coordinates.size(); ++i) {
        const DType dtype = draft.type(coordinates[i]).dtype;
        const DraftId least = draft.number({dtype, {}}, {0, 0}), end = draft.number({dtype, {}}, {0, sizes[i]});
        const DraftId here = draft.pointwise("and",
                                             {draft.pointwise("ge", {coordinates[i], least}, truth),
                                              draft.pointwise("lt", {coordinates[i], end}, truth)},
                                             truth);
        inside = inside ? draft.pointwise("and", {*inside, here}, truth) : here;
    }
    return *inside;
}

// Each coordinate is moved into its dim, as a gather does, before they become one.
DraftId one_of(Draft& draft, const std::vector<DraftId>& coordinates, const Shape& sizes) {
    std::optional<DraftId> sum;
    for (size_t i = 0; i < coordinates.size(); ++i) {
        const DraftType type = draft.type(coordinates[i]);
        const DraftId least = draft.number({type.dtype, {}}, {0, 0}),
                      last = draft.number({type.dtype, {}}, {0, sizes[i] - 1}),
                      size = draft.number({type.dtype, {}}, {0, sizes[i]});
        const DraftId within =
            draft.pointwise("min", {draft.pointwise("max", {coordinates[i], least}, type), last}, type);
        sum = sum ? draft.pointwise("add", {draft.pointwise("mul", {*sum, size}, type), within}, type) : within;
    }
    return *sum;
}

// Dims that the lists name, each once, and lists that go together.
bool are_dims(const LookupNumbers& numbers, const Shape& table, const DraftType& indices) {
    const i64 rank = std::ssize(indices.shape), count = std::ssize(numbers.map);
    std::vector<i64> all = numbers.map;
    all.insert(all.end(), numbers.batch.begin(), numbers.batch.end());
    std::sort(all.begin(), all.end());
    if (!is_integer(indices.dtype) || numbers.vector_dim < 0 || numbers.vector_dim > rank ||
        numbers.batch.size() != numbers.index_batch.size() || numbers.sizes.size() != table.size() ||
        std::adjacent_find(all.begin(), all.end()) != all.end() ||
        (!all.empty() && (all.front() < 0 || all.back() >= std::ssize(table))))
        return false;
    if ((numbers.vector_dim < rank ? indices.shape[static_cast<size_t>(numbers.vector_dim)] : 1) != count) return false;
    for (const i64 dim : numbers.index_batch)
        if (dim < 0 || dim >= rank || dim == numbers.vector_dim) return false;
    for (size_t dim = 0; dim < table.size(); ++dim)
        if (numbers.sizes[dim] < 1 || numbers.sizes[dim] > table[dim]) return false;
    return true;
}

// A lookup of single places while it is made: coordinates along some dims of the table, one for each index.
struct Places {
    std::vector<i64> dims;            // of the table
    std::vector<DraftId> coordinates; // of the shape of all indices
    Shape shape;                      // theirs: the indices without the dim of coordinates, then the dims of windows
    std::vector<i64> windows;         // dims of the table that have dims of the window there
    DraftId inside = -1;              // of that shape: whether the whole window is in the table
};

// Where a window begins, along each dim that the lists name.
Places starts_of(Draft& draft, DraftId indices, const LookupNumbers& numbers) {
    Places places;
    places.dims = numbers.map;
    places.shape = draft.type(indices).shape;
    const bool has_dim = numbers.vector_dim < std::ssize(places.shape);
    if (has_dim) places.shape.erase(places.shape.begin() + numbers.vector_dim);
    for (size_t i = 0; i < numbers.map.size(); ++i) {
        DraftId one = indices;
        if (numbers.map.size() > 1) {
            DraftType part = draft.type(indices);
            part.shape[static_cast<size_t>(numbers.vector_dim)] = 1;
            one = draft.add("slice", {indices},
                            fmt::format(", dim: [{}], start: [{}], limit: [{}]", numbers.vector_dim, i, i + 1), part);
        }
        places.coordinates.push_back(draft.reshape(one, places.shape));
    }
    return places;
}

// The dims of a batch as coordinates, which count along the indices' dim.
void count_batch(Draft& draft, Places& places, LookupNumbers& numbers, DType dtype) {
    for (size_t i = 0; i < numbers.batch.size(); ++i) {
        const i64 dim = numbers.index_batch[i] - (numbers.index_batch[i] > numbers.vector_dim ? 1 : 0);
        const Shape counted = {places.shape[static_cast<size_t>(dim)]};
        const std::string arguments = dtype == DType::i32 ? "" : fmt::format(", dtype: {}", name(dtype));
        const DraftId count = draft.literal("iota", list_text(counted), {}, arguments, {dtype, counted});
        places.dims.push_back(numbers.batch[i]);
        places.coordinates.push_back(draft.broadcast(count, places.shape, {dim}));
    }
    numbers.batch.clear();
    numbers.index_batch.clear();
}

// Windows of more than one place that are no whole dims become dims of the indices. A gather's are moved into the table.
void spread_windows(Draft& draft, Places& places, const LookupNumbers& numbers, const Shape& table, LookupUse use,
                    DType dtype) {
    const size_t base = places.shape.size();
    const auto is_dropped = [&](i64 dim) { return contains(numbers.dropped, dim) || contains(numbers.batch, dim); };
    for (i64 dim = 0; dim < std::ssize(table); ++dim) {
        const size_t d = static_cast<size_t>(dim);
        const bool named = contains(places.dims, dim);
        if (numbers.sizes[d] == table[d] && !is_dropped(dim) && named && use == LookupUse::gather) {
            const size_t i =
                static_cast<size_t>(std::find(places.dims.begin(), places.dims.end(), dim) - places.dims.begin());
            places.dims.erase(places.dims.begin() + static_cast<std::ptrdiff_t>(i));
            places.coordinates.erase(places.coordinates.begin() + static_cast<std::ptrdiff_t>(i));
        } else if (!is_dropped(dim) && !(numbers.sizes[d] == table[d] && !named)) {
            places.windows.push_back(dim);
            places.shape.push_back(numbers.sizes[d]);
        }
    }
    if (places.windows.empty()) return;
    std::vector<i64> own(base);
    for (size_t i = 0; i < base; ++i) own[i] = static_cast<i64>(i);
    for (size_t i = 0; i < places.dims.size(); ++i) {
        const size_t d = static_cast<size_t>(places.dims[i]);
        DraftId& start = places.coordinates[i];
        const DraftType type = draft.type(start);
        if (use == LookupUse::gather)
            start = draft.pointwise("min",
                                    {draft.pointwise("max", {start, draft.number({dtype, {}}, {})}, type),
                                     draft.number({dtype, {}}, {0, table[d] - numbers.sizes[d]})},
                                    type);
        start = draft.broadcast(start, places.shape, own);
    }
    for (size_t w = 0; w < places.windows.size(); ++w) {
        const i64 dim = places.windows[w];
        const Shape counted = {numbers.sizes[static_cast<size_t>(dim)]};
        const std::string arguments = dtype == DType::i32 ? "" : fmt::format(", dtype: {}", name(dtype));
        const DraftId count =
            draft.broadcast(draft.literal("iota", list_text(counted), {}, arguments, {dtype, counted}), places.shape,
                            {static_cast<i64>(base + w)});
        const std::vector<i64>::iterator it = std::find(places.dims.begin(), places.dims.end(), dim);
        if (it == places.dims.end()) {
            places.dims.push_back(dim);
            places.coordinates.push_back(count);
        } else if (counted[0] > 1) {
            DraftId& start = places.coordinates[static_cast<size_t>(it - places.dims.begin())];
            start = draft.pointwise("add", {start, count}, {dtype, places.shape});
        }
    }
    if (places.inside >= 0) places.inside = draft.broadcast(places.inside, places.shape, own);
}

// StableHLO: the window's dims are those of the table that are left, the others those of the indices.
bool find_order(LookupForm& form, const LookupNumbers& numbers, const Places& places, const Shape& written,
                const std::vector<i64>& table_dims, size_t rank) {
    const size_t base = places.shape.size() - places.windows.size();
    const LookupDims dims = lookup_dims(form.lookup, form.table.size(), places.shape.size());
    i64 next_table = 0;
    size_t next_index = 0;
    for (i64 r = 0; r < static_cast<i64>(rank); ++r) {
        if (!contains(numbers.window, r)) {
            if (next_index == base) return false;
            form.found.push_back(dims.indices[next_index++]);
            continue;
        }
        while (next_table < std::ssize(written) &&
               (contains(numbers.dropped, next_table) || contains(numbers.batch, next_table)))
            ++next_table;
        if (next_table == std::ssize(written)) return false;
        const std::vector<i64>::const_iterator window =
            std::find(places.windows.begin(), places.windows.end(), next_table);
        form.found.push_back(window != places.windows.end()
                                 ? dims.indices[base + static_cast<size_t>(window - places.windows.begin())]
                                 : dims.table[static_cast<size_t>(table_dims[static_cast<size_t>(next_table)])]);
        ++next_table;
    }
    return form.found.size() == form.table.size() + places.shape.size() - 1 - form.lookup.batch.size();
}

} // namespace

DraftId transposed(Draft& draft, DraftId value, const std::vector<i64>& order) {
    if (std::is_sorted(order.begin(), order.end())) return value;
    const DraftType type = draft.type(value);
    return draft.add("transpose", {value}, fmt::format(", permutation: {}", list_text(order)),
                     {type.dtype, reordered(type.shape, order)});
}

DraftId LookupForm::table_of(Draft& draft, DraftId value) const {
    return order.empty() ? value : draft.reshape(transposed(draft, value, order), table);
}

DraftId LookupForm::whole_of(Draft& draft, DraftId value, const DraftType& written) const {
    if (order.empty()) return value;
    std::vector<i64> back(order.size());
    for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<i64>(i);
    return transposed(draft, draft.reshape(value, reordered(written.shape, order)), back);
}

std::optional<LookupForm> lookup_form(OpContext& context, LookupNumbers numbers, const Shape& written, DraftId indices,
                                      const Shape& found, LookupUse use) {
    const auto refuse = [&](std::string_view what) -> std::optional<LookupForm> {
        context.refuse(fmt::format("{} {}", context.op.name, what),
                       "look up rows by indices: x[i], x[i, j], jnp.take, jnp.take_along_axis");
        return std::nullopt;
    };
    Draft& draft = context.draft;
    const DType dtype = draft.type(indices).dtype;
    if (!are_dims(numbers, written, draft.type(indices))) return refuse("with dims that do not go together");
    Places places = starts_of(draft, indices, numbers);
    Shape last; // where windows begin at most
    for (const i64 dim : places.dims)
        last.push_back(written[static_cast<size_t>(dim)] - numbers.sizes[static_cast<size_t>(dim)] + 1);
    if (!places.dims.empty()) places.inside = all_inside(draft, places.coordinates, last);
    const std::vector<i64> batch = numbers.batch, index_batch = numbers.index_batch;
    LookupNumbers left = numbers;
    if (use == LookupUse::scatter_no_batch) {
        count_batch(draft, places, left, dtype);
        left.dropped.insert(left.dropped.end(), batch.begin(), batch.end());
    }
    spread_windows(draft, places, left, written, use, dtype);
    if (places.dims.empty()) return refuse("of whole arrays");
    LookupForm form;
    form.inside = places.inside >= 0 ? places.inside : draft.number({DType::boolean, places.shape}, {0, 1});
    const Shape sizes = reordered(written, places.dims);
    if (static_cast<std::uint64_t>(element_count(sizes)) > info(dtype).highest) {
        for (DraftId& coordinate : places.coordinates) coordinate = draft.cast(coordinate, DType::i32);
        if (element_count(sizes) > INT32_MAX) return refuse("of more places than i32 can count");
    }
    form.indices = places.coordinates.size() == 1 ? places.coordinates[0] : one_of(draft, places.coordinates, sizes);
    form.table = written;
    std::vector<i64> table_dims(written.size()); // of each written dim, the table's
    for (size_t dim = 0; dim < written.size(); ++dim) table_dims[dim] = static_cast<i64>(dim);
    form.lookup.axis = static_cast<int>(places.dims[0]);
    if (places.dims.size() > 1) {
        form.order = places.dims;
        form.table = {element_count(sizes)};
        for (i64 dim = 0; dim < std::ssize(written); ++dim) {
            if (contains(places.dims, dim)) continue;
            table_dims[static_cast<size_t>(dim)] = std::ssize(form.table);
            form.order.push_back(dim);
            form.table.push_back(written[static_cast<size_t>(dim)]);
        }
        form.lookup.axis = 0;
    }
    std::vector<std::string> pairs;
    for (size_t i = 0; i < left.batch.size(); ++i) {
        const i64 dim = left.index_batch[i] - (left.index_batch[i] > left.vector_dim ? 1 : 0),
                  of_table = table_dims[static_cast<size_t>(left.batch[i])];
        form.lookup.batch.emplace_back(static_cast<int>(of_table), static_cast<int>(dim));
        pairs.push_back(fmt::format("[{}, {}]", of_table, dim));
    }
    if (!lookup_problem(form.lookup, form.table, places.shape).empty() ||
        !find_order(form, left, places, written, table_dims, found.size()) ||
        reordered(found_shape(form.lookup, form.table, places.shape), form.found) != found)
        return refuse("of other dims than it finds");
    form.arguments = fmt::format(", dim: {}", form.lookup.axis);
    if (!pairs.empty()) form.arguments += fmt::format(", batch: [{}]", fmt::join(pairs, ", "));
    return form;
}

} // namespace shard
