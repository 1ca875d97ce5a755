#include "planner/optimize/order_updates.h"

#include "planner/graph/graph_edit.h"
#include "planner/graph/users.h"
#include "planner/graph/view.h"
#include "planner/optimize/in_place.h"
#include "planner/partition/local.h"

#include <algorithm>
#include <set>

namespace shard {

namespace {

class Orderer {
public:
    explicit Orderer(Graph& graph) : graph_(&graph), kinds_(graph.nodes.size(), Kind::stays), readers_(graph) {}

    void run() {
        find_moving();
        if (std::find(kinds_.begin(), kinds_.end(), Kind::moves) == kinds_.end()) return;
        find_called();
        find_conditions();
        for (NodeId n = 0; n < count(); ++n) {
            if (node(n).opens() >= 0) emit_what_body_reads(n);
            if (kind(n) == Kind::stays) emit(n);
            // Nothing comes between the nodes of a loop.
            if (node(n).loop < 0 && node(n).opens() < 0) drain();
        }
        ready_.merge(held_back_);
        drain();
        for (NodeId n = 0; n < count(); ++n) emit(n); // those that wait for each other
        keep_nodes(*graph_, order_);
    }

private:
    enum class Kind {
        stays,
        moves,  // up, to where it can be
        called, // made when it is needed: a step count, a learning rate
    };

    NodeId count() const { return static_cast<NodeId>(graph_->nodes.size()); }
    const Node& node(NodeId n) const { return graph_->node(n); }
    Kind& kind(NodeId n) { return kinds_[n]; }
    NodeId producer(ValueId id) const { return graph_->value(id).producer; }
    // Loops stay in one piece.
    bool is_fixed(const Node& n) const { return n.loop >= 0 || n.opens() >= 0 || n.closes() >= 0; }

    // What depends on a gradient, in whatever form: a partial sum of it too.
    void find_moving() {
        reduces_.assign(graph_->nodes.size(), false);
        std::vector<bool> depends(graph_->values.size(), false);
        for (NodeId n = 0; n < count(); ++n) {
            const bool moves = std::any_of(node(n).inputs.begin(), node(n).inputs.end(), [&](ValueId id) {
                return depends[id] || graph_->value(id).role == Role::gradient;
            });
            for (ValueId id : node(n).outputs) depends[id] = moves;
            if (!moves || is_fixed(node(n))) continue;
            kind(n) = Kind::moves;
            reduces_[n] = node(n).collective() && !graph_->value(node(n).inputs[0]).part->sharding.partial.empty();
        }
    }

    // What is made of states alone, if something that moves needs it.
    void find_called() {
        std::vector<bool> of_states(graph_->values.size(), false), needed(graph_->nodes.size(), false);
        for (ValueId id : graph_->inputs) of_states[id] = graph_->value(id).role == Role::state;
        for (NodeId n = 0; n < count(); ++n) {
            const bool all =
                kind(n) == Kind::stays && !is_fixed(node(n)) &&
                std::all_of(node(n).inputs.begin(), node(n).inputs.end(), [&](ValueId id) { return of_states[id]; });
            for (ValueId id : node(n).outputs) of_states[id] = all;
        }
        for (NodeId n = count() - 1; n >= 0; --n) {
            if (kind(n) == Kind::stays && needed[n] && of_states[node(n).outputs[0]]) kind(n) = Kind::called;
            if (kind(n) == Kind::stays) continue;
            for (ValueId id : node(n).inputs)
                if (producer(id) >= 0) needed[producer(id)] = true;
        }
    }

    // A node waits for what it reads, and if it makes an update, for the readers of what it replaces.
    void find_conditions() {
        waits_for_.assign(graph_->nodes.size(), 0);
        unlocks_.resize(graph_->nodes.size());
        emitted_.assign(graph_->nodes.size(), false);
        const auto waits = [&](NodeId n, NodeId before) {
            if (kind(n) != Kind::moves || n == before || kind(before) == Kind::called) return;
            unlocks_[before].push_back(n);
            ++waits_for_[n];
        };
        for (NodeId n = 0; n < count(); ++n)
            for (ValueId id : node(n).inputs)
                if (producer(id) >= 0) waits(n, producer(id));
        for (const Update& update : graph_->updates)
            if (producer(update.output) >= 0)
                for_each_reader(update.input, [&](NodeId reader) { waits(producer(update.output), reader); });
    }

    // Views do not read, but show: their readers do.
    template<class Visit>
    void for_each_reader(ValueId id, const Visit& visit) const {
        for (NodeId reader : readers_[id]) {
            visit(reader);
            if (is_view(*graph_, node(reader))) for_each_reader(node(reader).outputs[0], visit);
        }
    }

    void emit(NodeId n) {
        if (emitted_[n]) return;
        emitted_[n] = true;
        for (ValueId id : node(n).inputs)
            if (producer(id) >= 0) emit(producer(id));
        order_.push_back(n);
        const bool reduces = reduces_[n];
        if (reduces) ready_.merge(held_back_);
        for (NodeId next : unlocks_[n])
            if (--waits_for_[next] == 0) (reduces && !reduces_[next] ? held_back_ : ready_).insert(next);
    }

    void emit_what_body_reads(NodeId opens) {
        const NodeId closes = graph_->loops[node(opens).opens()].closes;
        for (NodeId n = opens; n < closes; ++n)
            for (ValueId id : node(n).inputs)
                if (producer(id) >= 0 && producer(id) < opens) emit(producer(id));
    }

    void drain() {
        while (!ready_.empty()) emit(ready_.extract(ready_.begin()).value());
    }

    Graph* graph_;
    std::vector<Kind> kinds_;
    Users readers_;
    std::vector<bool> reduces_; // part of a gradient's reduction
    std::vector<int> waits_for_;
    std::vector<std::vector<NodeId>> unlocks_;
    std::set<NodeId> ready_, held_back_;
    std::vector<bool> emitted_;
    std::vector<NodeId> order_;
};

} // namespace

void order_updates(Local& local) {
    if (!local.graph.updates.empty()) Orderer(local.graph).run();
}

} // namespace shard
