#include "planner/graph/region_ops.h"

#include "planner/graph/local_use.h"
#include "plans/base/index_of.h"

#include <algorithm>

namespace shard {

namespace {

// Attributes of to_local and from_local: `parts` are the devices along each dim.
Attributes border_attributes(const GraphRegion& region, int index, const ShardingSpec& spec) {
    std::vector<i64> parts;
    std::vector<int> axes;
    for (const DimSpec& dim : spec.dims) {
        i64 count = 1;
        for (const std::string& name : dim.axes) {
            const size_t a = index_of(region.names, name);
            internal_check(a < region.axes.size(), "a border names an axis that its region is not manual over");
            count *= region.axes[a].size;
            axes.push_back(region.axes[a].axis);
        }
        parts.push_back(count);
    }
    Attributes attributes = over_axes(region, axes);
    attributes.set("region", static_cast<i64>(index));
    attributes.set("parts", parts);
    return attributes;
}

std::optional<ValueId> emit_border(Builder& builder, std::string_view op, ValueId value, int index,
                                   const ShardingSpec& spec) {
    const GraphRegion region = builder.graph().regions[index]; // a copy: emitting may move it
    const std::optional<ValueId> made = builder.emit(op, {value}, border_attributes(region, index, spec));
    if (!made) return std::nullopt;
    Graph& graph = builder.graph();
    graph.nodes[graph.value(*made).producer].apply().asked.change([&](Asked& asked) { asked.border = spec; });
    return made;
}

} // namespace

ValueId enter_region(Builder& builder, ValueId global, int index, const ShardingSpec& spec) {
    const std::optional<ValueId> placed =
        builder.emit("constrain", {global}, attributes_of({{"mesh", true}, {"enters", true}}));
    internal_check(placed.has_value(), "a constraint was refused");
    Graph& graph = builder.graph();
    graph.nodes[graph.value(*placed).producer].apply().asked.change([&](Asked& asked) { asked.mesh = spec; });
    const std::optional<ValueId> entered = emit_border(builder, "to_local", *placed, index, spec);
    internal_check(entered.has_value(), "a part of a value was refused");
    const ValueId local = *entered;
    const GraphRegion& region = graph.regions[index];
    if (region.check) return local;
    // An unchecked region takes every value to vary, so gradients are each device's own until they are summed.
    std::vector<int> missing;
    for (const AxisRef& axis : region.axes) {
        const std::vector<int>& varying = graph.value(local).varying;
        if (axis.size > 1 && std::find(varying.begin(), varying.end(), axis.axis) == varying.end())
            missing.push_back(axis.axis);
    }
    if (missing.empty()) return local;
    const std::optional<ValueId> varied = builder.emit("pvary", {local}, over_axes(region, missing));
    internal_check(varied.has_value(), "pvary was refused");
    return *varied;
}

std::optional<ValueId> leave_region(Builder& builder, ValueId local, int index, const ShardingSpec& spec) {
    return emit_border(builder, "from_local", local, index, spec);
}

Apply leaving_region(const Graph& graph, int index, const ShardingSpec& spec) {
    Apply apply{
        find_op("from_local"), border_attributes(graph.regions[static_cast<size_t>(index)], index, spec), {}, {}};
    apply.asked.change([&](Asked& asked) { asked.border = spec; });
    return apply;
}

ShardingSpec border_spec(const Graph& graph, int index, ShardingSpec spec, const Mesh& mesh) {
    const GraphRegion& region = graph.regions[index];
    i64 others = mesh.device_count();
    for (const AxisRef& axis : region.axes) others /= axis.size;
    std::vector<std::string> used;
    for (DimSpec& dim : spec.dims) {
        dim.open = others > 1;
        used.insert(used.end(), dim.axes.begin(), dim.axes.end());
    }
    for (const std::string& name : region.names)
        if (std::find(used.begin(), used.end(), name) == used.end()) spec.replicated.push_back(name);
    return spec;
}

Sharding outer_sharding(const Mesh& mesh, const ShardingSpec& spec, const Sharding& inner) {
    Sharding outer = inner;
    for (size_t d = 0; d < spec.dims.size(); ++d) {
        std::vector<AxisRef> axes;
        for (const std::string& name : spec.dims[d].axes) {
            const AxisRef whole = mesh.whole(*mesh.find(name));
            if (whole.size > 1) axes.push_back(whole);
        }
        axes.insert(axes.end(), inner.dims[d].axes.begin(), inner.dims[d].axes.end());
        outer.dims[d].axes = std::move(axes);
    }
    return outer;
}

} // namespace shard
