#include "planner/partition/local_names.h"

#include "planner/graph/op_def.h"
#include "planner/graph/view.h"
#include "planner/partition/gradient_sums.h"
#include "planner/partition/local.h"
#include "planner/rewrite/gather_parameters.h"
#include "plans/base/index_of.h"

#include <algorithm>

namespace shard {

LocalNames::LocalNames(const Graph& graph, const Local& local)
    : graph_(&graph), local_(&local), users_(local.graph), home_(local.graph.values.size(), -1),
      gradient_(gradients_of_parts(graph)), holds_gradient_(local.graph.values.size()) {
    const auto is_part = [this](ValueId global) { return gradient_[global] >= 0; };
    for (ValueId id = 0; id < static_cast<ValueId>(local.value_of.size()); ++id) {
        const ValueId at = local.value_of[id];
        if (at < 0) continue;
        if (home_[at] < 0) home_[at] = id;
        if (is_part(id)) holds_gradient_[at] = true;
    }
    // A local loop carries what the loop adds up and stacks, after what that carries itself.
    for (size_t l = 0; l < graph.loops.size(); ++l) {
        const GraphLoop& loop = graph.loops[l];
        std::vector<ValueId> made;
        for (const GraphLoop::Carried& carried : loop.carried) made.push_back(carried.result);
        for (const GraphLoop::Sum& sum : loop.sums) made.push_back(sum.result);
        for (const GraphLoop::Stack& stack : loop.stacks) made.push_back(stack.result);
        const std::vector<GraphLoop::Carried>& carries = local.graph.loops[l].carried;
        for (size_t n = loop.carried.size(); n < carries.size(); ++n)
            if (is_part(made[n]))
                for (ValueId id : {carries[n].init, carries[n].argument, carries[n].yield, carries[n].result})
                    holds_gradient_[id] = true;
    }
}

Content LocalNames::content(ValueId local) const {
    if (holds_gradient_[local]) return Content::gradient;
    return is_home(local) ? Content::value : Content::copy;
}

ValueId LocalNames::tensor(const Node& collective) const {
    if (collective.reshard()->gather_phase && is_parameter_gather(graph_->node(collective.origin)))
        return gathered_parameter(*graph_, graph_->node(collective.origin));
    for (ValueId id : {collective.outputs[0], collective.inputs[0]})
        if (is_home(id)) return whole(id);
    for (ValueId id = collective.inputs[0]; id >= 0; id = before(id))
        if (is_home(id)) return whole(id);
    for (ValueId id = collective.outputs[0]; id >= 0; id = after(id))
        if (is_home(id)) return whole(id);
    return -1;
}

const std::string& LocalNames::name(const Node& collective) const {
    const ValueId id = tensor(collective);
    return id >= 0 ? graph_->value(id).name : local_->graph.value(collective.outputs[0]).name;
}

ValueId LocalNames::whole(ValueId local) const {
    const ValueId home = home_[local], gradient = gradient_[home];
    return gradient >= 0 ? gradient : home;
}

// Along collectives, and parts and other shapes of the same value: past any other step it is another one.
ValueId LocalNames::before(ValueId local) const {
    const NodeId producer = local_->graph.value(local).producer;
    if (producer < 0) return -1;
    const Node& node = local_->graph.node(producer);
    const bool is_part = node.op() != nullptr && node.op()->of_stack == OpDef::OfStack::takes_entry;
    return node.collective() || is_part || is_view(local_->graph, node) ? node.inputs[0] : -1;
}

// What a loop's end reads is the value in the same place behind it.
ValueId LocalNames::after(ValueId local) const {
    const std::span<const NodeId> users = users_[local];
    if (users.empty()) return -1;
    const Node& user = local_->graph.node(users.front());
    if (!is_marker(user)) return user.outputs[0];
    return user.outputs[index_of(user.inputs, local)];
}

} // namespace shard
