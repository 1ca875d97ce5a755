#include "planner/differentiate.h"

#include "planner/composites_support/chain.h"

#include <algorithm>
#include <memory>
#include <set>

namespace shard {

namespace {

class Reverse {
public:
    Reverse(Builder& builder, std::span<const ValueId> with_respect_to)
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
    }

    void run(ValueId loss) {
        if (!wanted(loss)) return;
        set_place(loss);
        cotangent(loss) = filled(type(loss), 1);
        for (NodeId id = last_; id >= 0; --id) visit(id);
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

    // All readers of the node's result have been visited, so its cotangent is whole.
    void visit(NodeId id) {
        const Node node = graph_.node(id); // a copy: the graph grows
        const ValueId output = node.outputs[0];
        if (cotangent(output) < 0 || !node.op->gradient) return;
        name_cotangent(output);
        const std::unique_ptr<bool[]> wanted_inputs = std::make_unique<bool[]>(node.inputs.size());
        for (size_t n = 0; n < node.inputs.size(); ++n) wanted_inputs[n] = wanted(node.inputs[n]);
        set_place(output);
        const std::vector<ValueId> gradients =
            node.op->gradient({builder_, node.inputs, output, cotangent(output), node.attributes,
                               std::span<const bool>(wanted_inputs.get(), node.inputs.size())});
        internal_check(gradients.size() == node.inputs.size(), "an op gives one gradient per operand");
        for (size_t n = 0; n < gradients.size(); ++n)
            if (wanted_inputs[n] && gradients[n] >= 0) contribute(node.inputs[n], gradients[n]);
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
