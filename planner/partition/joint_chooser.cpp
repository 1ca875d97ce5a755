#include "planner/partition/joint_chooser.h"

#include "planner/graph/op_def.h"
#include "planner/partition/compute_asker.h"
#include "planner/partition/gradient_sums.h"
#include "planner/rewrite/gather_parameters.h"
#include "plans/sharding/axis_lists.h"

#include <algorithm>
#include <set>

namespace shard {

namespace {

// A gain below this share of the cost is noise.
constexpr double least_gain = 1e-6;
// A node of more operands decides alone, and so do readers beyond so many: the groups of a large graph stay small.
constexpr size_t most_operands = 16, most_readers = 64;

bool gains(const PlanCost& together, const PlanCost& alone) {
    return together.seconds < alone.seconds * (1 - least_gain);
}

class JointChooser {
public:
    JointChooser(const Graph& graph, const GraphFacts& facts, const Propagation& propagation,
                 NumberedDecisions& decisions, const Local& alone)
        : graph_(graph), facts_(facts), decisions_(decisions), sent_alone_(alone.sent),
          kept_(store_sums_as_gradients(graph, propagation.values)), users_(facts.users),
          asker_(graph, facts, kept_, decisions), added_(graph.values.size()), leaves_(graph.values.size()),
          over_(graph.values.size()) {
        for (ValueId id : graph.outputs) is_output_.insert(id);
        forget_unread();
    }

    JointForms run() {
        find_added();
        for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) gather_leaves(id);
        for (ValueId id = 0; id < static_cast<ValueId>(graph_.values.size()); ++id) leave_sums(id);
        for (ValueId id = 0; id < static_cast<ValueId>(graph_.values.size()); ++id) share(id);
        return std::move(forms_);
    }

private:
    const TensorType& type(ValueId id) const { return graph_.value(id).type; }
    Redistributor& redistributor() { return decisions_.decisions().redistributor(); }

    // What nobody reads is not computed.
    void forget_unread() {
        for (NodeId id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;) {
            const Node& node = graph_.node(id);
            const auto is_read = [&](ValueId made) { return !users_[made].empty() || is_output_.contains(made); };
            if (is_marker(node) || std::any_of(node.outputs.begin(), node.outputs.end(), is_read)) continue;
            for (ValueId input : node.inputs) users_.erase(input, id);
        }
    }

    // Computed by one kernel, in a way that is chosen.
    bool is_chosen(const Node& node) const {
        return node.op() != nullptr && node.op()->rule != nullptr && node.op()->device == nullptr &&
               !is_constraint(node) && !node.asked().border && node.outputs.size() == 1 &&
               node.inputs.size() <= most_operands;
    }

    bool sends(NodeId id) const {
        const Node& node = graph_.node(id);
        return sent_alone_[id] > 0 ||
               (is_constraint(node) && !same_layout(kept_[node.inputs[0]], kept_[node.outputs[0]]));
    }

    // With its operands as they are kept; `id`, if any, as `forms` say.
    void ask(NodeId node, ValueId id = -1, std::span<const OperandForm> forms = {}) {
        asker_.begin(node);
        for (const ValueId operand : graph_.node(node).inputs) {
            asker_.operand();
            if (operand != id) {
                asker_.form(asker_.number_of_kept(operand));
                continue;
            }
            for (const OperandForm& form : forms) asker_.form(decisions_.number_of(form.sharding), form.base);
        }
        const std::map<ValueId, Sharding>::const_iterator sum = forms_.sums.find(graph_.node(node).outputs[0]);
        if (sum != forms_.sums.end()) asker_.set_result(sum->second);
    }

    std::vector<OperandForm> as_kept(ValueId id) const { return {{kept_[id], {}}}; }

    // --- sums that are added ---

