// The `pad` pass: dims that the layout splits over axes which do not divide them (`divisibility: pad`) get padding behind
// their elements, until the axes do. From here on the graph is an even one, and all that follows is as ever; the border of
// a plan fills and crops by what is real of its inputs and outputs.
//
// What stands in the padding is anything, but zeros in inputs, parameters, states and what updates them. An op that
// reduces a padded dim reads its operand with a neutral element there (x.masked, a select by position), and one that
// depends on how long the dim is reads it without the padding (x.unpadded), which devices have to gather for it.
//
//     y = sum of x over batch, 6 elements over 4 devices
//     x       f32 (8)            two elements a device
//     x.masked = select(iota < 6, x, 0)
//     y = reduce_sum(x.masked)
#pragma once

#include "planner/graph/graph.h"
#include "planner/seed/seed.h"

namespace shard {

// By ValueId, of values that are padded: the shape that is real. Empty, or beyond the end: as it is.
struct Padding {
    std::vector<Shape> unpadded;
    bool is_padded(ValueId id) const {
        return static_cast<size_t>(id) < unpadded.size() && !unpadded[static_cast<size_t>(id)].empty();
    }
    const Shape& real_shape(const Graph& graph, ValueId id) const {
        return is_padded(id) ? unpadded[static_cast<size_t>(id)] : graph.value(id).type.shape;
    }
};

Padding pad_uneven(Graph& graph, Seeds& seeds);

} // namespace shard
