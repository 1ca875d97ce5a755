#include "planner/price/padding_report.h"

#include "planner/price/time_report.h"
#include "plans/base/saturating.h"
#include "plans/plan/plan_check_types.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace shard {

namespace {

// By local value, of the global value that it is a form of: how much of each dim is real; nothing of what is not padded.
using Shares = std::vector<std::vector<double>>;

Shares shares_of(const Graph& graph, const Padding& padding, const Local& local) {
    Shares shares(local.graph.values.size());
    const auto note = [&](ValueId global, ValueId id) {
        const Shape &whole = graph.value(global).type.shape, &real = padding.real_shape(graph, global);
        if (!padding.is_padded(global) || local.graph.value(id).part->global_shape != whole) return;
        std::vector<double>& of = shares[static_cast<size_t>(id)];
        of.clear();
        for (size_t d = 0; d < whole.size(); ++d)
            of.push_back(static_cast<double>(real[d]) / static_cast<double>(whole[d]));
    };
    for (size_t v = 0; v < local.value_of.size(); ++v)
        if (local.value_of[v] >= 0) note(static_cast<ValueId>(v), local.value_of[v]);
    // What is moved on the way has the form of what it was.
    for (const Node& node : local.graph.nodes) {
        if (node.op() != nullptr && node.origin >= 0 && node.outputs.size() == 1 &&
            graph.node(node.origin).outputs.size() == 1)
            note(graph.node(node.origin).outputs[0], node.outputs[0]);
        if (node.reshard() == nullptr || !shares[static_cast<size_t>(node.outputs[0])].empty()) continue;
        shares[static_cast<size_t>(node.outputs[0])] = shares[static_cast<size_t>(node.inputs[0])];
    }
    return shares;
}

class Cost {
public:
    Cost(const Plan& plan, const Shares& shares, const ScheduleMap& map)
        : plan_(plan), by_buffer_(plan.buffers.size()) {
        for (size_t b = 0; b < map.values.size(); ++b)
            for (const ValueId id : map.values[b])
                if (!shares[static_cast<size_t>(id)].empty()) by_buffer_[b] = shares[static_cast<size_t>(id)];
    }

    PaddingCost total() const {
        PaddingCost cost;
        for (const PlanInput& input : plan_.inputs)
            cost.bytes = add_saturating(cost.bytes, padding_of(buffer(input.buffer).bytes, share(input.buffer)));
        for_each_step(plan_, [&](const Step& step, i64 count) {
            const Compute* const compute = std::get_if<Compute>(&step.variant_ref());
            if (compute == nullptr) return;
            std::vector<TensorType> types;
            for (const int input : compute->inputs) types.push_back(local_type(buffer(input)));
            const i64 of_one = flops(*compute->kernel, types, local_type(buffer(compute->output)));
            cost.flops = add_saturating(cost.flops, padding_of(multiply_saturating(count, of_one), share(*compute)));
        });
        return cost;
    }

private:
    const Buffer& buffer(int id) const { return plan_.buffers[static_cast<size_t>(id)]; }
    static i64 padding_of(i64 count, double real) { return std::llround(static_cast<double>(count) * (1 - real)); }

    double share(int id) const {
        double product = 1;
        for (const double of : by_buffer_[static_cast<size_t>(id)]) product *= of;
        return product;
    }

    double share(const Compute& compute) const {
        if (const Contract* const contract = std::get_if<Contract>(&*compute.kernel)) {
            std::map<int, double> of_labels;
            const auto note = [&](int id, const std::vector<int>& labels) {
                const std::vector<double>& dims = by_buffer_[static_cast<size_t>(id)];
                for (size_t d = 0; d < dims.size(); ++d) {
                    double& of = of_labels.try_emplace(labels[d], 1).first->second;
                    of = std::min(of, dims[d]);
                }
            };
            note(compute.inputs[0], contract->lhs);
            note(compute.inputs[1], contract->rhs);
            double product = 1;
            for (const auto& [label, of] : of_labels) product *= of;
            return product;
        }
        int largest = compute.output;
        for (const int input : compute.inputs)
            if (buffer(input).bytes > buffer(largest).bytes) largest = input;
        return share(largest);
    }

    const Plan& plan_;
    std::vector<std::vector<double>> by_buffer_;
};

} // namespace

PaddingCost padding_cost(const Plan& plan, const Graph& graph, const Padding& padding, const Local& local,
                         const ScheduleMap& map) {
    if (padding.unpadded.empty()) return {};
    const Shares shares = shares_of(graph, padding, local);
    return Cost(plan, shares, map).total();
}

} // namespace shard