    // Values that are added to others, be it after ops that pass sums on.
    void find_added() {
        for (size_t n = graph_.nodes.size(); n-- > 0;) {
            const Node& node = graph_.nodes[n];
            if (!is_chosen(node) || !(node.op()->jointly_linear || added_[node.outputs[0]])) continue;
            for (const int input : facts_.passes_on(static_cast<NodeId>(n))) added_[node.inputs[input]] = true;
        }
    }

    // Nodes that make terms of the sum that a value is, if it is one that could be left partial.
    void gather_leaves(NodeId id) {
        const Node& node = graph_.node(id);
        if (!is_chosen(node)) return;
        std::vector<ValueId> passed;
        for (const int input : facts_.passes_on(id)) passed.push_back(node.inputs[input]);
        std::vector<NodeId>& leaves = leaves_[node.outputs[0]];
        const bool adds = node.op()->jointly_linear && node.inputs.size() > 1;
        const auto is_over_the_same = [&](ValueId input) { return over_[input] == over_[passed.front()]; };
        const auto comes_alone = [&](ValueId input) {
            return users_[input].size() == 1 && !is_output_.contains(input) && !leaves_[input].empty() &&
                   graph_.node(graph_.value(input).producer).loop == node.loop &&
                   std::count(node.inputs.begin(), node.inputs.end(), input) == 1;
        };
        if (passed.empty() ||
            !(adds ? std::all_of(passed.begin(), passed.end(), comes_alone) : comes_alone(passed.front())) ||
            !std::all_of(passed.begin(), adds ? passed.end() : passed.begin() + 1, is_over_the_same)) {
            if (!added_[node.outputs[0]] || !facts_.has_reduction(id)) return;
            leaves = {id};
            over_[node.outputs[0]] = sum_where_split(id).partial;
            return;
        }
        over_[node.outputs[0]] = over_[passed.front()];
        for (ValueId input : passed) { // the longest list grows: a chain of adds stays linear
            std::vector<NodeId> more = std::move(leaves_[input]);
            leaves_[input].clear();
            if (more.size() > leaves.size()) std::swap(more, leaves);
            leaves.insert(leaves.end(), more.begin(), more.end());
            if (!adds) break;
        }
    }

    // As it is kept, but for what the sum is partial over.
    Sharding left_partial(ValueId id, const Sharding& made) const {
        Sharding left = kept_[id];
        for (DimSharding& dim : left.dims) dim.axes = without(cut(dim.axes, made.partial), cut(made.partial, dim.axes));
        left.partial = made.partial;
        left.reduce = made.reduce;
        return left;
    }

    // What the node makes where its sums are left as devices have them.
    Sharding sum_where_split(NodeId id) {
        ask(id);
        asker_.set_sums_where_split();
        return asker_.decide().decision->choice.results[0];
    }

    void leave_sums(ValueId root) {
        const std::vector<NodeId>& leaves = leaves_[root];
        if (leaves.size() < 2 || std::none_of(leaves.begin(), leaves.end(), [this](NodeId n) { return sends(n); }))
            return;
        PlanCost alone;
        std::set<std::string> made_alone; // over what they are partial
        for (NodeId leaf : leaves) {
            ask(leaf);
            const ComputeSharding& choice = asker_.decide().decision->choice;
            alone.add(choice.cost);
            made_alone.insert(MemoKey().add(choice.results[0].partial).text());
        }
        // The first of them says over what; where all are so already, nothing is left to say.
        const Sharding made = sum_where_split(leaves.front());
        if (made.partial.empty() || made.reduce != ReduceOp::sum) return;
        if (made_alone.size() == 1 && made_alone.contains(MemoKey().add(made.partial).text())) return;
        PlanCost together;
        together.add(redistributor().find(type(root), left_partial(root, made), kept_[root]));
        std::vector<Sharding> left; // by leaf
        for (NodeId leaf : leaves) {
            left.push_back(left_partial(graph_.node(leaf).outputs[0], made));
            ask(leaf);
            asker_.set_result(left.back());
            const ComputeSharding& choice = asker_.decide().decision->choice;
            if (choice.results[0].partial != made.partial) return;
            together.add(choice.cost);
        }
        if (!gains(together, alone)) return;
        for (size_t n = 0; n < leaves.size(); ++n) forms_.sums[graph_.node(leaves[n]).outputs[0]] = std::move(left[n]);
    }

