#include "planner/graph/device_op.h"

namespace shard {

i64 group_size(const Attributes& attributes) {
    i64 size = 1;
    for (i64 n : attributes.integers("sizes")) size *= n;
    return size;
}

std::vector<AxisRef> group_axes(const Attributes& attributes) {
    std::vector<AxisRef> axes;
    for (size_t a = 0; a < attributes.integers("sizes").size(); ++a)
        axes.push_back({static_cast<int>(attributes.integers("mesh_axes")[a]), 1, attributes.integers("sizes")[a]});
    return axes;
}

Attributes over_same(const Attributes& attributes, NamedValues others) {
    Attributes result = attributes_of(others);
    result.set("over", attributes.strings("over"));
    result.set("mesh_axes", attributes.integers("mesh_axes"));
    result.set("sizes", attributes.integers("sizes"));
    return result;
}

} // namespace shard
