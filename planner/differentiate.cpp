#include "planner/differentiate.h"

#include "planner/composites_support/chain.h"
#include "planner/recompute.h"

#include <algorithm>
#include <memory>
#include <set>

namespace shard {

namespace {

class Reverse {
public:
    Reverse(Builder& builder, ValueId loss, std::span<const ValueId> with_respect_to)
        : builder_(builder), graph_(builder.graph()), last_(static_cast<NodeId>(graph_.nodes.size()) - 1),
          wanted_(graph_.values.size()), cotangents_(graph_.values.size(), -1) {
        for (ValueId id : with_respect_to) wanted_[static_cast<size_t>(id)] = true;
        for (const Node& node : graph_.nodes) {
            const bool flows =
                std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return wanted(id); });
            if (!flows || !node.op->gradient) continue;
            for (ValueId id : node.outputs)
                if (is_floating(type(id).dtype)) wanted_[static_cast<size_t>(id)] = true;
        }
        std::vector<ValueId> ends(with_respect_to.begin(), with_respect_to.end());
        ends.push_back(loss);
        find_calls(ends);
    }

    void run(ValueId loss) {
        if (!wanted(loss)) return;
        set_place(loss);
        cotangent(loss) = filled(type(loss), 1);
        for (NodeId id = last_; id >= 0; --id) visit(id);
        recompute_pointwise(builder_, last_ + 1);
    }

    // Zeros where nothing was contributed. A value of its own, also where two values have one cotangent, as the
    // operands of `add` do.
    ValueId gradient_of(ValueId id) {
        ValueId gradient = cotangent(id);
        set_place(id);
        if (gradient < 0) gradient = filled(type(id), 0);
        if (!given_.insert(gradient).second)
            gradient = must(builder_.emit("reshape", {gradient}, shape_of(type(id).shape, type(id).logical)));
        given_.insert(gradient);
        return gradient;
    }

private:
    bool wanted(ValueId id) const { return wanted_[static_cast<size_t>(id)]; }
    ValueId& cotangent(ValueId id) { return cotangents_[static_cast<size_t>(id)]; }
    const TensorType& type(ValueId id) const { return graph_.value(id).type; }

    static ValueId must(std::optional<ValueId> id) {
        internal_check(id.has_value(), "a gradient was refused");
        return *id;
    }

    ValueId filled(const TensorType& type, double value) {
        Attributes attributes = shape_of(type.shape, type.logical);
        attributes.set("value", std::vector<double>{value});
        attributes.set("dtype", std::string(name(type.dtype)));
        return must(builder_.emit("constant", {}, std::move(attributes)));
    }

    // What is emitted next belongs to where the value is made, and is called after it.
    void set_place(ValueId value) {
        const Value& of = graph_.value(value);
        Builder::Place place{"", of.name + ".grad", of.span, {}, {}};
        if (of.producer >= 0) {
            place.scope = graph_.node(of.producer).scope;
            place.span = graph_.node(of.producer).span;
        }
        builder_.set_place(std::move(place));
    }

    // Composites with a gradient of their own; of those in one another, the outermost. One of which a value on the way
    // is read from outside, or is an end of the way, is differentiated by its nodes.
    void find_calls(const std::vector<ValueId>& ends) {
        call_of_.assign(graph_.nodes.size(), -1);
        for (int c = 0; c < static_cast<int>(graph_.calls.size()); ++c)
            std::fill(call_of_.begin() + call(c).first, call_of_.begin() + call(c).last, c);
        std::vector<bool> open(graph_.calls.size());
        const auto read = [&](ValueId id, int from) {
            const int c = call_that_makes(id);
            if (c >= 0 && c != from && id != call(c).result) open[static_cast<size_t>(c)] = true;
        };
        for (size_t n = 0; n < graph_.nodes.size(); ++n)
            for (ValueId id : graph_.nodes[n].inputs) read(id, call_of_[n]);
        for (ValueId id : ends) read(id, -1);
        for (int& c : call_of_)
            if (c >= 0 && open[static_cast<size_t>(c)]) c = -1;
    }

