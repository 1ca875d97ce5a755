#include "planner/optimize/in_place.h"

#include "planner/graph/graph_edit.h"
#include "planner/graph/verify_loops.h"
#include "planner/graph/view.h"
#include "planner/ops_support/move.h"
#include "planner/partition/local.h"
#include "plans/kernel/kernel_in_place.h"
#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_types.h"

#include <algorithm>
#include <map>
#include <set>

namespace shard {

namespace {

class Lander {
public:
    Lander(Graph& graph, int loop) : graph_(&graph), loop_(loop), begin_(loop < 0 ? -1 : graph.loops[loop].opens) {
        shows_.resize(graph.values.size());
        last_read_.assign(graph.values.size(), -1);
        for (size_t v = 0; v < shows_.size(); ++v) shows_[v] = static_cast<ValueId>(v);
        for (NodeId n = 0; n < static_cast<NodeId>(graph.nodes.size()); ++n) {
            const Node& node = graph.node(n);
            if (is_view(graph, node)) shows_[node.outputs[0]] = shown_by(node.inputs[0]);
            // What the loop yields is landed: that its end reads it says nothing.
            if (loop >= 0 && node.closes() == loop) continue;
            for (ValueId id : node.inputs) last_read_[shown_by(id)] = seen_from_here(n);
        }
    }

    // The value whose bytes this one is in.
    ValueId shown_by(ValueId id) const { return shows_[id]; }

    // Whether a loop that opens at `opens` may write over the value that it begins with.
    bool may_begin_in(ValueId init, NodeId opens) const {
        const NodeId producer = graph_->value(init).producer;
        const auto is_init = [&](ValueId id) { return shown_by(id) == init; };
        const std::vector<ValueId>& inits = graph_->node(opens).inputs;
        return producer >= 0 && graph_->node(producer).loop == loop_ && shown_by(init) == init &&
               (graph_->node(producer).kernel() || graph_->node(producer).collective()) && last_read_[init] <= opens &&
               std::count_if(inits.begin(), inits.end(), is_init) == 1 &&
               std::find(graph_->outputs.begin(), graph_->outputs.end(), init) == graph_->outputs.end();
    }
    ValueId copy_before(ValueId id, NodeId node) { return copy(id, node - 1, false); }

    // A copy of bytes that are overwritten: at the beginning, or where a view shows them.
    ValueId save(ValueId id) { return copy(id, std::max(begin_, graph_->value(id).producer), true); }

    void land(std::span<Landing> landings) {
        std::set<ValueId> overwritten, taken;
        for (const Landing& landing : landings)
            if (shown_by(landing.value) != landing.bytes) overwritten.insert(landing.bytes);
        for (Landing& landing : landings) {
            const ValueId shown = shown_by(landing.value);
            if (shown == landing.bytes) { // the same contents, in another shape at most on the way
                landing.value = landing.bytes;
                continue;
            }
            const bool early = overwritten.count(shown) > 0;
            const NodeId made = std::max(begin_, seen_from_here(graph_->value(landing.value).producer));
            if (early) landing.value = save(landing.value);
            if (early || !taken.insert(landing.value).second || !lands_directly(landing)) {
                landing.value = copy(landing.value, std::max(made, last_read_[landing.bytes]), false);
            }
            graph_->value(landing.value).role = graph_->value(landing.bytes).role;
        }
    }

    // Puts the copies where they belong; ids of nodes change.
    void insert_copies() {
        if (copies_.empty()) return;
        std::stable_partition(copies_.begin(), copies_.end(), [](const Copy& copy) { return copy.saves; });
        std::vector<Insertion> insertions;
        for (Copy& copy : copies_) insertions.push_back({copy.after, std::move(copy.node)});
        insert_nodes(*graph_, std::move(insertions));
    }

private:
    struct Copy {
        NodeId after; // -1: before all nodes
        bool saves;   // what other copies may overwrite, so it is before them
        Node node;
    };

    // A node of an inner loop happens until that loop ends.
    NodeId seen_from_here(NodeId n) const { return end_seen_from(*graph_, loop_, n); }

