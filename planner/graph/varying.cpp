#include "planner/graph/varying.h"

#include "planner/graph/device_op.h"
#include "planner/graph/own_name.h"
#include "plans/base/index_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

bool varies(const Graph& graph, ValueId id, int axis) {
    const std::vector<int>& varying = graph.value(id).varying;
    return std::find(varying.begin(), varying.end(), axis) != varying.end();
}

// By build, where it meets what varies; not by an entry of the body, which gives its result a name.
bool is_taken_to_vary(const Graph& graph, ValueId id) {
    const Value& value = graph.value(id);
    if (value.producer < 0 || is_marker(graph.node(value.producer))) return false;
    const Node& node = graph.node(value.producer);
    return node.op()->device && node.op()->device->casts && node.span == value.span;
}

// What a value is made of; what a loop carries, of where it begins and of what a trip makes.
std::vector<ValueId> sources_of(const Graph& graph, ValueId id) {
    const NodeId producer = graph.value(id).producer;
    if (producer < 0) return {};
    const Node& node = graph.node(producer);
    if (!is_marker(node)) return node.inputs;
    const size_t n = index_of(node.outputs, id);
    if (node.opens() < 0) return {node.inputs[n]};
    internal_check(n < graph.loops[node.opens()].carried.size(), "a loop is asked about too early");
    const GraphLoop::Carried& carried = graph.loops[node.opens()].carried[n];
    return {carried.init, carried.yield};
}

// The value that varies while nothing that it is made of does; along first operands.
ValueId origin_of(const Graph& graph, ValueId id, int axis) {
    std::set<ValueId> seen;
    while (seen.insert(id).second) {
        std::vector<ValueId> sources = sources_of(graph, id);
        // What was only taken to vary was so because another operand does, and what a loop carries because of its body.
        const auto is_own = [&](ValueId source) {
            const NodeId producer = graph.value(source).producer;
            return !is_taken_to_vary(graph, source) && !(producer >= 0 && graph.node(producer).opens() >= 0);
        };
        std::stable_partition(sources.begin(), sources.end(), is_own);
        const auto next = std::find_if(sources.begin(), sources.end(), [&](ValueId source) {
            return varies(graph, source, axis) && seen.count(source) == 0;
        });
        if (next == sources.end()) break;
        id = *next;
    }
    return id;
}

} // namespace

bool check_replicated(const Graph& graph, ValueId local, const Name& name, const Sharding& sharding, Span sharding_span,
                      Diagnostics& diagnostics) {
    const Value& value = graph.value(local);
    const GraphRegion& region = graph.regions[value.region];
    for (size_t a = 0; a < region.axes.size(); ++a) {
        const int axis = region.axes[a].axis;
        const auto splits = [&](const DimSharding& dim) {
            return std::any_of(dim.axes.begin(), dim.axes.end(), [&](const AxisRef& ref) { return ref.axis == axis; });
        };
        if (!varies(graph, local, axis) || std::any_of(sharding.dims.begin(), sharding.dims.end(), splits)) continue;
        const Value& origin = graph.value(origin_of(graph, local, axis));
        const std::string& mesh_axis = region.names[a];
        const Node& maker = graph.node(origin.producer);
        const bool carried = is_marker(maker); // of a loop, which begins with what is the same everywhere
        const bool enters = !carried && maker.op()->device && maker.op()->device->border == DeviceOp::Border::enters;
        DiagnosticBuilder error = diagnostics.error(
            "E0274", sharding_span,
            fmt::format(
                "'{}' varies over {}, but its sharding does not name {}: devices along {} hold different values",
                name.text, mesh_axis, mesh_axis, mesh_axis));
        error.label(enters ? origin.span : maker.span,
                    enters ? fmt::format("'{}' enters split over {}", own_name(origin.name), mesh_axis)
                    : carried
                        ? fmt::format("the loop carries '{}', which varies over {}", own_name(origin.name), mesh_axis)
                        : fmt::format("{} makes it vary over {}", maker.op()->name, mesh_axis));
        error.help(
            fmt::format("name {} in the sharding, combine the values ({{psum: {}, over: {}}}, pmean, all_gather), "
                        "or, where the devices do hold the same, switch the check off with `check: false`",
                        mesh_axis, name.text, mesh_axis));
        return false;
    }
    return true;
}

} // namespace shard
