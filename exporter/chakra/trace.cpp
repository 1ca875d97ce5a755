#include "exporter/chakra/trace.h"

#include "plans/kernel/kernel_cost.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace shard {

namespace {

class Tracer {
public:
    explicit Tracer(const Plan& plan) : plan_(plan) {}

    // False beyond most_nodes.
    bool add(const std::vector<Step>& steps) {
        return std::all_of(steps.begin(), steps.end(), [this](const Step& step) {
            return std::visit([this](const auto& each) { return add(each); }, step.variant_ref());
        });
    }

    Trace trace;

private:
    bool add(const Compute& step) {
        std::vector<TensorType> types;
        int in_place = -1;
        for (size_t n = 0; n < step.inputs.size(); ++n) {
            types.push_back(type_of(step.inputs[n]));
            if (root(step.inputs[n]) == root(step.output)) in_place = static_cast<int>(n);
        }
        const TensorType result = type_of(step.output);
        TraceNode node = node_of(TraceNode::Kind::compute, step.op, step.output, step.source);
        node.operands = writers_of(step.inputs);
        node.flops = flops(*step.kernel, types, result);
        node.bytes = kernel_bytes(*step.kernel, types, result, in_place);
        const std::uint64_t id = push(std::move(node));
        last_compute_ = id;
        waited_.clear();
        writers_[root(step.output)] = {id};
        return fits();
    }

    bool add(const Start& step) {
        TraceNode node = node_of(TraceNode::Kind::collective, step.collective.def->name, step.output, step.source);
        node.operands = writers_of({step.input});
        node.bytes = buffer(step.input).bytes;
        node.start = &step;
        std::vector<std::uint64_t> ids;
        if (step.collective.def->uses.orders) {
            node.kind = TraceNode::Kind::send;
            ids.push_back(push(node));
            node.kind = TraceNode::Kind::receive;
            node.operands.clear();
            ids.push_back(push(std::move(node)));
        } else {
            node.group = group_over(step.collective.axes);
            ids.push_back(push(std::move(node)));
        }
        writers_[root(step.output)] = ids;
        running_[step.token] = std::move(ids);
        return fits();
    }

    bool add(const Wait& step) {
        const std::vector<std::uint64_t>& ids = running_.at(step.token);
        waited_.insert(waited_.end(), ids.begin(), ids.end());
        return true;
    }

    bool add(const Loop& loop) {
        trips_.push_back(0);
        for (i64& trip = trips_.back(); trip < loop.trips; ++trip)
            if (++begun_trips_ > most_nodes || !add(loop.body)) return false;
        trips_.pop_back();
        return true;
    }

    bool add(const Release&) { return true; }

    TraceNode node_of(TraceNode::Kind kind, std::string_view what, int output, const SourceRef& source) const {
        TraceNode node;
        node.kind = kind;
        node.name = fmt::format("{} {}", what, buffer(output).name);
        for (i64 trip : trips_) node.name += fmt::format("[{}]", trip);
        node.source = source;
        return node;
    }

    // What has ended when it begins: the last step, and what was waited for since.
    std::uint64_t push(TraceNode node) {
        if (last_compute_ != 0) node.before.push_back(last_compute_);
        node.before.insert(node.before.end(), waited_.begin(), waited_.end());
        const auto is_operand = [&](std::uint64_t id) {
            return std::find(node.operands.begin(), node.operands.end(), id) != node.operands.end();
        };
        node.before.erase(std::remove_if(node.before.begin(), node.before.end(), is_operand), node.before.end());
        trace.nodes.push_back(std::move(node));
        return trace.nodes.size() - 1 + Trace::first_id;
    }

    bool fits() const { return trace.nodes.size() <= most_nodes; }

    std::vector<std::uint64_t> writers_of(const std::vector<int>& buffers) const {
        std::vector<std::uint64_t> ids;
        for (int each : buffers)
            if (const auto found = writers_.find(root(each)); found != writers_.end())
                ids.insert(ids.end(), found->second.begin(), found->second.end());
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        return ids;
    }

    size_t group_over(const std::vector<AxisRef>& axes) {
        const auto found = std::find(trace.groups.begin(), trace.groups.end(), axes);
        if (found != trace.groups.end()) return static_cast<size_t>(found - trace.groups.begin());
        trace.groups.push_back(axes);
        return trace.groups.size() - 1;
    }

    const Buffer& buffer(int id) const { return plan_.buffers[static_cast<size_t>(id)]; }
    int root(int id) const { return root_of(plan_.buffers, id); }
    TensorType type_of(int id) const { return {buffer(id).dtype, buffer(id).shape, {}}; }

    const Plan& plan_;
    std::map<int, std::vector<std::uint64_t>> writers_; // by root: who wrote it last
    std::map<int, std::vector<std::uint64_t>> running_; // by token
    std::vector<std::uint64_t> waited_;                 // since the last step
    std::uint64_t last_compute_ = 0;                    // none
    std::vector<i64> trips_;                            // of the loops around
    size_t begun_trips_ = 0;                            // of all loops
};

} // namespace

std::optional<Trace> trace_of(const Plan& plan, Diagnostics& diagnostics) {
    if (plan.mesh.device_count() > most_devices) {
        diagnostics
            .error("E0509", {},
                   fmt::format("a trace is a file for each device: there are {}, and at most {} are written",
                               plan.mesh.device_count(), most_devices))
            .help("plan for fewer devices, as for one pod of several");
        return std::nullopt;
    }
    Tracer tracer(plan);
    if (tracer.add(plan.steps)) return std::move(tracer.trace);
    diagnostics
        .error("E0509", {}, fmt::format("a device does more than {} steps, which no trace has room for", most_nodes))
        .help("loops are written out in a trace: plan fewer layers, or fewer trips");
    return std::nullopt;
}

} // namespace shard
