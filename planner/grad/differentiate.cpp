#include "planner/grad/differentiate.h"

#include "planner/grad/backward_loop.h"
#include "planner/grad/gradient_pattern.h"
#include "planner/grad/recompute.h"
#include "planner/graph/chain.h"
#include "planner/graph/loop_builder.h"
#include "planner/graph/verify_loops.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>

namespace shard {

namespace {

class Reverse {
public:
    Reverse(Builder& builder, std::span<const ValueId> with_respect_to)
        : builder_(builder), graph_(builder.graph()), end_(static_cast<NodeId>(graph_.nodes.size())),
          wanted_(graph_.values.size()), cotangents_(graph_.values.size(), -1) {
        if (builder.loop() >= 0) begin_ = graph_.loops[builder.loop()].opens + 1;
        for (ValueId id : with_respect_to) wanted_[id] = true;
        find_calls(with_respect_to);
        for (NodeId n = begin_; n < end_; ++n) n = find_wanted(n);
    }

    void run(ValueId loss) {
        if (!wanted(loss)) return;
        set_place(loss);
        cotangent(loss) = constant_of(builder_, type(loss), 1);
        for (NodeId id = end_; id-- > begin_;) id = visit(id);
        recompute_pointwise(builder_, {begin_, end_, end_, builder_.loop(), builder_.loop()});
    }

    // Zeros where nothing was contributed. A value of its own, also where two values have one cotangent, as the
    // operands of `add` do.
    ValueId gradient_of(ValueId id) {
        ValueId gradient = cotangent(id);
        set_place(id);
        if (gradient < 0) gradient = constant_of(builder_, type(id), 0);
        if (!given_.insert(gradient).second)
            gradient = must(builder_.emit("reshape", {gradient}, shape_of(type(id).shape, type(id).logical)));
        given_.insert(gradient);
        return gradient;
    }

private:
    bool wanted(ValueId id) const { return wanted_[id]; }
    const GraphLoop& loop(int l) const { return graph_.loops[l]; }

    // In a loop that is being reversed, what is outside it collects the contributions of one trip.
    ValueId& cotangent(ValueId id) {
        if (!reversed_.empty() && !is_within(graph_, graph_.value(id).loop, reversed_.back().forward))
            return reversed_.back().outside.emplace(id, -1).first->second;
        return cotangents_[id];
    }
    const TensorType& type(ValueId id) const { return graph_.value(id).type; }

    static ValueId must(std::optional<ValueId> id) {
        internal_check(id.has_value(), "a gradient was refused");
        return *id;
    }

    // What depends on what is differentiated for, through node n; returns the node to go on from. What a loop carries
    // may come to depend on it in a later trip: then its body is looked through again.
    NodeId find_wanted(NodeId n) {
        const Node& node = graph_.node(n);
        const auto want = [this](ValueId id) {
            if (!is_floating(type(id).dtype) || wanted(id) || call_of(id) >= 0) return false;
            return bool(wanted_[id] = true);
        };
        for (ValueId id : node.outputs)
            if (call_of(id) >= 0 && is_floating(type(id).dtype) && passes_on(call(call_of(id)))) wanted_[id] = true;
        if (node.opens() >= 0)
            for (const GraphLoop::Carried& carried : loop(node.opens()).carried)
                if (wanted(carried.init)) want(carried.argument);
        if (node.closes() >= 0) {
            bool again = false;
            for (const GraphLoop::Carried& carried : loop(node.closes()).carried)
                if (wanted(carried.yield)) again = want(carried.argument) || again;
            if (again) return loop(node.closes()).opens; // the next node is the first of the body
            for (size_t i = 0; i < node.inputs.size(); ++i)
                if (wanted(node.inputs[i])) want(node.outputs[i]);
            for (const GraphLoop::Carried& carried : loop(node.closes()).carried)
                if (wanted(carried.argument)) want(carried.result);
        }
        if (node.op() == nullptr || !passes_on(node)) return n;
        if (std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return wanted(id); }))
            for (ValueId id : node.outputs) want(id);
        return n;
    }

