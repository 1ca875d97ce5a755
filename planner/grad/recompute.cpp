#include "planner/grad/recompute.h"

#include "planner/graph/graph_edit.h"
#include "planner/graph/loop_index.h"
#include "plans/base/saturating.h"

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
    if (node.op() == nullptr) return false;
    if (is_constraint(node)) return false; // it may cost a collective
    return node.op()->op_class == OpDef::Class::pointwise || node.op()->op_class == OpDef::Class::broadcast ||
           node.op()->op_class == OpDef::Class::constant;
}

// The layer's own part of a stack is there as long as the stack is; and so is what one operand at a time makes of it
// without widening it, as a cast does. By node, of those before `end`.
std::vector<bool> parts_of_stacks(const Graph& graph, NodeId end) {
    std::vector<bool> parts(end);
    for (NodeId n = 0; n < end; ++n) {
        const Node& node = graph.node(n);
        if (node.op() == nullptr) continue;
        parts[n] = node.op()->of_stack == OpDef::OfStack::takes_entry;
        if (parts[n] || node.inputs.size() != 1 || is_constraint(node)) continue;
        const bool keeps_bytes = node.op()->reshapes || node.op()->op_class == OpDef::Class::pointwise;
        const TensorType &from = graph.value(node.inputs[0]).type, &to = graph.value(node.outputs[0]).type;
        const NodeId producer = graph.value(node.inputs[0]).producer;
        parts[n] = keeps_bytes && to.bytes() <= from.bytes() && producer >= 0 && parts[producer];
    }
    return parts;
}

class Recomputation {
public:
    Recomputation(Builder& builder, const Passes& passes)
        : builder_(builder), graph_(builder.graph()), passes_(passes), backward_(passes.backward),
          read_(graph_.values.size()), kept_(graph_.values.size()), copy_(graph_.values.size(), -1),
          parts_(parts_of_stacks(graph_, backward_)) {}

    void run() {
        find_calls();
        find_remat();
        find_kept();
        for (ValueId id = 0; id < static_cast<ValueId>(read_.size()); ++id)
            if (at(read_, id) && !at(kept_, id)) choose(id);
        keep_what_several_come_from();
        insert_copies();
    }

private:
    static bool at(const std::vector<bool>& flags, ValueId id) { return flags[id]; }
    bool is_forward(ValueId id) const {
        const NodeId producer = graph_.value(id).producer;
        return producer >= passes_.first && producer < passes_.last && graph_.value(id).loop == passes_.forward_loop;
    }
    const Node& producer_of(ValueId id) const { return graph_.node(graph_.value(id).producer); }
    // Between two loops everything that is kept is stacked, so what can be cut from a stack again is.
    bool is_free(ValueId id) const {
        return passes_.forward_loop != passes_.backward_loop && parts_[graph_.value(id).producer];
    }

    void find_calls() {
        for (size_t c = 0; c < graph_.calls.size(); ++c)
            if (!graph_.calls[c].composite)
                for (ValueId id : graph_.calls[c].results) calls_.emplace(id, c);
    }

    // What a module that says so keeps nothing of: results of its call that only it reads, all or all but contractions.
    // What comes out of the call is what the next one begins with, and is kept.
    void find_remat() {
        remat_.resize(graph_.values.size());
        if (graph_.remats.empty()) return;
        for (NodeId n = passes_.first; n < passes_.last; ++n) {
            const Node& node = graph_.node(n);
            if (node.remat < 0 || node.op() == nullptr || node.loop != passes_.forward_loop) continue;
            const bool is_dot = node.op()->op_class == OpDef::Class::contraction && node.inputs.size() >= 2;
            for (ValueId id : node.outputs)
                remat_[id] =
                    !(is_dot && graph_.remats[node.remat] == Remat::dots) && graph_.value(id).kept == Kept::as_is_best;
        }
        for (NodeId n = passes_.first; n < passes_.last; ++n)
            for (ValueId id : graph_.node(n).inputs)
                if (!graph_.node(n).pattern && graph_.value(id).producer >= 0 && producer_of(id).remat >= 0 &&
                    producer_of(id).remat != graph_.node(n).remat) {
                    remat_[id] = false;
                    kept_[id] = true;
                }
        for (ValueId id : graph_.outputs) remat_[id] = false;
        // What leaves the body does so by the loop's end; a loop that is still open says later what leaves it.
        if (passes_.forward_loop >= 0 && graph_.loops[passes_.forward_loop].closes >= 0)
            for (ValueId id : graph_.node(graph_.loops[passes_.forward_loop].closes).inputs) remat_[id] = false;
    }

