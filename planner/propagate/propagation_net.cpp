#include "planner/propagate/propagation_net.h"

#include "planner/graph/users.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>

namespace shard {

namespace {

bool is_fully_closed(const Sharding& sharding) {
    return std::none_of(sharding.dims.begin(), sharding.dims.end(), [](const DimSharding& dim) { return dim.open; });
}

// Builds the net in steps: seeds, constraints, then links over what the uses read.
class NetMaker {
public:
    NetMaker(const Graph& graph, const Seeds& seeds) : graph_(graph), seeds_(seeds), users_(graph) {}

    PropagationNet make() {
        make_slots();
        for (const Node& node : graph_.nodes) reads_.emplace_back(node.inputs.begin(), node.inputs.end());
        for (size_t n = 0; n < graph_.nodes.size(); ++n)
            if (const Sharding* constraint = constraint_of(static_cast<NodeId>(n))) {
                redirect_chain(static_cast<NodeId>(n));
                apply_constraint(static_cast<NodeId>(n), *constraint);
            }
        make_links();
        make_outputs();
        return std::move(net_);
    }

private:
    const Sharding* constraint_of(NodeId node) const {
        const size_t n = node;
        return n < seeds_.constraints.size() && seeds_.constraints[n] ? &*seeds_.constraints[n] : nullptr;
    }
    Slot& slot(int index) { return net_.slots[index]; }

    void seed(int index, const Sharding& sharding) {
        const std::vector<AxisRef> kept_off = slot(index).seed.replicated;
        slot(index).seed = without_unit_axes(sharding);
        slot(index).seed.replicated.insert(slot(index).seed.replicated.end(), kept_off.begin(), kept_off.end());
        slot(index).seeded = true;
    }

    void make_slots() {
        for (size_t v = 0; v < graph_.values.size(); ++v) {
            Slot slot;
            slot.value = static_cast<ValueId>(v);
            slot.seed = open_sharding(graph_.values[v].type.rank());
            net_.slots.push_back(std::move(slot));
            keep_off(static_cast<int>(v));
            if (v < seeds_.values.size() && seeds_.values[v]) seed(static_cast<int>(v), *seeds_.values[v]);
        }
        for (size_t n = 0; n < graph_.nodes.size(); ++n)
            if (const Sharding* constraint = constraint_of(static_cast<NodeId>(n)))
                for (ValueId output : graph_.nodes[n].outputs)
                    if (!slot(output).seeded) seed(output, *constraint);
    }

    // Local values of a manual region have no axis of the region left to use.
    void keep_off(int index) {
        const int region = graph_.values[index].region;
        if (region < 0) return;
        slot(index).seed.replicated = graph_.regions[region].axes;
        slot(index).seed = without_unit_axes(slot(index).seed);
    }

    // In a chain y = c(x), z = c(y), with nothing else reading y, later readers of x mean the end of the chain.
    void redirect_chain(NodeId head) {
        const ValueId input = graph_.node(head).inputs[0];
        const NodeId producer = graph_.value(input).producer;
        if ((producer >= 0 && constraint_of(producer) != nullptr) || slot(input).seeded) return;
        if (constrained_elsewhere(input, head)) return;
        NodeId tail = head;
        while (const std::optional<NodeId> next = only_user(graph_.node(tail).outputs[0])) {
            if (constraint_of(*next) == nullptr) break;
            tail = *next;
        }
        const ValueId end = graph_.node(tail).outputs[0];
        if (tail == head || constrained_elsewhere(end, -1)) return;
        for (NodeId user : users_[input]) {
            if (user <= tail) continue; // nodes are in topological order
            for (int& read : reads_[user])
                if (read == input) read = end;
        }
    }
    std::optional<NodeId> only_user(ValueId value) const {
        const std::span<const NodeId> users = users_[value];
        const bool returned = std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end();
        if (users.size() != 1 || returned) return std::nullopt;
        return users[0];
    }
    bool constrained_elsewhere(ValueId value, NodeId except) const {
        const std::span<const NodeId> users = users_[value];
        return std::any_of(users.begin(), users.end(),
                           [&](NodeId user) { return user != except && constraint_of(user) != nullptr; });
    }

    void apply_constraint(NodeId node, const Sharding& constraint) {
        const ValueId input = graph_.node(node).inputs[0];
        if (slot(input).seeded || !is_fully_closed(constraint)) return;
        for (NodeId user : users_[input])
            if (const Sharding* other = constraint_of(user); other != nullptr && *other != constraint) return;
        seed(input, constraint);
        for (size_t d = 0; d < constraint.dims.size(); ++d) {
            if (constraint.dims[d].axes.empty()) continue;
            Decision decision;
            decision.value = input;
            decision.dim = static_cast<int>(d);
            decision.axes = constraint.dims[d].axes;
            decision.cause = Decision::Cause::constraint;
            decision.node = node;
            decision.from = graph_.node(node).outputs[0];
            decision.span = graph_.node(node).span;
            net_.log.push_back(std::move(decision));
        }
    }

