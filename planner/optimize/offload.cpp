#include "planner/optimize/offload.h"

#include "planner/graph/graph_edit.h"
#include "planner/graph/op_def.h"
#include "planner/graph/users.h"
#include "planner/graph/view.h"
#include "planner/ops_support/move.h"

#include <algorithm>
#include <numeric>

namespace shard {

namespace {

class Offloader {
public:
    explicit Offloader(Local& local) : local_(&local), graph_(&local.graph), op_(find_op("host_copy")) {}

    void run() {
        const bool waits = std::any_of(graph_->nodes.begin(), graph_->nodes.end(),
                                       [this](const Node& node) { return node.op() == op_; });
        const bool stays = std::any_of(graph_->inputs.begin(), graph_->inputs.end(),
                                       [this](ValueId id) { return graph_->value(id).on_host; });
        if (!waits && !stays) return;
        names_.emplace(*graph_);
        if (waits) move_kept();
        if (stays) move_states();
    }

private:
    const Node* producer(ValueId id) const {
        const NodeId n = graph_->value(id).producer;
        return n < 0 ? nullptr : &graph_->node(n);
    }
    static bool takes_entry(const Node& node) {
        return node.op() != nullptr && node.op()->of_stack == OpDef::OfStack::takes_entry;
    }

    // --- values of the forward pass ---

    void move_kept() {
        readers_ = Users(*graph_);
        std::vector<ValueId> stands_for(graph_->values.size());
        std::iota(stands_for.begin(), stands_for.end(), 0);
        std::vector<NodeId> kept;
        std::vector<std::pair<ValueId, NodeId>> copies; // what waits, and who reads it first when it is back
        for (NodeId n = 0; n < static_cast<NodeId>(graph_->nodes.size()); ++n) {
            const Node& node = graph_->node(n);
            if (node.op() != op_) {
                kept.push_back(n);
                continue;
            }
            stands_for[node.outputs[0]] = node.inputs[0];
            const Entry entry = entry_of(node.inputs[0]);
            if (entry.stack >= 0)
                put_on_host(entry.stack);
            else if (!entry.is_one) {
                stands_for[node.outputs[0]] = node.outputs[0];
                copies.emplace_back(node.inputs[0], n);
                kept.push_back(n);
            }
        }
        replace_uses(*graph_, stands_for);
        for (ValueId& id : local_->value_of)
            if (id >= 0) id = stands_for[id];
        std::vector<Insertion> insertions;
        for (const auto& [id, n] : copies) copy_between(id, n, insertions);
        // Insertions stand behind nodes that stay where they are until then.
        const std::vector<NodeId> moved = insert_nodes(*graph_, std::move(insertions));
        std::vector<bool> gone(graph_->nodes.size());
        for (NodeId n : moved) gone[n] = true;
        for (NodeId n : kept) gone[moved[n]] = false;
        kept.clear();
        for (NodeId n = 0; n < static_cast<NodeId>(gone.size()); ++n)
            if (!gone[n]) kept.push_back(n);
        const Moved left = keep_nodes(*graph_, kept);
        for (ValueId& id : local_->value_of)
            if (id >= 0) id = left.values[id];
    }

    // Whether a value is an entry of what a loop stacked up, and of which stack; -1 if others read that too.
    struct Entry {
        bool is_one = false;
        ValueId stack = -1;
    };
    Entry entry_of(ValueId id) const {
        Entry entry;
        for (const Node* node = producer(id); node != nullptr; node = producer(id)) {
            if (node->closes() >= 0) {
                const auto takes = [this](NodeId reader) { return takes_entry(graph_->node(reader)); };
                if (entry.is_one && std::all_of(readers_[id].begin(), readers_[id].end(), takes)) entry.stack = id;
                return entry;
            }
            const bool passes = node->reshard() != nullptr || is_view(*graph_, *node);
            entry.is_one = entry.is_one || takes_entry(*node);
            if (!passes && !takes_entry(*node)) return entry;
            id = node->inputs[0];
        }
        return entry;
    }

