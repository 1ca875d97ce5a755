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

struct Landing {
    ValueId bytes = -1; // what is overwritten
    ValueId value = -1; // of the same type, equal to `bytes` if nothing changes; afterwards the copy if there is one
};

// Lands in one body after another: of a loop, or of the graph that is in none.
class Lander {
public:
    Lander(Local& local, bool carried_are_landed)
        : graph_(&local.graph), apart_(local.apart), carried_are_landed_(carried_are_landed) {}

    // Which values are in whose bytes, and when those are read, in a loop's body; -1: in the graph. What another body
    // reads is not known then. Copies are not seen before they are inserted.
    void look_at(int loop) {
        loop_ = loop;
        begin_ = loop < 0 ? -1 : graph_->loops[loop].opens;
        const NodeId end = loop < 0 ? static_cast<NodeId>(graph_->nodes.size()) : graph_->loops[loop].closes;
        forget();
        for (NodeId n = begin_ + 1; n < end; ++n) {
            const Node& node = graph_->node(n);
            if (is_view(*graph_, node)) {
                shows_[node.outputs[0]] = shown_by(node.inputs[0]);
                seen_.push_back(node.outputs[0]);
            }
            for (ValueId id : node.inputs) {
                last_read_[shown_by(id)] = seen_from_here(n);
                seen_.push_back(shown_by(id));
            }
            // What a loop that begins in the bytes of an input leaves is in there.
            if (carried_are_landed_ && node.closes() >= 0)
                for (const GraphLoop::Carried& carried : graph_->loops[node.closes()].carried)
                    if (graph_->value(carried.init).producer < 0) {
                        shows_[carried.result] = shown_by(carried.init);
                        seen_.push_back(carried.result);
                    }
        }
        given_.clear();
        for (ValueId id : loop < 0 ? graph_->outputs : graph_->node(end).inputs) given_.insert(shown_by(id));
    }

    // The value whose bytes this one is in.
    ValueId shown_by(ValueId id) const { return shows_[id]; }