    static bool is_part_of_stack(const Node& node) { return node.op()->of_stack == OpDef::OfStack::takes_entry; }
    static bool passes_on(const Node& node) { return node.op()->gradient || is_part_of_stack(node); }
    bool passes_on(const Call& call) const {
        for (size_t n = 0; n < call.operands.size(); ++n)
            if (wanted(call.operands[n]) && (call.composite || call.gives[n] >= 0)) return true;
        return false;
    }

    // What is emitted next belongs to where the value is made, and is called after it.
    void set_place(ValueId value, std::string_view gradient_of = {}) {
        const Value& of = graph_.value(value);
        Builder::Place place{"", of.name + ".grad", of.span, {}, {}, of.region, gradient_of};
        if (of.producer >= 0) {
            place.scope = graph_.node(of.producer).scope;
            place.span = graph_.node(of.producer).span;
        }
        builder_.set_place(std::move(place));
    }

    // Calls with a gradient of their own, by their results; of those in one another the outermost. A composite in which
    // an end of the way lies is differentiated by its nodes.
    void find_calls(std::span<const ValueId> ends) {
        call_of_.assign(graph_.values.size(), -1);
        pulled_at_.assign(graph_.calls.size(), end_);
        std::vector<ValueId> made; // those that a node makes
        std::copy_if(ends.begin(), ends.end(), std::back_inserter(made),
                     [this](ValueId id) { return graph_.value(id).producer >= 0; });
        for (int c = 0; c < static_cast<int>(graph_.calls.size()); ++c) {
            const auto lies_inside = [&](ValueId id) {
                const NodeId producer = graph_.value(id).producer;
                return producer >= call(c).first && producer < call(c).last && id != call(c).results[0];
            };
            if (call(c).composite && std::any_of(made.begin(), made.end(), lies_inside)) continue;
            for (ValueId id : call(c).results)
                if (id >= 0) call_of_[id] = c;
        }
        for (ValueId id = 0; id < static_cast<ValueId>(call_of_.size()); ++id)
            if (call_of(id) >= 0) {
                NodeId& first = pulled_at_[call_of(id)];
                first = std::min(first, graph_.value(id).producer);
            }
    }

    const Call& call(int c) const { return graph_.calls[c]; }
    // The call whose gradient takes the place of that of the node that makes the value; -1: none.
    int call_of(ValueId id) const { return id < static_cast<ValueId>(call_of_.size()) ? call_of_[id] : -1; }

    // All readers of the node's result have been visited, so its cotangent is whole; and where the node makes the first
    // of a call's results, those of all its results are. Returns the node before which to go on.
    NodeId visit(NodeId id) {
        const std::vector<ValueId> outputs = graph_.node(id).outputs; // a copy: the graph grows
        for (ValueId output : outputs)
            if (const int c = call_of(output); c >= 0 && pulled_at_[c] == id) {
                pulled_at_[c] = -1;
                pull(c);
            }
        if (graph_.node(id).closes() >= 0) return visit_loop(graph_.node(id).closes());
        const ValueId output = outputs[0];
        if (known_of(output) < 0) return id;
        if (const Node node = graph_.node(id); node.op()->gradient)
            pull(output, node.op()->name, node.inputs, node.attributes(), node.op()->gradient);
        else if (is_part_of_stack(node))
            contribute_part(node);
        return id;
    }

    // What the node that makes a value is to pass on; -1: nothing.
    ValueId known_of(ValueId id) { return wanted(id) && call_of(id) < 0 ? cotangent(id) : -1; }

    // From the results of a call to its operands.
    void pull(int c) {
        const Call called = call(c); // a copy: the graph grows
        std::vector<ValueId> cotangents;
        for (ValueId id : called.results)
            cotangents.push_back(id >= 0 && call_of(id) == c && wanted(id) ? cotangent(id) : -1);
        const bool any = std::any_of(cotangents.begin(), cotangents.end(), [](ValueId id) { return id >= 0; });
        if (!any || !passes_on(called)) return;
        if (called.composite)
            return pull(called.results[0], called.composite->name, called.operands, called.attributes,
                        called.composite->gradient);
        std::vector<bool> asked;
        for (ValueId id : called.operands) asked.push_back(wanted(id));
        for (size_t n = 0; n < cotangents.size(); ++n)
            if (cotangents[n] >= 0) name_cotangent(called.results[n]);
        const std::vector<ValueId> gradients = copy_pattern(builder_, called, cotangents, asked);
        for (size_t n = 0; n < gradients.size(); ++n)
            if (gradients[n] >= 0) contribute(called.operands[n], gradients[n]);
    }