    void put_on_host(ValueId stack) {
        const Node& closes = *producer(stack);
        for (const GraphLoop::Carried& carried : graph_->loops[closes.closes()].carried) {
            if (carried.result != stack) continue;
            for (ValueId id : {carried.init, carried.argument, carried.yield, carried.result})
                graph_->value(id).on_host = true;
        }
    }

    // If the value comes to the reader by collectives of its own, what is sent waits on the host, and is sent when it is
    // back.
    void copy_between(ValueId id, NodeId reader, std::vector<Insertion>& insertions) {
        NodeId first = reader; // that reads it when it is back
        for (const Node* node = producer(id); node != nullptr && node->reshard() != nullptr && readers_[id].size() == 1;
             node = producer(id)) {
            first = graph_->value(id).producer;
            id = node->inputs[0];
        }
        const NodeId made = graph_->value(id).producer;
        if (made < 0 || graph_->node(made).opens() >= 0) return; // it is there anyway
        const ValueId host = add(id, ".host", true);
        insertions.push_back({made, copy(id, host, made)});
        if (first == reader) {
            graph_->nodes[reader].inputs = {host};
            return;
        }
        const ValueId back = add(id, ".fetched", false);
        insertions.push_back({first - 1, copy(host, back, first)});
        graph_->nodes[first].inputs = {back};
    }

    // --- states ---

    void move_states() {
        readers_ = Users(*graph_);
        std::vector<Insertion> insertions;
        const std::vector<int> updates = updates_by_output(*graph_);
        for (ValueId id : graph_->inputs) {
            if (!graph_->value(id).on_host || readers_[id].empty()) continue;
            const NodeId first = outside_loops(*std::min_element(readers_[id].begin(), readers_[id].end()));
            const ValueId fetched = add(id, ".fetched", false);
            insertions.push_back({first - 1, copy(id, fetched, first)});
            for (NodeId reader : readers_[id])
                std::replace(graph_->nodes[reader].inputs.begin(), graph_->nodes[reader].inputs.end(), id, fetched);
            for (GraphLoop& loop : graph_->loops)
                for (GraphLoop::Carried& carried : loop.carried)
                    if (carried.init == id) carried.init = fetched;
        }
        for (size_t o = 0; o < graph_->outputs.size(); ++o) {
            if (updates[o] < 0) continue;
            Update& update = graph_->updates[updates[o]];
            const NodeId made = graph_->value(update.output).producer;
            if (!graph_->value(update.input).on_host || made < 0) continue;
            const ValueId host = add(update.output, ".host", true);
            insertions.push_back({made, copy(update.output, host, made)});
            graph_->outputs[o] = update.output = host;
        }
        insert_nodes(*graph_, std::move(insertions));
    }

    // The node, or the beginning of the outermost loop that it stands in.
    NodeId outside_loops(NodeId n) const {
        int loop = graph_->node(n).loop;
        while (loop >= 0 && graph_->loops[loop].parent >= 0) loop = graph_->loops[loop].parent;
        return loop < 0 ? n : graph_->loops[loop].opens;
    }

    // --- both ---

    ValueId add(ValueId of, std::string_view suffix, bool on_host) {
        Value value = graph_->value(of);
        value.name = (*names_)(value.name + std::string(suffix));
        value.role = Role::value;
        value.on_host = on_host;
        value.init.reset();
        value.decl = value.producer = -1;
        return append_value(*graph_, std::move(value));
    }

    // In the loop, and at the place in the model, of another node.
    Node copy(ValueId from, ValueId to, NodeId at) const {
        const Node& beside = graph_->node(at);
        Node node;
        Apply apply;
        apply.op = op_;
        apply.kernel = copy_kernel(graph_->value(from).type);
        node.does = std::move(apply);
        node.inputs = {from};
        node.outputs = {to};
        node.scope = beside.scope;
        node.span = beside.span;
        node.origin = beside.origin;
        node.loop = beside.loop;
        return node;
    }

    Local* local_;
    Graph* graph_;
    const OpDef* op_;
    Users readers_;
    std::optional<FreshNames> names_;
};

} // namespace

void offload(Local& local) { Offloader(local).run(); }

} // namespace shard