    // --- values that several read ---

    // What the readers cost one after the other, each with what those before it have made of the value. Without forms,
    // each has it as it likes, for nothing.
    struct Readers {
        PlanCost cost;
        std::vector<Sharding> read; // as which each reads it
    };
    Readers read_in_turn(ValueId id, const std::vector<NodeId>& readers, std::vector<OperandForm> forms) {
        const bool free = forms.empty();
        Readers all;
        for (NodeId reader : readers) {
            const Node& node = graph_.node(reader);
            Sharding read;
            if (is_constraint(node)) {
                read = kept_[node.outputs[0]];
                if (!free) all.cost.add(cheapest_form(redistributor(), type(id), forms, read).cost);
            } else {
                ask(reader, id, forms);
                const ComputeSharding& choice = asker_.decide().decision->choice;
                const size_t place = std::find(node.inputs.begin(), node.inputs.end(), id) - node.inputs.begin();
                read = choice.operands[place];
                all.cost.add(choice.cost);
            }
            const auto is_read = [&](const OperandForm& form) { return same_layout(form.sharding, read); };
            if (!free && std::none_of(forms.begin(), forms.end(), is_read)) forms.push_back({read, {}});
            all.read.push_back(std::move(read));
        }
        return all;
    }

    void share(ValueId id) {
        std::vector<NodeId> readers;
        for (NodeId reader : users_[id]) {
            if (readers.size() == most_readers) break;
            if (!readers.empty() && readers.back() == reader) continue; // reads it twice
            const Node& node = graph_.node(reader);
            if (node.loop != graph_.value(id).loop) continue;
            if (is_parameter_gather(node)) continue; // of its own pass
            if (is_chosen(node) || (is_constraint(node) && !node.asked().border)) readers.push_back(reader);
        }
        if (readers.size() < 2 || std::none_of(readers.begin(), readers.end(), [this](NodeId n) { return sends(n); }))
            return;
        const Readers alone = read_in_turn(id, readers, as_kept(id));
        if (alone.cost.wire_bytes == 0) return;
        const std::vector<Sharding> wanted = read_in_turn(id, readers, {}).read;
        PlanCost best = alone.cost;
        for (size_t n = 0; n < wanted.size(); ++n) {
            const auto is_wanted = [&](const Sharding& other) { return same_layout(other, wanted[n]); };
            if (is_wanted(kept_[id]) ||
                std::any_of(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(n), is_wanted))
                continue;
            PlanCost together;
            together.add(redistributor().find(type(id), kept_[id], wanted[n]));
            together.add(read_in_turn(id, readers, {{kept_[id], {}}, {wanted[n], {}}}).cost);
            if (!gains(together, best)) continue;
            best = together;
            forms_.shared[id] = wanted[n];
        }
    }

    const Graph& graph_;
    const GraphFacts& facts_;
    NumberedDecisions& decisions_;
    const std::vector<i64>& sent_alone_; // by node
    Shardings kept_;
    Users users_;
    ComputeAsker asker_;
    std::set<ValueId> is_output_;
    std::vector<bool> added_;                 // by value
    std::vector<std::vector<NodeId>> leaves_; // likewise
    std::vector<std::vector<AxisRef>> over_;  // likewise, of one with leaves: the axes over which they have parts
    JointForms forms_;
};

} // namespace

JointForms joint_forms(const Graph& graph, const GraphFacts& facts, const Propagation& propagation,
                       NumberedDecisions& decisions, const Local& alone) {
    return JointChooser(graph, facts, propagation, decisions, alone).run();
}

} // namespace shard