    // A loop is reversed by a loop that runs the other way: it carries the gradients of what the forward loop carries,
    // sums up those of what its body reads from outside, and stacks up those of what it takes from stacks.
    NodeId visit_loop(int forward) {
        const GraphLoop of = loop(forward); // copies: the graph grows
        const std::vector<ValueId> results = graph_.node(of.closes).outputs;
        if (std::none_of(results.begin(), results.end(), [&](ValueId id) { return known_of(id) >= 0; }))
            return of.opens;
        std::vector<GraphLoop::Carried> carried;
        std::vector<ValueId> inits;
        std::vector<std::vector<int>> varying; // as what they are gradients of
        for (const GraphLoop::Carried& each : of.carried) {
            if (!wanted(each.argument)) continue;
            carried.push_back(each);
            varying.push_back(graph_.value(each.argument).varying);
            set_place(each.result);
            const ValueId known = known_of(each.result);
            inits.push_back(known >= 0 ? known : constant_of(builder_, type(each.result), 0));
        }
        std::vector<std::pair<ValueId, ValueId>> terms, slices; // and the cotangent of the sum or stack
        for (const GraphLoop::Sum& sum : of.sums)
            if (known_of(sum.result) >= 0) terms.emplace_back(sum.term, cotangent(sum.result));
        for (const GraphLoop::Stack& stack : of.stacks)
            if (known_of(stack.result) >= 0) slices.emplace_back(stack.slice, cotangent(stack.result));

        GraphLoop header;
        header.trips = of.trips;
        header.reverse = !of.reverse;
        header.scope = of.scope;
        header.span = of.span;
        const std::string name = (of.scope.empty() ? "loop" : of.scope) + ".grad";
        builder_.set_place({of.scope, name, of.span, {}, {}});
        LoopBuilder backward(builder_, header, inits, varying);
        reversed_.push_back({forward, backward.loop(), {}, {}});
        for (size_t n = 0; n < carried.size(); ++n)
            if (wanted(carried[n].yield)) contribute(carried[n].yield, backward.argument(n));
        for (const auto& [term, gradient] : terms) contribute(term, gradient);
        for (const auto& [slice, gradient] : slices) {
            set_place(slice);
            contribute(slice, backward.entry(gradient));
        }
        for (NodeId id = of.closes; id-- > of.opens + 1;) id = visit(id);

        std::vector<ValueId> yields;
        for (const GraphLoop::Carried& each : carried) {
            set_place(each.argument);
            const ValueId known = cotangent(each.argument);
            yields.push_back(known >= 0 ? known : constant_of(builder_, type(each.argument), 0));
        }
        Reversed body = std::move(reversed_.back());
        reversed_.pop_back();
        std::vector<ValueId> read, stacks, sums, entries; // what the body reads, and its gradients
        for (const auto& [id, gradient] : body.outside)
            if (gradient >= 0) read.push_back(id), sums.push_back(gradient);
        for (const auto& [id, gradient] : body.parts) stacks.push_back(id), entries.push_back(gradient);
        std::vector<ValueId*> ends;
        for (std::vector<ValueId>* list : {&yields, &sums, &entries})
            for (ValueId& id : *list) ends.push_back(&id);
        fetch_from_forward(builder_, forward, backward.loop(), ends);
        builder_.set_place({of.scope, name, of.span, {}, {}});
        const LoopBuilder::Results made = backward.close(yields, sums, entries);
        for (size_t n = 0; n < carried.size(); ++n)
            if (wanted(carried[n].init)) contribute(carried[n].init, made.carried[n]);
        for (size_t n = 0; n < read.size(); ++n) contribute(read[n], made.sums[n]);
        for (size_t n = 0; n < stacks.size(); ++n) contribute(stacks[n], made.stacks[n]);
        return of.opens;
    }

