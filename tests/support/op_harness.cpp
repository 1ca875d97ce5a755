#include "tests/support/op_harness.h"

#include <fmt/format.h>

namespace shard {

namespace {

Attributes made(OpArguments arguments) {
    Attributes attributes;
    for (const auto& [name, value] : arguments) attributes.set(name, value);
    return attributes;
}

std::string error_text(const Diagnostics& diagnostics) {
    return diagnostics.all().empty()
               ? "no result, no diagnostic"
               : fmt::format("error {}: {}", diagnostics.all()[0].code, diagnostics.all()[0].message);
}

std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& ids) {
    std::vector<TensorType> types;
    for (ValueId id : ids) types.push_back(graph.value(id).type);
    return types;
}

} // namespace

IndexRule Emitted::rule() const {
    return last().op()->rule(types_of(graph, last().inputs), types_of(graph, last().outputs), last().attributes());
}

TensorType typed(DType dtype, Shape shape) {
    TensorType type{dtype, std::move(shape), {}};
    type.logical.resize(type.shape.size());
    return type;
}

TensorType f32(Shape shape, std::vector<std::string> logical) {
    TensorType type{DType::f32, std::move(shape), std::move(logical)};
    type.logical.resize(type.shape.size());
    return type;
}

Emitted emit(std::string_view op, std::vector<TensorType> operands, OpArguments arguments) {
    Emitted emitted;
    Builder builder(emitted.graph, emitted.diagnostics);
    std::vector<ValueId> ids;
    for (const TensorType& type : operands) {
        Value value;
        value.name = fmt::format("x{}", ids.size());
        value.type = type;
        value.role = Role::input;
        ids.push_back(builder.add_input(std::move(value)));
    }
    builder.set_place({"", "y", Span{0, 1, 1, 1}, {}, {}});
    emitted.result = builder.emit(op, ids, made(arguments));
    if (emitted.result) {
        emitted.graph.outputs = {*emitted.result};
        emitted.graph.output_names = {"y"};
        verify_graph(emitted.graph);
    }
    return emitted;
}

std::string rule_of(std::string_view op, std::vector<TensorType> operands, OpArguments arguments) {
    const Emitted emitted = emit(op, std::move(operands), arguments);
    return emitted.result ? text(emitted.rule()) : error_text(emitted.diagnostics);
}

std::string shape_of(std::string_view op, std::vector<TensorType> operands, OpArguments arguments) {
    const Emitted emitted = emit(op, std::move(operands), arguments);
    if (!emitted.result) return error_text(emitted.diagnostics);
    const TensorType& type = emitted.type();
    return (type.dtype == DType::f32 ? std::string() : std::string(name(type.dtype))) + shape_text(type.shape);
}

Kernel kernel_of(const Emitted& emitted) {
    const std::vector<TensorType> operands = types_of(emitted.graph, emitted.last().inputs);
    const std::vector<TensorType> results = types_of(emitted.graph, emitted.last().outputs);
    const IndexRule rule = emitted.rule();
    const std::vector<std::vector<AxisRef>> factor_axes(rule.factors.size());
    return emitted.last().op()->lower(
        {operands, results, operands, results, emitted.last().attributes(), rule, factor_axes});
}

std::string ops_of(const Graph& graph) {
    std::string text;
    for (const Node& node : graph.nodes) text += (text.empty() ? "" : " ") + std::string(node.op()->name);
    return text;
}

} // namespace shard
