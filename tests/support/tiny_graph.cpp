#include "tests/support/tiny_graph.h"

#include "planner/graph/op_def.h"

#include <sstream>

namespace shard {

namespace {

IndexRule notation_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                        const Attributes& attributes) {
    return make_rule(std::get<std::string>(attributes.entries()[0].second), operands, results);
}
IndexRule alike_rule(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&) {
    return pointwise_rule(operands, results);
}
// The first dim of every tensor is one permutation factor of the size that the attribute gives; the others are alike.
IndexRule move_rule(std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes) {
    const auto same_size = [&](std::span<const TensorType> types) {
        std::vector<TensorType> result(types.begin(), types.end());
        for (TensorType& type : result) type.shape[0] = std::get<i64>(attributes.entries()[1].second);
        return result;
    };
    IndexRule rule = pointwise_rule(same_size(operands), same_size(results));
    set_kind(rule, 'i', FactorKind::permutation);
    return rule;
}

OpDef make_def(std::string_view name, OpDef::Class op_class, decltype(OpDef::rule) rule) {
    OpDef def;
    def.name = name;
    def.op_class = op_class;
    def.rule = rule;
    return def;
}

const OpDef other_def = make_def("other", OpDef::Class::other, notation_rule);
const OpDef pointwise_def = make_def("pointwise", OpDef::Class::pointwise, alike_rule);
const OpDef reshape_def = make_def("reshape", OpDef::Class::reshape_like, notation_rule);
const OpDef broadcast_def = make_def("broadcast", OpDef::Class::broadcast, notation_rule);
const OpDef move_def = make_def("move", OpDef::Class::other, move_rule);

} // namespace

TinyGraph::TinyGraph(std::string_view text) {
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        const size_t equal = word.find('=');
        mesh.axes.push_back({word.substr(0, equal), std::stoll(word.substr(equal + 1)), ""});
    }
}

Sharding TinyGraph::sharding(std::string_view spec) const {
    const std::optional<Sharding> parsed = parse_sharding(mesh, spec);
    internal_check(parsed.has_value(), "a test's sharding cannot be read");
    return *parsed;
}

ValueId TinyGraph::add_value(Shape shape, NodeId producer, const char* seed) {
    Value value;
    value.name = "v" + std::to_string(graph.values.size());
    value.type.logical.resize(shape.size());
    value.type.shape = std::move(shape);
    value.producer = producer;
    graph.values.push_back(std::move(value));
    seeds.values.emplace_back();
    if (seed != nullptr) seeds.values.back() = sharding(seed);
    return static_cast<ValueId>(graph.values.size()) - 1;
}

ValueId TinyGraph::add_node(const OpDef& def, const char* notation, std::vector<ValueId> operands, Shape result,
                            const char* seed) {
    const NodeId id = static_cast<NodeId>(graph.nodes.size());
    Node node;
    node.does = Apply{&def, {}, {}, {}};
    node.inputs = std::move(operands);
    node.apply().attributes.set("notation", std::string(notation));
    node.span = {0, 10 + id, 1, 1};
    node.outputs = {add_value(std::move(result), id, seed)};
    graph.nodes.push_back(node);
    seeds.constraints.emplace_back();
    return node.outputs[0];
}

ValueId TinyGraph::input(Shape shape, const char* seed) {
    const ValueId id = add_value(std::move(shape), -1, seed);
    graph.inputs.push_back(id);
    return id;
}
ValueId TinyGraph::op(const char* notation, std::vector<ValueId> operands, Shape result, const char* seed) {
    return add_node(other_def, notation, std::move(operands), std::move(result), seed);
}
ValueId TinyGraph::pointwise(std::vector<ValueId> operands, const char* seed) {
    Shape shape = graph.value(operands[0]).type.shape;
    return add_node(pointwise_def, "", std::move(operands), std::move(shape), seed);
}
ValueId TinyGraph::reshape(const char* notation, ValueId operand, Shape result, const char* seed) {
    return add_node(reshape_def, notation, {operand}, std::move(result), seed);
}
ValueId TinyGraph::broadcast(const char* notation, ValueId operand, Shape result, const char* seed) {
    return add_node(broadcast_def, notation, {operand}, std::move(result), seed);
}
ValueId TinyGraph::move_along_first(std::vector<ValueId> operands, Shape result, i64 size) {
    const ValueId value = add_node(move_def, "", std::move(operands), std::move(result), nullptr);
    graph.nodes.back().apply().attributes.set("size", size);
    return value;
}
ValueId TinyGraph::constrain(ValueId operand, const char* spec) {
    const ValueId value = pointwise({operand});
    seeds.constraints.back() = sharding(spec);
    return value;
}
void TinyGraph::output(ValueId value, const char* spec) {
    graph.outputs.push_back(value);
    seeds.outputs.emplace_back();
    if (spec != nullptr) seeds.outputs.back() = sharding(spec);
}

void TinyGraph::run(PropagateOptions options) { fixpoint = propagate_to_fixpoint(graph, seeds, options); }
std::string TinyGraph::spec(ValueId value) const { return text(mesh, fixpoint.values[value]); }
std::string TinyGraph::output_spec(size_t index) const { return text(mesh, *fixpoint.outputs[index]); }

} // namespace shard