    void find_kept() {
        for (size_t n = backward_; n < graph_.nodes.size(); ++n)
            for (ValueId id : graph_.nodes[n].inputs) {
                if (!is_forward(id)) continue;
                read_[id] = true;
                const Node& reader = graph_.nodes[n];
                if (is_free(id) || (at(remat_, id) && reader.loop == passes_.backward_loop)) continue;
                // A copy in a loop would be made in every trip.
                if (reader.loop != passes_.backward_loop || !is_cheap(reader) || !is_cheap(producer_of(id)))
                    kept_[id] = true;
            }
        for (size_t id = 0; id < kept_.size(); ++id)
            if (graph_.values[id].kept != Kept::as_is_best && is_forward(static_cast<ValueId>(id))) kept_[id] = true;
        if (passes_.forward_loop != passes_.backward_loop) return;
        for (ValueId id : graph_.outputs) kept_[id] = true;
    }

    // How a value would be computed from what is kept: the nodes, and what would have to be kept besides.
    struct Chain {
        std::set<ValueId> values, missing;
        bool too_long = false;
    };

    // A model may be one chain of any length, so neither this nor `copied` calls itself.
    Chain chain_of(ValueId id) const {
        Chain chain;
        const i64 bytes = graph_.value(id).type.bytes();
        std::vector<ValueId> open = {id};
        while (!open.empty()) {
            const ValueId next = open.back();
            open.pop_back();
            if (!is_followed(next, bytes, chain)) continue;
            const std::vector<ValueId>& inputs = producer_of(next).inputs;
            open.insert(open.end(), inputs.rbegin(), inputs.rend());
        }
        return chain;
    }

    bool is_followed(ValueId id, i64 bytes, Chain& chain) const {
        if (!is_forward(id) || at(kept_, id) || chain.values.count(id) > 0 || again_.count(id) > 0) return false;
        const Node& node = producer_of(id);
        if (!at(remat_, id)) {
            if (!is_cheap(node) && !is_free(id)) {
                if (graph_.value(id).type.bytes() > bytes / much_smaller) chain.missing.insert(id);
                return false;
            }
            chain.too_long = chain.too_long || static_cast<int>(chain.values.size()) == longest_chain;
            if (chain.too_long) return false;
        }
        chain.values.insert(id);
        return true;
    }

    void choose(ValueId id) {
        const Chain chain = chain_of(id);
        if (at(remat_, id) || (!chain.too_long && chain.missing.empty())) {
            again_.insert(chain.values.begin(), chain.values.end());
            return;
        }
        kept_[id] = true;
        if (!chain.too_long) from_[chain.missing].push_back(id);
    }

    // As x for both x / 2 and x * x: where it has fewer bytes than they have together.
    void keep_what_several_come_from() {
        const auto bytes = [this](i64 sum, ValueId id) { return add_saturating(sum, graph_.value(id).type.bytes()); };
        for (const auto& [missing, values] : from_) {
            if (std::accumulate(missing.begin(), missing.end(), i64{0}, bytes) >=
                std::accumulate(values.begin(), values.end(), i64{0}, bytes))
                continue;
            for (ValueId id : missing) kept_[id] = true;
            for (ValueId id : values) kept_[id] = false;
            for (ValueId id : values) choose(id);
        }
    }

    // The backward pass anew, every copy in front of its first reader, or of the loop in which that stands.
    void insert_copies() {
        retell(graph_, backward_, [this](std::vector<Node>& nodes, size_t n) {
            // What an inner loop reads is there before it begins.
            if (nodes[n].opens() >= 0 && nodes[n].loop == passes_.backward_loop)
                for (size_t inner = n + 1; nodes[inner].closes() != nodes[n].opens(); ++inner)
                    for (ValueId& input : nodes[inner].inputs) input = copied(input);
            for (ValueId& input : nodes[n].inputs) input = copied(input);
        });
    }