    void make_links() {
        // Uses after redirection; being returned is a use too.
        std::vector<int> uses(net_.slots.size());
        for (const std::vector<int>& slots : reads_)
            for (int index : slots) ++uses[index];
        for (ValueId output : graph_.outputs) ++uses[output];

        net_.links_of.resize(net_.slots.size());
        for (size_t n = 0; n < graph_.nodes.size(); ++n) {
            const Node& node = graph_.nodes[n];
            if (node.opens() >= 0) add_loop_links(static_cast<NodeId>(n), uses);
            if (node.op() == nullptr) continue;
            PropagationLink link;
            link.node = static_cast<NodeId>(n);
            link.rule = net_.rules.rule_of(graph_, node);
            link.operands = reads_[n];
            link.results.assign(node.outputs.begin(), node.outputs.end());
            link.traits.op_class = node.op()->op_class;
            if (link.rule < 0) continue;
            const std::vector<PropagationLink> broadcasts = take_broadcasts(link);
            add_link(std::move(link), uses);
            for (const PropagationLink& broadcast : broadcasts) add_link(broadcast, uses);
        }
    }

    // What a loop carries is one value in four places, and what it collects has the sharding of a trip's part
    // (docs/propagation.md).
    void add_loop_links(NodeId opens, const std::vector<int>& uses) {
        const GraphLoop& loop = graph_.loops[graph_.node(opens).opens()];
        const std::vector<int>&inits = reads_[opens], &reads = reads_[loop.closes];
        const auto tie = [&](NodeId node, std::vector<int> from, std::vector<int> to, size_t new_dims) {
            std::vector<TensorType> operands, results;
            for (int index : from) {
                operands.push_back(type_of(index));
                operands.back().shape.insert(operands.back().shape.begin(), new_dims, 1);
            }
            for (int index : to) results.push_back(type_of(index));
            PropagationLink link;
            link.node = node;
            IndexRule rule = pointwise_rule(operands, results);
            for (TensorFactors& factors : rule.operands)
                factors.erase(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(new_dims));
            link.rule = net_.rules.add(std::move(rule));
            link.operands = std::move(from);
            link.results = std::move(to);
            link.traits.op_class = OpDef::Class::pointwise;
            add_link(std::move(link), uses);
        };
        size_t next = 0;
        for (size_t n = 0; n < loop.carried.size(); ++n, ++next)
            tie(opens, {inits[n], reads[next]}, {loop.carried[n].argument, loop.carried[n].result}, 0);
        for (const GraphLoop::Sum& sum : loop.sums) tie(loop.closes, {reads[next++]}, {sum.result}, 0);
        for (const GraphLoop::Stack& stack : loop.stacks) tie(loop.closes, {reads[next++]}, {stack.result}, 1);
    }

    // Operands that a pointwise op repeats along dims they lack are broadcasts, whether the model says so or not: they
    // follow the result and lead only at the end. Otherwise the sharding of a norm's scale would decide that of the
    // activations.
    std::vector<PropagationLink> take_broadcasts(PropagationLink& link) {
        std::vector<PropagationLink> broadcasts;
        if (link.traits.op_class != OpDef::Class::pointwise) return broadcasts;
        const TensorType& result = type_of(link.results[0]);
        std::vector<int> whole;
        std::vector<TensorType> types;
        for (int operand : link.operands) {
            const TensorType& type = type_of(operand);
            if (type.shape == result.shape || type.shape.empty()) {
                whole.push_back(operand);
                types.push_back(type);
                continue;
            }
            PropagationLink broadcast = link;
            broadcast.operands = {operand};
            broadcast.rule = net_.rules.add(pointwise_rule(std::span(&type, 1), std::span(&result, 1)));
            broadcast.traits.op_class = OpDef::Class::broadcast;
            broadcasts.push_back(std::move(broadcast));
        }
        if (broadcasts.empty()) return broadcasts;
        link.operands = std::move(whole);
        link.rule = net_.rules.add(pointwise_rule(types, std::span(&result, 1)));
        return broadcasts;
    }

    void add_link(PropagationLink link, const std::vector<int>& uses) {
        link.traits.shared_operand = std::any_of(link.operands.begin(), link.operands.end(), [&](int index) {
            return !slot(index).seed.dims.empty() && uses[index] > 1;
        });
        const int id = static_cast<int>(net_.links.size());
        // Nodes are in topological order, so the producer's link comes first (but for what a loop yields).
        for (const std::vector<int>* side : {&link.operands, &link.results})
            for (int index : *side) {
                std::vector<int>& links = net_.links_of[index];
                if (links.empty() || links.back() != id) links.push_back(id);
            }
        net_.links.push_back(std::move(link));
    }

    const TensorType& type_of(int index) { return graph_.value(slot(index).value).type; }

    void make_outputs() {
        for (size_t o = 0; o < graph_.outputs.size(); ++o) {
            net_.output_slots.push_back(-1);
            if (o >= seeds_.outputs.size() || !seeds_.outputs[o]) continue;
            const int index = static_cast<int>(net_.slots.size());
            Slot output;
            output.value = graph_.outputs[o];
            output.is_output = true;
            net_.slots.push_back(std::move(output));
            seed(index, *seeds_.outputs[o]);
            net_.links_of.emplace_back();
            net_.output_slots.back() = index;

            const TensorType& type = graph_.value(graph_.outputs[o]).type;
            PropagationLink link;
            link.rule = net_.rules.add(pointwise_rule(std::span(&type, 1), std::span(&type, 1)));
            link.operands = {graph_.outputs[o]};
            link.results = {index};
            net_.output_links.push_back(std::move(link));
        }
    }

    const Graph& graph_;
    const Seeds& seeds_;
    Users users_;
    std::vector<std::vector<int>> reads_; // by node: the slot of each operand
    PropagationNet net_;
};

} // namespace

PropagationNet make_net(const Graph& graph, const Seeds& seeds) { return NetMaker(graph, seeds).make(); }

} // namespace shard
