#include "planner/recompute.h"

#include <map>
#include <numeric>
#include <set>

namespace shard {

namespace {

// A value this much smaller than one that it helps to compute may be kept in its place.
constexpr i64 much_smaller = 8;
// Longer chains are kept where they end.
constexpr int longest_chain = 32;

bool is_cheap(const Node& node) {
    if (node.constraint_mesh || !node.constraint_logical.empty()) return false; // it may cost a collective
    return node.op->op_class == OpDef::Class::pointwise || node.op->op_class == OpDef::Class::broadcast ||
           node.op->op_class == OpDef::Class::constant;
}

class Recomputation {
public:
    Recomputation(Builder& builder, NodeId backward)
        : builder_(builder), graph_(builder.graph()), backward_(backward), read_(graph_.values.size()),
          kept_(graph_.values.size()), copy_(graph_.values.size(), -1) {}

    void run() {
        find_kept();
        for (ValueId id = 0; id < static_cast<ValueId>(read_.size()); ++id)
            if (at(read_, id) && !at(kept_, id)) choose(id);
        keep_what_several_come_from();
        insert_copies();
    }

private:
    static bool at(const std::vector<bool>& flags, ValueId id) { return flags[static_cast<size_t>(id)]; }
    bool is_forward(ValueId id) const {
        const NodeId producer = graph_.value(id).producer;
        return producer >= 0 && producer < backward_;
    }

    void find_kept() {
        for (size_t n = static_cast<size_t>(backward_); n < graph_.nodes.size(); ++n)
            for (ValueId id : graph_.nodes[n].inputs) {
                if (!is_forward(id)) continue;
                read_[static_cast<size_t>(id)] = true;
                if (!is_cheap(graph_.nodes[n]) || !is_cheap(graph_.node(graph_.value(id).producer)))
                    kept_[static_cast<size_t>(id)] = true;
            }
        for (ValueId id : graph_.outputs) kept_[static_cast<size_t>(id)] = true;
    }

    // How a value would be computed from what is kept: the nodes, and what would have to be kept besides.
    struct Chain {
        std::set<ValueId> values, missing;
        bool too_long = false;
    };

    Chain chain_of(ValueId id) const {
        Chain chain;
        follow(id, graph_.value(id).type.bytes(), chain);
        return chain;
    }

    void follow(ValueId id, i64 bytes, Chain& chain) const {
        if (!is_forward(id) || at(kept_, id) || chain.values.count(id) > 0 || again_.count(id) > 0) return;
        const Node& node = graph_.node(graph_.value(id).producer);
        if (!is_cheap(node)) {
            if (graph_.value(id).type.bytes() * much_smaller > bytes) chain.missing.insert(id);
            return;
        }
        chain.too_long = chain.too_long || static_cast<int>(chain.values.size()) == longest_chain;
        if (chain.too_long) return;
        chain.values.insert(id);
        for (ValueId input : node.inputs) follow(input, bytes, chain);
    }

    void choose(ValueId id) {
        const Chain chain = chain_of(id);
        if (!chain.too_long && chain.missing.empty()) {
            again_.insert(chain.values.begin(), chain.values.end());
            return;
        }
        kept_[static_cast<size_t>(id)] = true;
        if (!chain.too_long) from_[chain.missing].push_back(id);
    }

    // As x for both x / 2 and x * x: where it has fewer bytes than they have together.
    void keep_what_several_come_from() {
        const auto bytes = [this](i64 sum, ValueId id) { return sum + graph_.value(id).type.bytes(); };
        for (const auto& [missing, values] : from_) {
            if (std::accumulate(missing.begin(), missing.end(), i64{0}, bytes) >=
                std::accumulate(values.begin(), values.end(), i64{0}, bytes))
                continue;
            for (ValueId id : missing) kept_[static_cast<size_t>(id)] = true;
            for (ValueId id : values) kept_[static_cast<size_t>(id)] = false;
            for (ValueId id : values) choose(id);
        }
    }

    // The backward pass anew, every copy in front of its first reader.
    void insert_copies() {
        std::vector<Node> nodes(std::make_move_iterator(graph_.nodes.begin() + backward_),
                                std::make_move_iterator(graph_.nodes.end()));
        graph_.nodes.resize(static_cast<size_t>(backward_));
        for (Node& node : nodes) {
            for (ValueId& input : node.inputs) input = copied(input);
            append(std::move(node));
        }
    }

    ValueId copied(ValueId id) {
        if (id >= static_cast<ValueId>(copy_.size()) || again_.count(id) == 0) return id;
        const ValueId copy = copy_[static_cast<size_t>(id)];
        if (copy >= 0) return copy;
        const Node node = graph_.node(graph_.value(id).producer);
        std::vector<ValueId> inputs;
        for (ValueId input : node.inputs) inputs.push_back(copied(input));
        const std::string name = graph_.value(id).name + ".again";
        builder_.set_place({node.scope, name, node.span, {}, {}});
        const std::optional<ValueId> made = builder_.emit(node.op->name, inputs, node.attributes);
        internal_check(made.has_value(), "a copy of a node was refused");
        copy_[static_cast<size_t>(id)] = *made;
        graph_.value(*made).type = graph_.value(id).type;
        builder_.rename(*made, builder_.unique_name(name, "_"), graph_.value(id).span);
        return *made;
    }

    void append(Node node) {
        for (ValueId id : node.outputs) graph_.value(id).producer = static_cast<NodeId>(graph_.nodes.size());
        graph_.nodes.push_back(std::move(node));
    }

    Builder& builder_;
    Graph& graph_;
    NodeId backward_;
    std::vector<bool> read_, kept_; // forward values, by ValueId: by the backward pass; between the passes
    std::set<ValueId> again_;       // computed a second time
    std::map<std::set<ValueId>, std::vector<ValueId>> from_; // kept values by what they could be computed from instead
    std::vector<ValueId> copy_;                              // by ValueId
};

} // namespace

void recompute_pointwise(Builder& builder, NodeId backward) { Recomputation(builder, backward).run(); }

} // namespace shard
