#include "planner/price.h"

#include "planner/gather_parameters.h"
#include "planner/in_place.h"
#include "planner/op_def.h"
#include "plans/kernel_cost.h"
#include "plans/plan_check.h"

#include <algorithm>

namespace shard {

namespace {

SourceRef place(const Sources& sources, Span span) {
    if (!span.known() || span.file >= sources.count()) return {};
    return {sources.name(span.file), span.line, span.column};
}

void report_tensors(Report& report, const Graph& graph, const Propagation& propagation, const Sources& sources) {
    std::vector<bool> is_output(graph.values.size());
    for (ValueId id : graph.outputs) is_output[static_cast<size_t>(id)] = true;
    // New parameters and states are listed once, as the inputs that they replace.
    for (const Update& update : graph.updates) is_output[static_cast<size_t>(update.output)] = false;
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
        const Value& value = graph.value(id);
        TensorReport tensor;
        tensor.name = value.name;
        tensor.role = value.role;
        if (value.role == Role::value && is_output[static_cast<size_t>(id)]) tensor.role = Role::output;
        tensor.dtype = value.type.dtype;
        tensor.shape = value.type.shape;
        tensor.logical = value.type.logical;
        tensor.logical.resize(tensor.shape.size());
        tensor.sharding = propagation.values[static_cast<size_t>(id)];
        tensor.local_shape = local_shape(tensor.shape, tensor.sharding);
        tensor.bytes_per_device = element_count(tensor.local_shape) * byte_size(tensor.dtype);
        tensor.source = place(sources, value.span);
        report.tensors.push_back(std::move(tensor));
    }
}

// Names the model's value that a collective is for. Copies made on the way have no name in the model: the value whose
// copy it is, or the value that it becomes.
class TensorNames {
public:
    TensorNames(const Graph& graph, const Local& local)
        : graph_(&graph), local_(&local), users_(users_of(local.graph)) {
        home_.assign(local.graph.values.size(), -1);
        for (ValueId id = 0; id < static_cast<ValueId>(local.value_of.size()); ++id) {
            const ValueId at = local.value_of[static_cast<size_t>(id)];
            if (at >= 0 && home_[static_cast<size_t>(at)] < 0) home_[static_cast<size_t>(at)] = id;
        }
    }

    bool is_home(ValueId local) const { return home_[static_cast<size_t>(local)] >= 0; }

    std::string name(const Node& node) const {
        for (ValueId id : {node.outputs[0], node.inputs[0]})
            if (is_home(id)) return named(id);
        for (ValueId id = node.inputs[0]; id >= 0; id = before(id))
            if (is_home(id)) return named(id);
        for (ValueId id = node.outputs[0]; id >= 0; id = after(id))
            if (is_home(id)) return named(id);
        return local_->graph.value(node.outputs[0]).name;
    }

private:
    const std::string& named(ValueId local) const { return graph_->value(home_[static_cast<size_t>(local)]).name; }

    // Along collectives, and parts and other shapes of the same value: past any other step it is another one.
    ValueId before(ValueId id) const {
        const NodeId producer = local_->graph.value(id).producer;
        if (producer < 0) return -1;
        const Node& node = local_->graph.node(producer);
        const bool is_part = node.op != nullptr && node.op->name == "loop_slice";
        return node.collective || is_part || is_view(local_->graph, node) ? node.inputs[0] : -1;
    }
    // What a loop's end reads is the value in the same place behind it.
    ValueId after(ValueId id) const {
        const std::vector<NodeId>& users = users_[static_cast<size_t>(id)];
        if (users.empty()) return -1;
        const Node& user = local_->graph.node(users.front());
        if (!is_marker(user)) return user.outputs[0];
        return user
            .outputs[static_cast<size_t>(std::find(user.inputs.begin(), user.inputs.end(), id) - user.inputs.begin())];
    }

    const Graph* graph_;
    const Local* local_;
    std::vector<std::vector<NodeId>> users_;
    std::vector<ValueId> home_; // by local value: the model's value that it holds, or -1
};

CollectiveReport report_collective(const Start& start, i64 count, const Plan& plan, const Hardware& hardware) {
    const Collective& collective = start.collective;
    const i64 bytes = plan.buffers[static_cast<size_t>(start.input)].bytes;
    CollectiveReport report;
    report.kind = collective.def->name;
    report.axes = collective.axes;
    if (collective.def->uses.reduce) report.reduce = name(collective.reduce);
    if (!collective.moves.empty())
        report.dim = collective.moves[0].from >= 0 ? collective.moves[0].from : collective.moves[0].to;
    report.count = count;
    report.wire_bytes_total =
        multiply_saturating(count, collective.def->wire_bytes_total(collective, plan.mesh, bytes));
    // Exact where the devices send alike; a permutation that leaves some devices alone is rounded up.
    const i64 devices = plan.mesh.device_count();
    report.wire_bytes_per_device = report.wire_bytes_total / devices + (report.wire_bytes_total % devices != 0 ? 1 : 0);
    report.seconds = static_cast<double>(count) * collective.def->seconds(collective, plan.mesh, hardware, bytes);
    report.source = start.source;
    return report;
}

} // namespace

void price(Plan& plan, const Graph& graph, const Local& local, const ScheduleMap& map, const Propagation& propagation,
           const Hardware& hardware, const Sources& sources) {
    Report report;
    report.model = plan.model;
    report.mode = plan.mode;
    report.hardware = hardware.name;
    report_tensors(report, graph, propagation, sources);

    const TensorNames names(graph, local);
    for_each_step(plan, [&](const Step& step, i64 count) {
        if (const Compute* compute = std::get_if<Compute>(&step.variant_ref())) {
            std::vector<TensorType> types;
            for (int input : compute->inputs) types.push_back(local_type(plan.buffers[static_cast<size_t>(input)]));
            const TensorType output = local_type(plan.buffers[static_cast<size_t>(compute->output)]);
            report.flops_per_device = add_saturating(report.flops_per_device,
                                                     multiply_saturating(count, flops(compute->kernel, types, output)));
        }
        if (const Start* start = std::get_if<Start>(&step.variant_ref())) {
            const Node& node = local.graph.node(map.starts[static_cast<size_t>(start->token)]);
            CollectiveReport collective = report_collective(*start, count, plan, hardware);
            collective.tensor = names.name(node);
            if (is_parameter_gather(node)) collective.tensor = graph.value(graph.node(node.origin).inputs[0]).name;
            if (node.origin >= 0) collective.op = op_name(graph.node(node.origin));
            collective.cause = node.cause;
            collective.remedy = node.remedy;
            report.collectives.push_back(std::move(collective));
        }
    });

    std::vector<bool> homes;
    for (const std::vector<ValueId>& values : map.values)
        homes.push_back(std::any_of(values.begin(), values.end(), [&](ValueId id) { return names.is_home(id); }));
    report.memory = memory_of(plan, homes);
    report.memory.capacity = static_cast<i64>(hardware.memory_bytes);
    report.time = time_of(plan, hardware);
    report.compute_seconds = report.time.compute_seconds;
    report.diagnostics = std::move(plan.report.diagnostics);
    plan.report = std::move(report);
}

} // namespace shard
