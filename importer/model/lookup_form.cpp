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

// As many as dims of the table of which one row each is looked up; several of them have no batch.
bool are_coordinates(const LookupNumbers& numbers, const Shape& table, const DraftType& indices) {
    const i64 rank = std::ssize(indices.shape), count = std::ssize(numbers.map);
    std::vector<i64> sorted = numbers.map;
    std::sort(sorted.begin(), sorted.end());
    if (count == 0 || numbers.dropped != sorted || sorted.front() < 0 || sorted.back() >= std::ssize(table) ||
        std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() || !is_integer(indices.dtype) ||
        numbers.vector_dim < 0 || numbers.vector_dim > rank || numbers.batch.size() != numbers.index_batch.size())
        return false;
    if ((numbers.vector_dim < rank ? indices.shape[static_cast<size_t>(numbers.vector_dim)] : 1) != count) return false;
    if (count == 1) return true;
    const i64 places = element_count(reordered(table, numbers.map));
    return numbers.batch.empty() && static_cast<std::uint64_t>(places) <= info(indices.dtype).highest;
}

std::vector<DraftId> coordinates_of(Draft& draft, DraftId indices, const LookupNumbers& numbers, const Shape& shape) {
    if (numbers.map.size() == 1) return {draft.reshape(indices, shape)};
    std::vector<DraftId> coordinates;
    DraftType part = draft.type(indices);
    part.shape[static_cast<size_t>(numbers.vector_dim)] = 1;
    for (size_t i = 0; i < numbers.map.size(); ++i)
        coordinates.push_back(draft.reshape(
            draft.add("slice", {indices},
                      fmt::format(", dim: [{}], start: [{}], limit: [{}]", numbers.vector_dim, i, i + 1), part),
            shape));
    return coordinates;
}

// StableHLO: the window's dims are those of the table that are left, the others those of the indices.
bool find_order(LookupForm& form, const LookupNumbers& numbers, size_t index_rank, size_t rank) {
    const LookupDims dims = lookup_dims(form.lookup, form.table.size(), index_rank);
    if (rank + 1 + numbers.batch.size() != form.table.size() + index_rank) return false;
    size_t next_table = 0, next_index = 0;
    for (i64 r = 0; r < static_cast<i64>(rank); ++r) {
        if (contains(numbers.window, r)) {
            while (next_table < form.table.size() && (static_cast<i64>(next_table) == form.lookup.axis ||
                                                      contains(numbers.batch, static_cast<i64>(next_table))))
                ++next_table;
            if (next_table == form.table.size()) return false;
            form.found.push_back(dims.table[next_table++]);
        } else {
            if (next_index == index_rank) return false;
            form.found.push_back(dims.indices[next_index++]);
        }
    }
    return true;
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
                                      const Shape& found) {
    const auto refuse = [&]() -> std::optional<LookupForm> {
        context.refuse(fmt::format("{} of windows", context.op.name),
                       "look up whole rows by indices: x[i], x[i, j], jnp.take, jnp.take_along_axis");
        return std::nullopt;
    };
    Draft& draft = context.draft;
    LookupForm form;
    form.table = written;
    Shape index_shape = draft.type(indices).shape;
    if (!are_coordinates(numbers, written, draft.type(indices))) return refuse();
    if (numbers.vector_dim < std::ssize(index_shape)) index_shape.erase(index_shape.begin() + numbers.vector_dim);
    const std::vector<DraftId> coordinates = coordinates_of(draft, indices, numbers, index_shape);
    const Shape sizes = reordered(written, numbers.map);
    form.inside = all_inside(draft, coordinates, sizes);
    form.indices = coordinates.size() == 1 ? coordinates[0] : one_of(draft, coordinates, sizes);
    if (coordinates.size() > 1) {
        form.order = numbers.map;
        form.table = {element_count(sizes)};
        for (i64 dim = 0; dim < std::ssize(written); ++dim) {
            if (contains(numbers.map, dim)) continue;
            form.order.push_back(dim);
            form.table.push_back(written[static_cast<size_t>(dim)]);
        }
        numbers.map = {0};
    }
    form.lookup.axis = static_cast<int>(numbers.map[0]);
    std::vector<std::string> pairs;
    for (size_t i = 0; i < numbers.batch.size(); ++i) {
        const i64 dim = numbers.index_batch[i] - (numbers.index_batch[i] > numbers.vector_dim ? 1 : 0);
        if (dim < 0 || dim > std::ssize(index_shape) || numbers.batch[i] < 0 || numbers.batch[i] > std::ssize(written))
            return refuse();
        form.lookup.batch.emplace_back(static_cast<int>(numbers.batch[i]), static_cast<int>(dim));
        pairs.push_back(fmt::format("[{}, {}]", numbers.batch[i], dim));
    }
    if (!lookup_problem(form.lookup, form.table, index_shape).empty() ||
        !find_order(form, numbers, index_shape.size(), found.size()) ||
        reordered(found_shape(form.lookup, form.table, index_shape), form.found) != found)
        return refuse();
    form.arguments = fmt::format(", dim: {}", form.lookup.axis);
    if (!pairs.empty()) form.arguments += fmt::format(", batch: [{}]", fmt::join(pairs, ", "));
    return form;
}

} // namespace shard
