#include "tests/support/local_graph.h"

#include "plans/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace shard {

ValueId LocalGraph::add(const std::string& name, TensorType type, const Sharding& sharding) {
    Value value;
    value.name = name;
    value.type = std::move(type);
    LocalPart part{value.type.shape, sharding};
    for (size_t d = 0; d < sharding.dims.size(); ++d) part.global_shape[d] *= shard_count(sharding.dims[d]);
    value.part = std::move(part);
    local_.graph.values.push_back(std::move(value));
    return static_cast<ValueId>(local_.graph.values.size()) - 1;
}

ValueId LocalGraph::input(const std::string& name, Shape local, const std::string& sharding, Role role, DType dtype) {
    const Sharding parsed =
        sharding.empty() ? replicated_sharding(static_cast<int>(local.size())) : *parse_sharding(mesh_, sharding);
    const ValueId id = add(name, {dtype, std::move(local), {}}, parsed);
    Value& value = local_.graph.value(id);
    value.role = role;
    value.init = Generate{Fill{1}, value.part->global_shape, {}};
    local_.graph.inputs.push_back(id);
    return id;
}

ValueId LocalGraph::node(const std::string& name, Kernel kernel, std::vector<ValueId> inputs, Shape local,
                         const std::string& sharding, DType dtype) {
    const Sharding parsed =
        sharding.empty() ? replicated_sharding(static_cast<int>(local.size())) : *parse_sharding(mesh_, sharding);
    const ValueId id = add(name, {dtype, std::move(local), {}}, parsed);
    Node node;
    node.inputs = std::move(inputs);
    node.outputs = {id};
    node.does = Apply{nullptr, {}, {}, std::move(kernel)};
    local_.graph.value(id).producer = static_cast<NodeId>(local_.graph.nodes.size());
    local_.graph.nodes.push_back(std::move(node));
    return id;
}

ValueId LocalGraph::pointwise(const std::string& name, ScalarOp op, std::vector<ValueId> inputs) {
    const Value first = value(inputs[0]);
    Pointwise kernel;
    ScalarStep last;
    last.op = op;
    last.dtype = first.type.dtype;
    for (size_t i = 0; i < inputs.size(); ++i) {
        std::vector<int> dims;
        for (int d = 0; d < first.type.rank(); ++d) dims.push_back(d);
        kernel.input_dims.push_back(dims);
        ScalarStep step;
        step.op = ScalarOp::input;
        step.args[0] = static_cast<int>(i);
        step.dtype = first.type.dtype;
        kernel.steps.push_back(step);
        last.args[i] = static_cast<int>(i);
    }
    kernel.steps.push_back(last);
    const ValueId id =
        node(name, kernel, std::move(inputs), first.type.shape, text(mesh_, first.part->sharding), first.type.dtype);
    return id;
}

ValueId LocalGraph::reshape(const std::string& name, ValueId input, Shape local) {
    Move move;
    move.flat = true;
    return node(name, move, {input}, std::move(local), "", value(input).type.dtype);
}

ValueId LocalGraph::collective(const std::string& name, const std::string& kind, Collective fields, ValueId input) {
    fields.def = find_collective(kind);
    const Value before = value(input);
    const ValueId id = add(name, fields.def->after(fields, before.type), sharding_after(fields, before.part->sharding));
    Node node;
    node.inputs = {input};
    node.outputs = {id};
    Exchange exchange;
    exchange.collective = std::move(fields);
    node.does = std::move(exchange);
    local_.graph.value(id).producer = static_cast<NodeId>(local_.graph.nodes.size());
    local_.graph.nodes.push_back(std::move(node));
    return id;
}

ValueId LocalGraph::all_gather(const std::string& name, const std::vector<std::string>& axis_names, int dim,
                               ValueId input) {
    Collective fields;
    fields.axes = axes(axis_names);
    fields.moves = {{dim, -1, fields.axes}};
    return collective(name, "all_gather", fields, input);
}

ValueId LocalGraph::all_reduce(const std::string& name, const std::vector<std::string>& axis_names, ValueId input) {
    Collective fields;
    fields.axes = axes(axis_names);
    return collective(name, "all_reduce", fields, input);
}

void LocalGraph::output(ValueId id) {
    local_.graph.outputs.push_back(id);
    local_.graph.output_names.push_back(value(id).name);
}

void LocalGraph::update(ValueId input, ValueId output) {
    local_.graph.outputs.push_back(output);
    local_.graph.output_names.push_back(value(input).name);
    local_.graph.updates.push_back({input, output});
}

std::vector<AxisRef> LocalGraph::axes(const std::vector<std::string>& names) const {
    std::vector<AxisRef> refs;
    for (const std::string& name : names) refs.push_back(*parse_axis_ref(mesh_, name));
    return refs;
}

Mesh mesh_of(std::vector<std::pair<std::string, i64>> axes) {
    Mesh mesh;
    for (auto& [name, size] : axes) mesh.axes.push_back({name, size, ""});
    return mesh;
}

std::vector<std::string> step_words(const Plan& plan) {
    std::vector<std::string> out;
    std::map<int, int> results; // of collectives, by token
    const auto name = [&](int id) { return plan.buffers[id].name; };
    for (const Step& step : plan.steps) {
        if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) {
            std::vector<std::string> inputs;
            for (int id : compute->inputs) inputs.push_back(name(id));
            out.push_back(fmt::format("{}({})", name(compute->output), fmt::join(inputs, ", ")));
        }
        if (const Start* start = std::get_if<Start>(&step.variant_ref())) {
            results[start->token] = start->output;
            out.push_back(fmt::format("start {}({})", name(start->output), name(start->input)));
        }
        if (const Wait* wait = std::get_if<Wait>(&step.variant_ref()))
            out.push_back("wait " + name(results[wait->token]));
        if (const Release* release = std::get_if<Release>(&step.variant_ref()))
            out.push_back("release " + name(release->buffer));
    }
    return out;
}

std::vector<std::string> words(const Diagnostics& diagnostics) {
    std::vector<std::string> out;
    for (const Diagnostic& diagnostic : diagnostics.all()) out.push_back(diagnostic.code + " " + diagnostic.message);
    return out;
}

} // namespace shard