    // Inputs before what is made of them, the first one first.
    ValueId copied(ValueId id) {
        std::vector<std::pair<ValueId, size_t>> open = {{id, 0}}; // and how many of its inputs are copied
        while (!open.empty()) {
            const ValueId next = open.back().first;
            size_t& done = open.back().second;
            const std::vector<ValueId>* inputs = is_to_copy(next) ? &producer_of(next).inputs : nullptr;
            if (inputs != nullptr && done < inputs->size()) {
                open.emplace_back((*inputs)[done++], 0);
                continue;
            }
            if (inputs != nullptr) copy_[next] = copy_of(next);
            open.pop_back();
        }
        return as_copied(id);
    }

    // Fetches what waits on the host; all else is not copied yet.
    bool is_to_copy(ValueId id) {
        if (id >= static_cast<ValueId>(copy_.size()) || copy_[id] >= 0) return false;
        if (waits_on_host(id)) copy_[id] = fetched(id);
        return copy_[id] < 0 && again_.count(id) > 0;
    }

    ValueId as_copied(ValueId id) const {
        return id < static_cast<ValueId>(copy_.size()) && copy_[id] >= 0 ? copy_[id] : id;
    }

    ValueId copy_of(ValueId id) {
        const Node node = graph_.node(graph_.value(id).producer);
        std::vector<ValueId> inputs;
        for (const ValueId input : node.inputs) inputs.push_back(as_copied(input));
        const std::string name = graph_.value(id).name + ".again";
        builder_.set_place({node.scope, name, node.span, {}, {}, graph_.value(id).region});
        Attributes attributes = node.attributes();
        if (is_free(id) && attributes.has("loop")) {
            const Attributes of_loop = loop_attributes(graph_, passes_.backward_loop);
            for (const auto& [key, value] : of_loop.entries()) attributes.set(key, value);
        }
        const std::optional<ValueId> made = builder_.emit(node.op()->name, inputs, attributes);
        internal_check(made.has_value(), "a copy of a node was refused");
        graph_.nodes[graph_.value(*made).producer].apply().asked = std::get<Apply>(node.does).asked;
        graph_.value(*made).type = graph_.value(id).type;
        builder_.rename(*made, builder_.unique_name(name, "_"), graph_.value(id).span);
        add_calls(id, *made);
        return *made;
    }

    // Also what the module is called with, which a scan carries.
    bool waits_on_host(ValueId id) const {
        const Value& value = graph_.value(id);
        return value.kept == Kept::on_host && value.loop == passes_.forward_loop && value.producer >= 0 &&
               value.producer < passes_.last;
    }

    ValueId fetched(ValueId id) {
        const Value value = graph_.value(id);
        const Node& producer = graph_.node(value.producer);
        builder_.set_place({producer.scope, value.name + ".fetched", value.span, {}, {}, value.region});
        const std::optional<ValueId> made = builder_.emit("host_copy", {id});
        internal_check(made.has_value(), "a copy to the host was refused");
        graph_.value(*made).type = value.type;
        builder_.rename(*made, builder_.unique_name(value.name + ".fetched", "_"), value.span);
        return *made;
    }

    // A second derivative goes through the copy as it goes through the result of a module with a gradient of its own.
    void add_calls(ValueId result, ValueId copy) {
        const auto [begin, end] = calls_.equal_range(result);
        for (auto it = begin; it != end; ++it) {
            Call twin = graph_.calls[it->second];
            for (ValueId& id : twin.results) id = id == result ? copy : -1;
            graph_.calls.push_back(std::move(twin));
        }
    }

    Builder& builder_;
    Graph& graph_;
    const Passes passes_;
    NodeId backward_;
    std::vector<bool> remat_;       // by ValueId: computed again because its module says so
    std::vector<bool> read_, kept_; // forward values, by ValueId: by the backward pass; between the passes
    std::set<ValueId> again_;       // computed a second time
    std::map<std::set<ValueId>, std::vector<ValueId>> from_; // kept values by what they could be computed from instead
    std::vector<ValueId> copy_;                              // by ValueId; of what waits on the host, as it comes back
    std::vector<bool> parts_;                                // by NodeId, before the backward pass
    std::multimap<ValueId, size_t> calls_; // of modules with a gradient of their own, by their results
};

} // namespace

void recompute_pointwise(Builder& builder, const Passes& passes) { Recomputation(builder, passes).run(); }

} // namespace shard
