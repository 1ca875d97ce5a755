#include "tests/support/graph_case.h"

#include "planner/optimize/optimize.h"
#include "planner/partition/local.h"
#include "planner/partition/verify_local.h"

#include <fmt/format.h>

namespace shard {

Hardware uniform_hardware() {
    Hardware hardware;
    hardware.links = {Link{"uniform", Link::Topology::uniform, 1, 0, false, 0}};
    return hardware;
}

ValueId GraphCase::input(std::string name, Shape shape, std::string_view sharding, Role role) {
    Value value;
    value.name = std::move(name);
    value.type = f32_type(std::move(shape));
    value.role = role;
    graph.values.push_back(std::move(value));
    propagation.values.push_back(sharding_of(mesh, sharding));
    graph.inputs.push_back(static_cast<ValueId>(graph.values.size()) - 1);
    return graph.inputs.back();
}

ValueId GraphCase::op(std::string name, std::string_view op, std::vector<ValueId> operands, std::string_view sharding,
                      Attributes attributes) {
    Node node;
    node.does = Apply{find_op(op), std::move(attributes), {}, {}};
    internal_check(node.op() != nullptr, "the op of a test exists");
    std::vector<TensorType> types;
    std::vector<std::string> names;
    std::vector<Span> spans(operands.size());
    for (ValueId id : operands) {
        types.push_back(graph.value(id).type);
        names.push_back(graph.value(id).name);
    }
    Diagnostics diagnostics;
    std::optional<std::vector<TensorType>> results =
        node.op()->infer({types, spans, node.attributes(), {}, diagnostics, op, names});
    internal_check(results && results->size() == 1, "the op of a test fits its operands");
    Value value;
    value.name = std::move(name);
    value.type = (*results)[0];
    value.type.logical.resize(value.type.shape.size());
    value.producer = static_cast<NodeId>(graph.nodes.size());
    graph.values.push_back(std::move(value));
    propagation.values.push_back(sharding_of(mesh, sharding));
    node.inputs = std::move(operands);
    node.outputs = {static_cast<ValueId>(graph.values.size()) - 1};
    graph.nodes.push_back(std::move(node));
    return graph.nodes.back().outputs[0];
}

ValueId GraphCase::constrain(std::string name, ValueId operand, std::string_view sharding) {
    Attributes attributes;
    attributes.set("axes", std::vector<std::string>(graph.value(operand).type.shape.size()));
    ValueId id = op(std::move(name), "constrain", {operand}, sharding, std::move(attributes));
    graph.nodes.back().apply().asked.logical.resize(graph.value(operand).type.shape.size());
    graph.nodes.back().span = {0, 12, 5, 3};
    return id;
}

void GraphCase::output(ValueId id) {
    graph.outputs.push_back(id);
    graph.output_names.push_back(graph.value(id).name);
}

Local GraphCase::run() const {
    Hardware hardware = uniform_hardware();
    Local local = partition(graph, mesh, hardware, propagation);
    verify_local(local, mesh);
    optimize(local);
    verify_local(local, mesh);
    return local;
}

std::vector<std::string> reshards(const Mesh& mesh, const Local& local) {
    std::vector<std::string> result;
    for (const Node& node : local.graph.nodes) {
        if (node.op() != nullptr) continue;
        const Value& value = local.graph.value(node.outputs[0]);
        result.push_back(
            fmt::format("{}: {}", value.name, node.collective() ? text(mesh, *node.collective()) : "slice"));
    }
    return result;
}

i64 wire_bytes_per_device(const Mesh& mesh, const Local& local) {
    i64 bytes = 0;
    for (const Node& node : local.graph.nodes) {
        if (!node.collective()) continue;
        bytes += node.collective()->def->wire_bytes_total(*node.collective(), mesh,
                                                          local.graph.value(node.inputs[0]).type.bytes());
    }
    return bytes / mesh.device_count();
}

std::string sharding_text(const Mesh& mesh, const Local& local, std::string_view name) {
    for (const Value& value : local.graph.values) {
        if (value.name == name) return text(mesh, value.part.sharding);
    }
    internal_error("no local value has this name");
}

} // namespace shard
