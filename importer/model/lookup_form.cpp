#include "importer/model/lookup_form.h"

#include "importer/model/simplified.h"
#include "importer/model/transposed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

namespace shard {

namespace {

Shape reordered(const Shape& shape, const std::vector<i64>& order) {
    Shape result;
    for (const i64 dim : order) result.push_back(shape[static_cast<size_t>(dim)]);
    return result;
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
            simplified(draft, "min", {simplified(draft, "max", {coordinates[i], least}, type), last}, type);
        sum = sum ? simplified(draft, "add", {simplified(draft, "mul", {*sum, size}, type), within}, type) : within;
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
    Shape shape;                      // theirs: that of the indices, then the dims of windows
    std::vector<i64> windows;         // dims of the table that have dims of the window there
    DraftId inside = -1;              // of that shape: whether the whole window is in the table
};

// A coordinate that counts along a dim of the indices as long as the table's own is no lookup along it.
void take_counted(const Draft& draft, LookupStarts& starts, const Shape& table) {
    for (size_t i = 0; i < starts.dims.size() && starts.dims.size() > 1;) {
        const i64 dim = starts.dims[i];
        const std::vector<i64>::iterator dropped = std::find(starts.dropped.begin(), starts.dropped.end(), dim);
        i64 along = 0;
        while (along < std::ssize(starts.shape) &&
               (starts.shape[static_cast<size_t>(along)] != table[static_cast<size_t>(dim)] ||
                holds_dim(starts.index_batch, along) || !draft.counts_along(starts.coordinates[i], along)))
            ++along;
        if (dropped == starts.dropped.end() || along == std::ssize(starts.shape)) {
            ++i;
            continue;
        }
        starts.dropped.erase(dropped);
        starts.batch.push_back(dim);
        starts.index_batch.push_back(along);
        starts.dims.erase(starts.dims.begin() + static_cast<std::ptrdiff_t>(i));
        starts.coordinates.erase(starts.coordinates.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// Windows of more than one place that are no whole dims become dims of the indices. A gather's are moved into the table.
void spread_windows(Draft& draft, Places& places, const LookupStarts& numbers, const Shape& table, LookupUse use) {
    const DType dtype = numbers.dtype;
    const size_t base = places.shape.size();
    const auto is_dropped = [&](i64 dim) { return holds_dim(numbers.dropped, dim) || holds_dim(numbers.batch, dim); };
    for (i64 dim = 0; dim < std::ssize(table); ++dim) {
        const size_t d = static_cast<size_t>(dim);
        const bool named = holds_dim(places.dims, dim);
        // A window as long as the dim begins at its first place: a gather moves it there, a scatter leaves others out.
        if (numbers.sizes[d] == table[d] && !is_dropped(dim) && named && places.dims.size() > 1) {
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
            start = simplified(draft, "min",
                               {simplified(draft, "max", {start, draft.number({dtype, {}}, {})}, type),
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
            start = simplified(draft, "add", {start, count}, {dtype, places.shape});
        }
    }
    if (places.inside >= 0) places.inside = draft.broadcast(places.inside, places.shape, own);
}

// By dims of the table: those that are neighbours are then put together where they stand.
void in_order(Places& places) {
    std::vector<std::pair<i64, DraftId>> pairs;
    for (size_t i = 0; i < places.dims.size(); ++i) pairs.emplace_back(places.dims[i], places.coordinates[i]);
    std::sort(pairs.begin(), pairs.end());
    for (size_t i = 0; i < pairs.size(); ++i) std::tie(places.dims[i], places.coordinates[i]) = pairs[i];
}

// StableHLO: the window's dims are those of the table that are left, the others those of the indices.
bool find_order(LookupForm& form, const LookupStarts& numbers, const Places& places, const Shape& written,
                const std::vector<i64>& table_dims, size_t rank) {
    const size_t base = places.shape.size() - places.windows.size();
    const LookupDims dims = lookup_dims(form.lookup, form.table.size(), places.shape.size());
    i64 next_table = 0;
    size_t next_index = 0;
    for (i64 r = 0; r < static_cast<i64>(rank); ++r) {
        if (!holds_dim(numbers.window, r)) {
            if (next_index == base) return false;
            form.found.push_back(dims.indices[next_index++]);
            continue;
        }
        while (next_table < std::ssize(written) &&
               (holds_dim(numbers.dropped, next_table) || holds_dim(numbers.batch, next_table)))
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

std::vector<i64> dims_listed(const MlirAttribute& list, std::string_view key) {
    const MlirAttribute* const numbers = find_attribute(list.items, {key});
    return numbers == nullptr ? std::vector<i64>() : integers_of(*numbers).value_or(std::vector<i64>());
}

bool holds_dim(const std::vector<i64>& dims, i64 dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

DraftId LookupForm::table_of(Draft& draft, DraftId value) const {
    return order.empty() ? value : draft.reshape(transposed(draft, value, order), table);
}

DraftId LookupForm::whole_of(Draft& draft, DraftId value, const DraftType& written) const {
    if (order.empty()) return value;
    std::vector<i64> back(order.size());
    for (size_t i = 0; i < back.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<i64>(i);
    return transposed(draft, draft.reshape(value, reordered(written.shape, order)), back);
}

std::optional<LookupStarts> lookup_starts(OpContext& context, const LookupNumbers& numbers, const Shape& table,
                                          DraftId indices) {
    Draft& draft = context.draft;
    DraftType type = draft.type(indices);
    if (!are_dims(numbers, table, type)) {
        context.refuse(fmt::format("{} with dims that do not go together", context.op.name));
        return std::nullopt;
    }
    // Where a narrow type ends before the table, so would the last places of a window.
    const auto is_beyond = [&](i64 dim) {
        return static_cast<std::uint64_t>(table[static_cast<size_t>(dim)] - 1) > info(type.dtype).highest;
    };
    if (std::any_of(numbers.map.begin(), numbers.map.end(), is_beyond)) {
        type.dtype = DType::i32;
        indices = draft.cast(indices, type.dtype);
    }
    LookupStarts starts;
    starts.dtype = type.dtype;
    starts.shape = type.shape;
    starts.dims = numbers.map;
    starts.window = numbers.window;
    starts.dropped = numbers.dropped;
    starts.batch = numbers.batch;
    starts.sizes = numbers.sizes;
    for (const i64 dim : numbers.index_batch) starts.index_batch.push_back(dim - (dim > numbers.vector_dim ? 1 : 0));
    const bool has_dim = numbers.vector_dim < std::ssize(starts.shape);
    if (has_dim) starts.shape.erase(starts.shape.begin() + numbers.vector_dim);
    for (size_t i = 0; i < numbers.map.size(); ++i)
        starts.coordinates.push_back(has_dim ? place_along(draft, indices, numbers.vector_dim, static_cast<i64>(i))
                                             : indices);
    take_counted(draft, starts, table);
    return starts;
}

DraftId all_inside(Draft& draft, const LookupStarts& starts, const Shape& table) {
    const DraftType truth{DType::boolean, starts.shape};
    DraftId inside = draft.number(truth, {0, 1});
    for (size_t i = 0; i < starts.dims.size(); ++i) {
        const size_t dim = static_cast<size_t>(starts.dims[i]);
        const DraftId least = draft.number({starts.dtype, {}}, {0, 0}),
                      end = draft.number({starts.dtype, {}}, {0, table[dim] - starts.sizes[dim] + 1});
        for (const DraftId holds : {simplified(draft, "ge", {starts.coordinates[i], least}, truth),
                                    simplified(draft, "lt", {starts.coordinates[i], end}, truth)})
            inside = simplified(draft, "and", {inside, holds}, truth);
    }
    return inside;
}

std::optional<LookupForm> lookup_form(OpContext& context, const LookupStarts& starts, const Shape& written,
                                      const Shape& found, LookupUse use) {
    const auto refuse = [&](std::string_view what) -> std::optional<LookupForm> {
        context.refuse(fmt::format("{} {}", context.op.name, what),
                       "look up rows by indices: x[i], x[i, j], jnp.take, jnp.take_along_axis");
        return std::nullopt;
    };
    Draft& draft = context.draft;
    Places places;
    places.dims = starts.dims;
    places.coordinates = starts.coordinates;
    places.shape = starts.shape;
    places.inside = all_inside(draft, starts, written);
    spread_windows(draft, places, starts, written, use);
    if (places.dims.empty()) return refuse("of whole arrays");
    in_order(places);
    LookupForm form;
    form.inside = places.inside;
    const Shape sizes = reordered(written, places.dims);
    if (static_cast<std::uint64_t>(element_count(sizes)) > info(starts.dtype).highest) {
        for (DraftId& coordinate : places.coordinates) coordinate = draft.cast(coordinate, DType::i32);
        if (element_count(sizes) > INT32_MAX) return refuse("of more places than i32 can count");
    }
    form.indices = places.coordinates.size() == 1 ? places.coordinates[0] : one_of(draft, places.coordinates, sizes);
    form.table = written;
    std::vector<i64> table_dims(written.size()); // of each written dim, the table's
    for (size_t dim = 0; dim < written.size(); ++dim) table_dims[dim] = static_cast<i64>(dim);
    form.lookup.axis = static_cast<int>(places.dims[0]);
    if (places.dims.size() > 1) {
        // Where the first of those stands that are put together: dims that are neighbours stay where they are.
        form.table.clear();
        const auto take = [&](i64 dim) {
            table_dims[static_cast<size_t>(dim)] = std::ssize(form.table);
            form.order.push_back(dim);
            form.table.push_back(written[static_cast<size_t>(dim)]);
        };
        for (i64 dim = 0; dim < places.dims[0]; ++dim) take(dim);
        form.lookup.axis = static_cast<int>(form.table.size());
        form.order.insert(form.order.end(), places.dims.begin(), places.dims.end());
        form.table.push_back(element_count(sizes));
        for (i64 dim = places.dims[0]; dim < std::ssize(written); ++dim)
            if (!holds_dim(places.dims, dim)) take(dim);
    }
    std::vector<std::string> pairs;
    for (size_t i = 0; i < starts.batch.size(); ++i) {
        const i64 dim = starts.index_batch[i], of_table = table_dims[static_cast<size_t>(starts.batch[i])];
        form.lookup.batch.emplace_back(static_cast<int>(of_table), static_cast<int>(dim));
        pairs.push_back(fmt::format("[{}, {}]", of_table, dim));
    }
    if (!lookup_problem(form.lookup, form.table, places.shape).empty() ||
        !find_order(form, starts, places, written, table_dims, found.size()) ||
        reordered(found_shape(form.lookup, form.table, places.shape), form.found) != found)
        return refuse("of other dims than it finds");
    form.arguments = fmt::format(", dim: {}", form.lookup.axis);
    if (!pairs.empty()) form.arguments += fmt::format(", batch: [{}]", fmt::join(pairs, ", "));
    return form;
}

} // namespace shard