    // Whether a loop that opens at `opens` may write over the value that it begins with.
    bool may_begin_in(ValueId init, NodeId opens) const {
        if (apart_) return false;
        const NodeId producer = graph_->value(init).producer;
        const auto is_init = [&](ValueId id) { return shown_by(id) == init; };
        const std::vector<ValueId>& inits = graph_->node(opens).inputs;
        return producer >= 0 && graph_->node(producer).loop == loop_ && shown_by(init) == init &&
               (graph_->node(producer).kernel() || graph_->node(producer).collective()) && last_read_[init] <= opens &&
               std::count_if(inits.begin(), inits.end(), is_init) == 1 && given_.count(init) == 0;
    }
    // Whether it may write over an input, which is replaced by what the loop leaves of it.
    bool may_begin_in_input(const GraphLoop::Carried& carried, NodeId opens) const {
        const ValueId init = carried.init;
        if (apart_ || loop_ >= 0 || graph_->value(init).producer >= 0) return false;
        const auto is_of = [&](const Update& update) { return update.input == init; };
        const auto is_init = [&](ValueId id) { return shown_by(id) == init; };
        const std::vector<ValueId>& inits = graph_->node(opens).inputs;
        const std::vector<Update>& updates = graph_->updates;
        const auto update = std::find_if(updates.begin(), updates.end(), is_of);
        return update != updates.end() && update->output == carried.result && last_read_[init] <= opens &&
               std::count_if(inits.begin(), inits.end(), is_init) == 1 && given_.count(init) == 0;
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
            if (shown == landing.bytes) { // the same contents, in another shape at most on the way, or left by a loop
                if (!is_left_by_loop(landing.value)) landing.value = landing.bytes;
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

    // Puts the copies of all bodies where they belong; ids of nodes change.
    void insert_copies() {
        if (copies_.empty()) return;
        std::stable_partition(copies_.begin(), copies_.end(), [](const Copy& copy) { return copy.saves; });
        std::vector<Insertion> insertions;
        for (Copy& copy : copies_) insertions.push_back({copy.after, std::move(copy.node)});
        copies_.clear();
        insert_nodes(*graph_, std::move(insertions));
    }

private:
    struct Copy {
        NodeId after; // -1: before all nodes
        bool saves;   // what other copies may overwrite, so it is before them
        Node node;
    };

    // Makes room for the values that came since, too.
    void forget() {
        for (ValueId id : seen_) {
            shows_[id] = id;
            last_read_[id] = -1;
        }
        seen_.clear();
        while (shows_.size() < graph_->values.size()) add_value();
    }

    void add_value() {
        shows_.push_back(static_cast<ValueId>(shows_.size()));
        last_read_.push_back(-1);
    }

    bool is_left_by_loop(ValueId id) const {
        const NodeId producer = graph_->value(id).producer;
        return producer >= 0 && graph_->node(producer).closes() >= 0;
    }

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
        add_value();
        copies_.push_back({after, saves, std::move(node)});
        return to;
    }

    bool lands_directly(const Landing& landing) const {
        const NodeId producer = graph_->value(landing.value).producer;
        if (apart_ || producer < 0 || last_read_[landing.bytes] > producer) return false;
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
    bool apart_, carried_are_landed_;
    int loop_ = -1;
    NodeId begin_ = -1; // after which the body begins
    std::vector<ValueId> shows_;
    std::vector<NodeId> last_read_; // of a value's bytes, views included
    std::vector<ValueId> seen_;     // of which the two know something
    std::set<ValueId> given_;       // whose bytes hold what the body gives: read when it ends
    std::vector<Copy> copies_;
    std::optional<FreshNames> names_; // from the first copy on
};

// The loops that are there, by the loop that they are in, of each depth: inner before outer. Those of one depth do not
// see each other, and land together.
std::vector<std::map<int, std::vector<int>>> by_depth(const Graph& graph) {
    std::map<int, std::map<int, std::vector<int>>, std::greater<>> found;
    for (int l = 0; l < static_cast<int>(graph.loops.size()); ++l) {
        if (graph.loops[l].opens < 0) continue;
        int depth = 0;
        for (int around = graph.loops[l].parent; around >= 0; around = graph.loops[around].parent) ++depth;
        found[depth][graph.loops[l].parent].push_back(l);
    }
    std::vector<std::map<int, std::vector<int>>> all;
    for (auto& [depth, loops] : found) all.push_back(std::move(loops));
    return all;
}

} // namespace

void land_carried(Local& local) {
    Graph& graph = local.graph;
    Lander lander(local, false);
    const auto begin_all = [&](int around, const std::vector<int>& loops) {
        lander.look_at(around);
        for (int l : loops) {
            GraphLoop& loop = graph.loops[l];
            for (size_t n = 0; n < loop.carried.size(); ++n) {
                ValueId& init = loop.carried[n].init;
                if (!lander.may_begin_in(init, loop.opens) && !lander.may_begin_in_input(loop.carried[n], loop.opens))
                    init = lander.copy_before(init, loop.opens);
                graph.nodes[loop.opens].inputs[n] = init;
            }
        }
    };
    const auto land_one = [&](int l) {
        GraphLoop& loop = graph.loops[l];
        lander.look_at(l);
        std::vector<Landing> landings;
        for (const GraphLoop::Carried& carried : loop.carried) landings.push_back({carried.argument, carried.yield});
        lander.land(landings);
        for (size_t n = 0; n < landings.size(); ++n) {
            loop.carried[n].yield = landings[n].value;
            graph.nodes[loop.closes].inputs[n] = landings[n].value;
        }
    };
    for (const std::map<int, std::vector<int>>& loops : by_depth(graph)) {
        for (const auto& [around, in_it] : loops) begin_all(around, in_it);
        lander.insert_copies();
        for (const auto& [around, in_it] : loops) std::for_each(in_it.begin(), in_it.end(), land_one);
        lander.insert_copies();
    }
}

void land_updates(Local& local) {
    Graph& graph = local.graph;
    if (graph.updates.empty()) return;
    const std::vector<int> updates = updates_by_output(graph);
    Lander lander(local, true);
    lander.look_at(-1);
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