    const CompositeCall& call(int c) const { return graph_.calls[static_cast<size_t>(c)]; }
    int call_that_makes(ValueId id) const {
        const NodeId producer = graph_.value(id).producer;
        return producer < 0 ? -1 : call_of_[static_cast<size_t>(producer)];
    }

    // All readers of the node's result have been visited, so its cotangent is whole. Within a composite that has a
    // gradient of its own only the result has one.
    void visit(NodeId id) {
        const ValueId output = graph_.node(id).outputs[0];
        if (cotangent(output) < 0 || !wanted(output)) return;
        if (const int c = call_of_[static_cast<size_t>(id)]; c >= 0) {
            const CompositeCall called = call(c); // a copy: the graph grows
            if (output == called.result) pull(output, called.operands, called.attributes, called.def->gradient);
        } else if (const Node node = graph_.node(id); node.op->gradient) {
            pull(output, node.inputs, node.attributes, node.op->gradient);
        }
    }

    void pull(ValueId output, const std::vector<ValueId>& inputs, const Attributes& attributes,
              std::vector<ValueId> (*gradient)(const GradientContext&)) {
        name_cotangent(output);
        const std::unique_ptr<bool[]> wanted_inputs = std::make_unique<bool[]>(inputs.size());
        for (size_t n = 0; n < inputs.size(); ++n) wanted_inputs[n] = wanted(inputs[n]);
        set_place(output);
        const std::vector<ValueId> gradients = gradient({builder_, inputs, output, cotangent(output), attributes,
                                                         std::span<const bool>(wanted_inputs.get(), inputs.size())});
        internal_check(gradients.size() == inputs.size(), "an op gives one gradient per operand");
        for (size_t n = 0; n < gradients.size(); ++n)
            if (wanted_inputs[n] && gradients[n] >= 0) contribute(inputs[n], gradients[n]);
    }

    void contribute(ValueId to, ValueId gradient) {
        internal_check(type(gradient).dtype == type(to).dtype && type(gradient).shape == type(to).shape,
                       "a gradient has the type of its value");
        ValueId& sum = cotangent(to);
        sum = sum < 0 ? gradient : must(builder_.emit("add", {sum, gradient}));
    }

    // "h.grad"; a cotangent that several values share has the name of the one that was made last.
    void name_cotangent(ValueId of) {
        const ValueId id = cotangent(of);
        if (named_.size() < graph_.values.size()) named_.resize(graph_.values.size());
        if (named_[static_cast<size_t>(id)]) return;
        named_[static_cast<size_t>(id)] = true;
        builder_.rename(id, builder_.unique_name(graph_.value(of).name + ".grad", "_"), graph_.value(of).span);
        std::vector<std::string>& logical = graph_.value(id).type.logical;
        for (size_t d = 0; d < logical.size(); ++d)
            if (logical[d].empty()) logical[d] = type(of).logical[d];
    }

    Builder& builder_;
    Graph& graph_;
    const NodeId last_;               // of the forward nodes
    std::vector<int> call_of_;        // by NodeId: the composite that is differentiated as a whole; -1: none
    std::vector<bool> wanted_;        // by ValueId: depends on what is differentiated for
    std::vector<ValueId> cotangents_; // by ValueId: what its readers have contributed so far; -1: nothing
    std::set<ValueId> given_;         // results
    std::vector<bool> named_;         // by ValueId: cotangents that have their name
};

} // namespace

std::vector<ValueId> differentiate(Builder& builder, ValueId loss, std::span<const ValueId> with_respect_to) {
    const TensorType& type = builder.type(loss);
    internal_check(is_floating(type.dtype) && type.rank() == 0, "a loss is a floating-point scalar");
    Reverse reverse(builder, loss, with_respect_to);
    reverse.run(loss);
    std::vector<ValueId> gradients;
    for (ValueId id : with_respect_to) gradients.push_back(reverse.gradient_of(id));
    return gradients;
}

} // namespace shard
