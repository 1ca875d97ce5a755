#include "planner/price/price.h"

#include "planner/graph/op_def.h"
#include "planner/partition/local.h"
#include "planner/partition/local_names.h"
#include "planner/price/memory_report.h"
#include "planner/price/padding_report.h"
#include "planner/price/time_report.h"
#include "plans/base/saturating.h"
#include "plans/collective/link_levels.h"
#include "plans/kernel/kernel_cost.h"
#include "plans/plan/plan_check_types.h"
#include "plans/plan/source_ref.h"

#include <algorithm>
#include <map>

namespace shard {

namespace {

void report_tensors(Report& report, const Graph& graph, const Padding& padding, const Local& local,
                    const Propagation& propagation, const Sources& sources) {
    std::vector<ValueId> returned(graph.values.size(), -1); // the local value that is; the first of several
    for (size_t o = graph.outputs.size(); o-- > 0;) returned[graph.outputs[o]] = local.graph.outputs[o];
    // New parameters and states are listed once, as the inputs that they replace.
    for (const Update& update : graph.updates) returned[update.output] = -1;
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
        const Value& value = graph.value(id);
        TensorReport tensor;
        tensor.name = value.name;
        tensor.role = value.role;
        const bool is_output = value.role == Role::value && returned[id] >= 0;
        if (is_output) tensor.role = Role::output;
        tensor.dtype = value.type.dtype;
        tensor.shape = padding.real_shape(graph, id);
        tensor.logical = value.type.logical;
        tensor.logical.resize(tensor.shape.size());
        tensor.sharding = is_output ? local.graph.value(returned[id]).part->sharding : propagation.values[id];
        tensor.local_shape = local_shape(value.type.shape, tensor.sharding);
        tensor.bytes_per_device = element_count(tensor.local_shape) * byte_size(tensor.dtype);
        tensor.source = source_ref(sources, value.span);
        report.tensors.push_back(std::move(tensor));
    }
}

// Of what is moved, the dims of the whole that it is a layer of.
int dims_in_front(const Graph& graph, ValueId whole, const Graph& local, const Node& collective) {
    const Shape& part = local.value(collective.inputs[0]).part->global_shape;
    if (whole < 0) return 0;
    const Shape& shape = graph.value(whole).type.shape;
    const std::ptrdiff_t more = std::ssize(shape) - std::ssize(part);
    return more > 0 && std::equal(part.begin(), part.end(), shape.begin() + more) ? static_cast<int>(more) : 0;
}

CollectiveReport report_collective(const Start& start, i64 count, double seconds, const Plan& plan,
                                   const Hardware& hardware) {
    const Collective& collective = start.collective;
    const i64 bytes = plan.buffers[start.input].bytes;
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
    report.seconds = static_cast<double>(count) * seconds;
    for (const LinkLevel& level : levels_of(plan.mesh, hardware, collective.axes))
        report.links.push_back({level.link->name, level.n});
    report.source = start.source;
    return report;
}

// Of the type that most FLOPs of products are of.
void report_peak(Report& report, const Plan& plan, const Hardware& hardware) {
    std::map<DType, i64> flops_of_type;
    std::map<DType, double> rates;
    for_each_step(plan, [&](const Step& step, i64 count) {
        const Compute* const compute = std::get_if<Compute>(&step.variant_ref());
        if (compute == nullptr || !is_product(*compute->kernel)) return;
        std::vector<TensorType> types;
        for (const int input : compute->inputs) types.push_back(local_type(plan.buffers[static_cast<size_t>(input)]));
        const TensorType out = local_type(plan.buffers[static_cast<size_t>(compute->output)]);
        i64& all = flops_of_type[types[0].dtype];
        all = add_saturating(all, multiply_saturating(count, flops(*compute->kernel, types, out)));
        rates[types[0].dtype] = flop_rate(hardware, *compute->kernel, types[0].dtype) / hardware.flop_efficiency;
    });
    i64 most = 0;
    for (const auto& [dtype, flops] : flops_of_type) {
        if (flops <= most || rates[dtype] <= 0) continue;
        most = flops;
        report.peak_flops = rates[dtype];
        report.peak_dtype = name(dtype);
    }
}

} // namespace

void price(Plan& plan, const Graph& graph, const Local& local, const ScheduleMap& map, const Propagation& propagation,
           const Hardware& hardware, const Sources& sources, const Padding& padding) {
    Report report;
    report.model = plan.model;
    report.mode = plan.mode;
    report.hardware = hardware.name;
    report_tensors(report, graph, padding, local, propagation, sources);

    report.flops_per_device = flops_of(plan);
    report_peak(report, plan, hardware);
    const StepTime time = step_time(plan, hardware);
    const LocalNames names(graph, local);
    for_each_step(plan, [&](const Step& step, i64 count) {
        if (const Start* start = std::get_if<Start>(&step.variant_ref())) {
            const Node& node = local.graph.node(map.starts[start->token]);
            CollectiveReport collective =
                report_collective(*start, count, time.seconds.at(start->token), plan, hardware);
            collective.tensor = names.name(node);
            if (collective.dim >= 0) collective.dim += dims_in_front(graph, names.tensor(node), local.graph, node);
            if (node.origin >= 0) collective.op = op_name(graph.node(node.origin));
            collective.cause = node.reshard()->reason.cause;
            collective.remedy = node.reshard()->reason.remedy;
            report.collectives.push_back(std::move(collective));
        }
    });

    const MemoryUse use = memory_use(plan, contents_of_buffers(graph, local, map));
    report.memory = use.most;
    add_largest(report.memory, use, plan, report.tensors);
    report.memory.capacity = static_cast<i64>(hardware.memory_bytes);
    if (report.memory.host_peak > 0) report.memory.host_capacity = static_cast<i64>(hardware.host_memory_bytes);
    plan.padding = padding_cost(plan, graph, padding, local, map);
    report.time = time.report;
    report.compute_seconds = report.time.compute_seconds;
    report.diagnostics = std::move(plan.report.diagnostics);
    plan.report = std::move(report);
}

} // namespace shard
