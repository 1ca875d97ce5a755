#include "planner/graph/local_use.h"

#include <algorithm>

namespace shard {

void join(std::vector<int>& axes, std::span<const int> more) {
    axes.insert(axes.end(), more.begin(), more.end());
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
}

namespace {

// The axes that a device op names, without those of one device.
std::vector<int> named_axes(const Attributes& attributes) {
    std::vector<int> axes;
    const std::vector<i64>&numbers = attributes.integers("mesh_axes"), &sizes = attributes.integers("sizes");
    for (size_t a = 0; a < numbers.size(); ++a)
        if (sizes[a] > 1) axes.push_back(static_cast<int>(numbers[a]));
    std::sort(axes.begin(), axes.end());
    return axes;
}

} // namespace

LocalUse local_use(const Graph& graph, const OpDef& op, std::span<const ValueId> operands, const Attributes& attributes,
                   int here) {
    LocalUse use;
    if (op.device && op.device->border == DeviceOp::Border::enters) {
        use.region = static_cast<int>(attributes.integer("region"));
        use.result = named_axes(attributes);
        return use;
    }
    use.region = operands.empty() ? here : -1;
    for (ValueId id : operands) {
        use.region = std::max(use.region, graph.value(id).region);
        join(use.operands, graph.value(id).varying);
    }
    if (use.region < 0) return use;
    use.result = use.operands;
    if (!op.device) return use;
    const std::vector<int> axes = named_axes(attributes);
    if (op.device->border == DeviceOp::Border::leaves) {
        join(use.operands, axes);
        use.result.clear();
        return use;
    }
    join(use.result, axes);
    if (op.device->varying == DeviceOp::Varying::adds) return use;
    use.operands = use.result;
    if (op.device->varying == DeviceOp::Varying::drops) use.result = axes_without(use.operands, axes);
    return use;
}

std::vector<int> axes_without(const std::vector<int>& axes, const std::vector<int>& gone) {
    std::vector<int> left;
    std::set_difference(axes.begin(), axes.end(), gone.begin(), gone.end(), std::back_inserter(left));
    return left;
}

Attributes over_axes(const GraphRegion& region, std::span<const int> axes) {
    std::vector<std::string> names;
    std::vector<i64> numbers, sizes;
    for (size_t a = 0; a < region.axes.size(); ++a) {
        if (std::find(axes.begin(), axes.end(), region.axes[a].axis) == axes.end()) continue;
        names.push_back(region.names[a]);
        numbers.push_back(region.axes[a].axis);
        sizes.push_back(region.axes[a].size);
    }
    return attributes_of({{"over", names}, {"mesh_axes", numbers}, {"sizes", sizes}});
}

} // namespace shard
