#include "tests/support/ragged_interpreter.h"

#include <algorithm>
#include <map>

namespace shard {

namespace {

using Operands = std::vector<const Array*>;

double& at(Array& array, const Index& index) {
    i64 offset = 0;
    for (size_t d = 0; d < array.shape.size(); ++d) offset = offset * array.shape[d] + index[d];
    return array.values[static_cast<size_t>(offset)];
}
double at(const Array& array, const Index& index) { return at(const_cast<Array&>(array), index); }

Index with(Index index, std::initializer_list<i64> more) {
    index.insert(index.end(), more);
    return index;
}

// The group that a row of this batch lies in; -1: behind all.
i64 group_of(const Array& sizes, const Index& batch, i64 row) {
    for (i64 group = 0; group < sizes.shape.back(); ++group) {
        row -= std::max<i64>(0, static_cast<i64>(at(sizes, with(batch, {group}))));
        if (row < 0) return group;
    }
    return -1;
}

Index last(const Index& batch, size_t count) { return {batch.end() - static_cast<std::ptrdiff_t>(count), batch.end()}; }

Array ragged_dot(const Operands& in, const Node& node, const TensorType& type) {
    const bool transposed = node.attributes().flag("transposed", false);
    return make(type.shape, [&](const Index& index) {
        const Index batch(index.begin(), index.end() - 2), own = last(batch, in[1]->shape.size() - 3);
        const i64 row = index[index.size() - 2], column = index.back(), group = group_of(*in[2], batch, row);
        double sum = 0;
        for (i64 k = 0; group >= 0 && k < in[0]->shape.back(); ++k)
            sum += at(*in[0], with(batch, {row, k})) *
                   at(*in[1], transposed ? with(own, {group, column, k}) : with(own, {group, k, column}));
        return sum;
    });
}

Array ragged_dot_gradient(const Operands& in, const Node&, const TensorType& type) {
    Array out = make(type.shape, [](const Index&) { return 0.0; });
    const Shape rows(in[0]->shape.begin(), in[0]->shape.end() - 1);
    for_each(rows, [&](const Index& place) {
        const Index batch(place.begin(), place.end() - 1), own = last(batch, type.shape.size() - 3);
        const i64 group = group_of(*in[2], batch, place.back());
        if (group < 0) return;
        for (i64 k = 0; k < in[0]->shape.back(); ++k)
            for (i64 n = 0; n < in[1]->shape.back(); ++n)
                at(out, with(own, {group, k, n})) += at(*in[0], with(place, {k})) * at(*in[1], with(place, {n}));
    });
    return out;
}

} // namespace

RaggedEvaluate find_ragged_op(std::string_view name) {
    static const std::map<std::string_view, RaggedEvaluate> ops = {{"ragged_dot", ragged_dot},
                                                                   {"ragged_dot_gradient", ragged_dot_gradient}};
    const std::map<std::string_view, RaggedEvaluate>::const_iterator found = ops.find(name);
    return found == ops.end() ? nullptr : found->second;
}

} // namespace shard