    ValueId copy(ValueId from, NodeId after, bool saves) {
        if (!names_) names_.emplace(*graph_);
        Value value = graph_->value(from);
        value.name = (*names_)(value.name + ".copied");
        value.role = Role::value;
        value.init.reset();
        value.decl = -1;
        value.loop = loop_;
        Node node;
        if (value.producer >= 0) {
            const Node& producer = graph_->node(value.producer);
            node.origin = producer.origin;
            node.scope = producer.scope;
        }
        node.span = value.span;
        node.inputs = {from};
        LocalMove move;
        move.move = copy_kernel(value.type);
        node.does = std::move(move);
        node.loop = loop_;
        value.producer = -1;
        const ValueId to = append_value(*graph_, std::move(value));
        node.outputs = {to};
        shows_.push_back(to);
        last_read_.push_back(-1);
        copies_.push_back({after, saves, std::move(node)});
        return to;
    }

    bool lands_directly(const Landing& landing) const {
        const NodeId producer = graph_->value(landing.value).producer;
        if (producer < 0 || last_read_[landing.bytes] > producer) return false;
        const Node& node = graph_->node(producer);
        if (node.loop != loop_ || (!node.kernel() && !node.collective()) || is_view(*graph_, node)) return false;
        const TensorType& type = graph_->value(landing.value).type;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            if (shown_by(node.inputs[i]) != landing.bytes) continue;
            const bool in_place = node.kernel()
                                      ? can_run_in_place(*node.kernel(), i, graph_->value(node.inputs[i]).type, type)
                                      : can_run_in_place(*node.collective());
            // In a loop it would be one buffer that sends and receives.
            if (!in_place || (node.collective() && loop_ >= 0)) return false;
        }
        return true;
    }

    Graph* graph_;
    int loop_;
    NodeId begin_; // after which the body begins
    std::vector<ValueId> shows_;
    std::vector<NodeId> last_read_; // of a value's bytes, views included
    std::vector<Copy> copies_;
    std::optional<FreshNames> names_; // from the first copy on
};

} // namespace

void land(Graph& graph, std::span<Landing> landings, int loop) {
    Lander lander(graph, loop);
    lander.land(landings);
    lander.insert_copies();
}

void land_carried(Local& local) {
    Graph& graph = local.graph;
    for (int l = static_cast<int>(graph.loops.size()); l-- > 0;) { // inner before outer
        GraphLoop& loop = graph.loops[l];
        if (loop.opens < 0) continue;
        Lander around(graph, loop.parent);
        for (size_t n = 0; n < loop.carried.size(); ++n) {
            ValueId& init = loop.carried[n].init;
            if (!around.may_begin_in(init, loop.opens)) init = around.copy_before(init, loop.opens);
            graph.nodes[loop.opens].inputs[n] = init;
        }
        around.insert_copies();
        std::vector<Landing> landings;
        for (const GraphLoop::Carried& carried : loop.carried) landings.push_back({carried.argument, carried.yield});
        land(graph, landings, l);
        for (size_t n = 0; n < landings.size(); ++n) {
            loop.carried[n].yield = landings[n].value;
            graph.nodes[loop.closes].inputs[n] = landings[n].value;
        }
    }
}

void land_updates(Local& local) {
    Graph& graph = local.graph;
    if (graph.updates.empty()) return;
    const std::vector<int> updates = updates_by_output(graph);
    Lander lander(graph, -1);
    std::vector<Landing> landings;
    std::set<ValueId> overwritten;
    for (const Update& update : graph.updates) {
        landings.push_back({update.input, update.output});
        if (lander.shown_by(update.output) != update.input) overwritten.insert(update.input);
    }
    lander.land(landings);
    for (size_t o = 0; o < graph.outputs.size(); ++o) {
        ValueId& output = graph.outputs[o];
        if (updates[o] >= 0)
            output = landings[updates[o]].value;
        else if (overwritten.count(lander.shown_by(output)) > 0)
            output = lander.save(output);
    }
    for (size_t u = 0; u < landings.size(); ++u) graph.updates[u].output = landings[u].value;
    lander.insert_copies();
}

} // namespace shard
