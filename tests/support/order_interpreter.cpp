#include "tests/support/order_interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace shard {

namespace {

using Operands = std::vector<const Array*>;

constexpr double infinity = std::numeric_limits<double>::infinity();

double& at(Array& array, const Index& index) {
    i64 offset = 0;
    for (size_t d = 0; d < array.shape.size(); ++d) offset = offset * array.shape[d] + index[d];
    return array.values[static_cast<size_t>(offset)];
}
double at(const Array& array, const Index& index) { return at(const_cast<Array&>(array), index); }

size_t dim_of(const Node& node) { return static_cast<size_t>(node.attributes().integers("dim")[0]); }

// --- lookups ---

// Where an element of what is found lies in the table and in the indices. Dims of the table come in order, and in the
// place of `axis` those of the indices that are in no pair.
struct Place {
    Index table, indices;
};

Place place_of(const Node& node, size_t axis, size_t table_rank, size_t index_rank, const Index& found) {
    std::vector<i64> pairs;
    if (node.attributes().has("batch")) pairs = node.attributes().integers("batch");
    Place place{Index(table_rank), Index(index_rank, -1)};
    for (size_t p = 0; p < pairs.size(); p += 2) place.indices[static_cast<size_t>(pairs[p + 1])] = 0;
    size_t next = 0;
    for (size_t t = 0; t < table_rank; ++t) {
        if (t != axis) {
            place.table[t] = found[next++];
            continue;
        }
        for (i64& index : place.indices)
            if (index < 0) index = found[next++];
    }
    for (size_t p = 0; p < pairs.size(); p += 2)
        place.indices[static_cast<size_t>(pairs[p + 1])] = place.table[static_cast<size_t>(pairs[p])];
    return place;
}

i64 clamped(double index, i64 size) { return std::clamp<i64>(static_cast<i64>(index), 0, size - 1); }

Array gather(const Operands& in, const Node& node, const TensorType& type) {
    return make(type.shape, [&](const Index& found) {
        Place place = place_of(node, dim_of(node), in[0]->shape.size(), in[1]->shape.size(), found);
        place.table[dim_of(node)] = clamped(at(*in[1], place.indices), in[0]->shape[dim_of(node)]);
        return at(*in[0], place.table);
    });
}

template<typename Combine>
Array scatter(const Operands& in, const Node& node, const TensorType& type, double start, const Combine& combine) {
    const size_t axis = static_cast<size_t>(node.attributes().integer("dim", 0));
    Array out = make(type.shape, [start](const Index&) { return start; });
    for_each(in[1]->shape, [&](const Index& found) {
        Place place = place_of(node, axis, type.shape.size(), in[0]->shape.size(), found);
        place.table[axis] = clamped(at(*in[0], place.indices), type.shape[axis]);
        double& cell = at(out, place.table);
        cell = combine(cell, at(*in[1], found));
    });
    return out;
}

// What a maximum of nothing is.
double least(DType dtype) { return is_floating(dtype) ? -infinity : static_cast<double>(info(dtype).lowest); }
double largest(DType dtype) { return is_floating(dtype) ? infinity : static_cast<double>(info(dtype).highest); }

Array scatter_add(const Operands& in, const Node& node, const TensorType& type) {
    return scatter(in, node, type, 0, [](double a, double b) { return a + b; });
}
Array scatter_max(const Operands& in, const Node& node, const TensorType& type) {
    return scatter(in, node, type, least(type.dtype), [](double a, double b) { return std::max(a, b); });
}
Array scatter_min(const Operands& in, const Node& node, const TensorType& type) {
    return scatter(in, node, type, largest(type.dtype), [](double a, double b) { return std::min(a, b); });
}

// --- running reductions ---

// f(the places along the dim up to an element, that one last), for every element.
template<typename F>
Array running(const Operands& in, const Node& node, const TensorType& type, const F& f) {
    const size_t dim = dim_of(node);
    const bool reverse = node.attributes().flag("reverse", false);
    return make(type.shape, [&](const Index& index) {
        std::vector<Index> places;
        Index place = index;
        const i64 last = type.shape[dim] - 1, count = reverse ? last - index[dim] : index[dim];
        for (i64 n = 0; n <= count; ++n) {
            place[dim] = reverse ? last - n : n;
            places.push_back(place);
        }
        return f(in, places);
    });
}

template<typename Combine>
Array folded(const Operands& in, const Node& node, const TensorType& type, const Combine& combine) {
    return running(in, node, type, [&combine](const Operands& of, const std::vector<Index>& places) {
        double result = at(*of[0], places[0]);
        for (size_t n = 1; n < places.size(); ++n) result = combine(result, at(*of[0], places[n]));
        return result;
    });
}

Array cumsum(const Operands& in, const Node& node, const TensorType& type) {
    return folded(in, node, type, [](double a, double b) { return a + b; });
}
Array cumprod(const Operands& in, const Node& node, const TensorType& type) {
    return folded(in, node, type, [](double a, double b) { return a * b; });
}
Array cummax(const Operands& in, const Node& node, const TensorType& type) {
    return folded(in, node, type, [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}
Array cummin(const Operands& in, const Node& node, const TensorType& type) {
    return folded(in, node, type, [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}
Array cumlogsumexp(const Operands& in, const Node& node, const TensorType& type) {
    return running(in, node, type, [](const Operands& of, const std::vector<Index>& places) {
        double most = -infinity, sum = 0;
        for (const Index& place : places) most = std::max(most, at(*of[0], place));
        if (std::isinf(most)) return most;
        for (const Index& place : places) sum += std::exp(at(*of[0], place) - most);
        return most + std::log(sum);
    });
}
Array linear_recurrence(const Operands& in, const Node& node, const TensorType& type) {
    return running(in, node, type, [](const Operands& of, const std::vector<Index>& places) {
        double held = 0;
        for (const Index& place : places) held = at(*of[0], place) * held + at(*of[1], place);
        return held;
    });
}

// --- orders ---

bool before(double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); }

// An element's rank is how many come before it.
Array argsort(const Operands& in, const Node& node, const TensorType& type) {
    const size_t dim = dim_of(node);
    const bool descending = node.attributes().flag("descending", false);
    Array out = make(type.shape, [](const Index&) { return 0.0; });
    for_each(in[0]->shape, [&](const Index& index) {
        i64 rank = 0;
        Index other = index;
        for (other[dim] = 0; other[dim] < in[0]->shape[dim]; ++other[dim]) {
            bool first = other[dim] < index[dim];
            for (size_t key = in.size(); key-- > 0;) {
                const double own = at(*in[key], index), its = at(*in[key], other);
                if (before(own, its)) first = descending;
                if (before(its, own)) first = !descending;
            }
            rank += first ? 1 : 0;
        }
        Index to = index;
        to[dim] = rank;
        if (rank < type.shape[dim]) at(out, to) = static_cast<double>(index[dim]);
    });
    return out;
}

} // namespace

OrderEvaluate find_order_op(std::string_view name) {
    static const std::map<std::string_view, OrderEvaluate> ops = {
        {"gather", gather},
        {"scatter_add", scatter_add},
        {"scatter_max", scatter_max},
        {"scatter_min", scatter_min},
        {"cumsum", cumsum},
        {"cumprod", cumprod},
        {"cummax", cummax},
        {"cummin", cummin},
        {"cumlogsumexp", cumlogsumexp},
        {"linear_recurrence", linear_recurrence},
        {"argsort", argsort},
    };
    const std::map<std::string_view, OrderEvaluate>::const_iterator found = ops.find(name);
    return found == ops.end() ? nullptr : found->second;
}

} // namespace shard