    // The gradient of an entry of a stack that lies outside the loop.
    void contribute_part(const Node& node) {
        const ValueId output = node.outputs[0], stack = node.inputs[0];
        if (!wanted(stack)) return;
        internal_check(!reversed_.empty() && node.attributes().integer("loop") == reversed_.back().forward &&
                           node.attributes().integer("dim") == 0 && type(output).shape[0] == 1,
                       "only entries of stacks have gradients");
        name_cotangent(output);
        set_place(output);
        const TensorType whole = type(stack);
        const ValueId entry =
            must(builder_.emit("reshape", {cotangent(output)},
                               shape_of(Shape(whole.shape.begin() + 1, whole.shape.end()),
                                        std::vector<std::string>(whole.logical.begin() + 1, whole.logical.end()))));
        ValueId& sum = reversed_.back().parts.emplace(stack, -1).first->second;
        sum = sum < 0 ? entry : must(builder_.emit("add", {sum, entry}));
    }

    void pull(ValueId output, std::string_view op, const std::vector<ValueId>& inputs, const Attributes& attributes,
              std::vector<ValueId> (*gradient)(const GradientContext&)) {
        name_cotangent(output);
        const std::unique_ptr<bool[]> wanted_inputs = std::make_unique<bool[]>(inputs.size());
        for (size_t n = 0; n < inputs.size(); ++n) wanted_inputs[n] = wanted(inputs[n]);
        set_place(output, op);
        const std::vector<ValueId> gradients = gradient({builder_, inputs, output, cotangent(output), attributes,
                                                         std::span<const bool>(wanted_inputs.get(), inputs.size())});
        internal_check(gradients.size() == inputs.size(), "an op gives one gradient per operand");
        for (size_t n = 0; n < gradients.size(); ++n)
            if (wanted_inputs[n] && gradients[n] >= 0) contribute(inputs[n], gradients[n]);
    }

    void contribute(ValueId to, ValueId gradient) {
        internal_check(type(gradient).dtype == type(to).dtype && type(gradient).shape == type(to).shape,
                       "a gradient has the type of its value");
        const ValueId known = cotangent(to);
        cotangent(to) = known < 0 ? gradient : must(builder_.emit("add", {known, gradient}));
    }

    // "h.grad"; a cotangent that several values share has the name of the one that was made last.
    void name_cotangent(ValueId of) {
        const ValueId id = cotangent(of);
        if (named_.size() < graph_.values.size()) named_.resize(graph_.values.size());
        if (named_[id]) return;
        named_[id] = true;
        builder_.rename(id, builder_.unique_name(graph_.value(of).name + ".grad", "_"), graph_.value(of).span);
        graph_.value(id).of = of;
        std::vector<std::string>& logical = graph_.value(id).type.logical;
        for (size_t d = 0; d < logical.size(); ++d)
            if (logical[d].empty()) logical[d] = type(of).logical[d];
    }

    Builder& builder_;
    Graph& graph_;
    // A loop that is being reversed, and the gradients that one trip makes for what is outside of it: of values that
    // the body reads, and of entries of stacks.
    struct Reversed {
        int forward, backward;
        std::map<ValueId, ValueId> outside, parts;
    };

    NodeId begin_ = 0; // the forward nodes
    const NodeId end_;
    std::vector<Reversed> reversed_;  // inner ones last
    std::vector<int> call_of_;        // by ValueId of the forward pass
    std::vector<NodeId> pulled_at_;   // by call: the node that makes the first of its results
    std::vector<bool> wanted_;        // by ValueId: depends on what is differentiated for
    std::vector<ValueId> cotangents_; // by ValueId: what its readers have contributed so far; -1: nothing
    std::set<ValueId> given_;         // results
    std::vector<bool> named_;         // by ValueId: cotangents that have their name
};

} // namespace

std::vector<ValueId> differentiate(Builder& builder, ValueId loss, std::span<const ValueId> with_respect_to) {
    const TensorType& type = builder.type(loss);
    internal_check(is_floating(type.dtype) && type.rank() == 0, "a loss is a floating-point scalar");
    Reverse reverse(builder, with_respect_to);
    reverse.run(loss);
    std::vector<ValueId> gradients;
    for (ValueId id : with_respect_to) gradients.push_back(reverse.gradient_of(id));
    return gradients;
}

} // namespace shard
