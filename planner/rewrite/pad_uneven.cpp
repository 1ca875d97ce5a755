#include "planner/rewrite/pad_uneven.h"

#include "planner/graph/draws.h"
#include "planner/graph/graph_edit.h"
#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"
#include "planner/model/type_limits.h"
#include "planner/rewrite/padded_dims.h"
#include "planner/seed/moved_seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace shard {

namespace {

using Dims = std::vector<size_t>;

class Padder {
public:
    Padder(Graph& graph, Seeds& seeds, const PaddedDims& padded) : graph_(graph), seeds_(seeds), names_(graph) {
        for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) grow(id, padded);
    }

    Padding run() {
        const std::vector<NodeId> moved = retell(graph_, 0, [&](std::vector<Node>& nodes, size_t n) {
            add_waiting();
            Node& node = nodes[n];
            here_ = &node;
            if (node.op() != nullptr)
                rewrite(node);
            else if (node.closes() >= 0)
                rewrite_end(node);
        });
        add_waiting();
        mask_updates();
        move_seeds(seeds_, graph_, moved);
        graph_.calls.clear(); // for reverse mode, which is done
        return std::move(padding_);
    }

private:
    void grow(ValueId id, const PaddedDims& padded) {
        Value& value = graph_.value(id);
        Shape shape = value.type.shape;
        for (size_t d = 0; d < shape.size(); ++d) shape[d] = padded.size(id, d);
        zeros_.push_back(value.producer < 0); // padding of inputs is zeros
        padding_.unpadded.emplace_back();
        if (shape != value.type.shape) padding_.unpadded.back() = std::exchange(value.type.shape, std::move(shape));
    }

    const Shape& real_shape(ValueId id) const { return padding_.real_shape(graph_, id); }
    bool is_padded(ValueId id, size_t dim) const { return graph_.value(id).type.shape[dim] != real_shape(id)[dim]; }
    bool is_padded(ValueId id) const { return padding_.is_padded(id); }
    std::vector<TensorType> real_types(const std::vector<ValueId>& ids) const {
        std::vector<TensorType> types = types_of(graph_, ids);
        for (size_t n = 0; n < ids.size(); ++n) types[n].shape = real_shape(ids[n]);
        return types;
    }
    Dims padded_dims(ValueId id) const {
        Dims dims;
        for (size_t d = 0; d < graph_.value(id).type.shape.size(); ++d)
            if (is_padded(id, d)) dims.push_back(d);
        return dims;
    }

    void rewrite(Node& node) {
        const auto padded = [this](ValueId id) { return is_padded(id); };
        if (std::none_of(node.inputs.begin(), node.inputs.end(), padded) &&
            std::none_of(node.outputs.begin(), node.outputs.end(), padded))
            return;
        const UnpaddedOp op(node, real_types(node.inputs), real_types(node.outputs));
        const IndexRule& rule = op.rule;
        for (size_t n = 0; n < node.inputs.size(); ++n) {
            Dims cropped, masked;
            for (const size_t d : padded_dims(node.inputs[n])) {
                const DimFactors& factors = rule.operands[n][d];
                if (!op.takes_padding(factors))
                    cropped.push_back(d);
                else if (rule.factors[static_cast<size_t>(factors[0])].kind == FactorKind::reduction)
                    masked.push_back(d);
            }
            if (!cropped.empty()) node.inputs[n] = without_padding(node.inputs[n], cropped);
            if (op.kernel) look_up(node, *op.kernel, n, masked);
            if (!masked.empty()) node.inputs[n] = with_neutral(node.inputs[n], masked, rule.reduce);
        }
        for (size_t r = 0; r < node.outputs.size(); ++r) {
            Dims added;
            for (const size_t d : padded_dims(node.outputs[r]))
                if (!op.takes_padding(rule.results[r][d])) added.push_back(d);
            if (!added.empty()) node.outputs[r] = pad_afterwards(node.outputs[r], added);
        }
        node.apply().attributes = attributes_for(node, op);
        // Random values depend on the shape.
        if (draws(*node.op(), node.attributes()) && !node.attributes().has("drawn")) {
            const std::vector<TensorType> read = types_of(graph_, node.inputs);
            const Shape drawn = drawn_shape(*node.op(), op.operands, op.results[0]);
            if (drawn != drawn_shape(*node.op(), read, graph_.value(node.outputs[0]).type))
                node.apply().attributes.set("drawn", std::vector<i64>(drawn));
        }
        for (size_t r = 0; r < node.outputs.size(); ++r)
            zeros_[static_cast<size_t>(node.outputs[r])] = keeps_zeros(node, rule, r);
    }

    // Positions are counted in what is looked up without padding, to which none leads then.
    void look_up(Node& node, const Kernel& kernel, size_t operand, Dims& masked) {
        const Gather* const gather = std::get_if<Gather>(&kernel);
        const Scatter* const scatter = std::get_if<Scatter>(&kernel);
        if (gather == nullptr && scatter == nullptr) return;
        const size_t indices = gather != nullptr ? 1 : 0; // among the operands
        const size_t axis = static_cast<size_t>(gather != nullptr ? gather->axis : scatter->axis);
        if (operand != indices) {
            if (gather != nullptr) std::erase(masked, axis);
            return;
        }
        masked.clear(); // where a neutral element goes does not matter
        const ValueId of = gather != nullptr ? node.inputs[0] : node.outputs[0];
        if (!is_padded(of, axis)) return;
        const i64 last = real_shape(of)[axis] - 1;
        if (can_hold(graph_.value(node.inputs[indices]).type.dtype, static_cast<double>(last)))
            node.inputs[indices] = clamped(node.inputs[indices], last);
    }

    // A stack has an entry for each trip and no more.
    void rewrite_end(Node& node) {
        GraphLoop& loop = graph_.loops[static_cast<size_t>(node.closes())];
        const size_t first = loop.carried.size() + loop.sums.size();
        for (size_t s = 0; s < loop.stacks.size(); ++s) {
            if (!is_padded(loop.stacks[s].result, 0)) continue;
            node.outputs[first + s] = pad_afterwards(loop.stacks[s].result, {0});
            loop.stacks[s].result = node.outputs[first + s];
        }
    }

    // As for a device's part, which has another size too.
    Attributes attributes_for(const Node& node, const UnpaddedOp& op) const {
        const std::vector<TensorType> read = types_of(graph_, node.inputs), made = types_of(graph_, node.outputs);
        const std::vector<std::vector<AxisRef>> unsplit(op.rule.factors.size());
        return local_attributes(*node.op(), {op.operands, op.results, read, made, node.attributes(), op.rule, unsplit});
    }

    // Whether the op makes zeros of the zeros in its operands' padding: by being linear in all of them. Whatever else it
    // reads might be infinite.
    bool keeps_zeros(const Node& node, const IndexRule& rule, size_t result) const {
        if (node.inputs.empty()) {
            const bool is_number = node.op()->op_class == OpDef::Class::constant && node.attributes().has("value");
            return is_number && node.attributes().numbers("value") == std::vector<double>{0};
        }
        for (size_t n = 0; n < node.inputs.size(); ++n) {
            if (!is_padded(node.inputs[n]) || !zeros_[static_cast<size_t>(node.inputs[n])]) return false;
            for (const size_t d : padded_dims(node.outputs[result])) {
                const TensorFactors& of = rule.operands[n];
                if (std::find(of.begin(), of.end(), rule.results[result][d]) == of.end()) return false;
            }
        }
        if (node.op()->jointly_linear || is_constraint(node)) return true;
        const std::vector<TensorType> operands = types_of(graph_, node.inputs),
                                      results = types_of(graph_, node.outputs);
        return node.inputs.size() == 1 && !linear_operands(*node.op(), operands, results).empty();
    }

    // --- what is put in between, once for all that read it in a loop ---

    ValueId without_padding(ValueId id, const Dims& dims) {
        const auto [known, added] = found_.try_emplace(key(id, dims, "unpadded"), -1);
        if (!added) return known->second;
        Value value = derived(id, "unpadded");
        for (const size_t d : dims) value.type.shape[d] = real_shape(id)[d];
        Attributes window;
        window.set("start", std::vector<i64>(value.type.shape.size(), 0));
        window.set("limit", std::vector<i64>(value.type.shape));
        window.set("stride", std::vector<i64>(value.type.shape.size(), 1));
        const bool zeros = zeros_[static_cast<size_t>(id)];
        return known->second = add("slice", {id}, std::move(window), std::move(value), real_shape(id), zeros);
    }

    ValueId with_neutral(ValueId id, const Dims& dims, ReduceOp op) {
        if (op == ReduceOp::sum && zeros_[static_cast<size_t>(id)]) return id;
        const auto [known, added] = found_.try_emplace(key(id, dims, name(op)), -1);
        if (!added) return known->second;
        ValueId made = id;
        for (const size_t d : dims) made = masked(made, id, d, *neutral_element(op, graph_.value(id).type.dtype));
        zeros_[static_cast<size_t>(made)] = op == ReduceOp::sum && dims == padded_dims(id);
        return known->second = made;
    }

    ValueId masked(ValueId id, ValueId of, size_t dim, double neutral) {
        const TensorType type = graph_.value(id).type;
        Shape along(type.shape.size() - dim, 1); // broadcasting aligns dims at the last
        along[0] = type.shape[dim];
        Shape real_along = along;
        real_along[0] = real_shape(id)[dim];
        const DType counted = can_hold(DType::i32, static_cast<double>(along[0])) ? DType::i32 : DType::i64;
        Attributes counting;
        counting.set("shape", std::vector<i64>(along));
        counting.set("dim", std::vector<i64>{0});
        counting.set("dtype", std::string(name(counted)));
        const ValueId places =
            add("iota", {}, std::move(counting), plain(of, "place", counted, along), real_along, false);
        const ValueId count = number(of, static_cast<double>(real_along[0]), counted);
        const ValueId inside =
            add("lt", {places, count}, {}, plain(of, "real", DType::boolean, along), real_along, false);
        return add("select", {inside, id, number(of, neutral, type.dtype)}, {}, derived(of, "masked"), real_shape(id),
                   false);
    }

    ValueId clamped(ValueId id, i64 last) {
        const auto [known, added] = found_.try_emplace(key(id, {}, fmt::format("at most {}", last)), -1);
        if (!added) return known->second;
        const ValueId limit = number(id, static_cast<double>(last), graph_.value(id).type.dtype);
        return known->second = add("min", {id, limit}, {}, derived(id, "clamped"), real_shape(id), false);
    }

    ValueId number(ValueId of, double value, DType dtype) {
        Attributes attributes;
        attributes.set("value", std::vector<double>{value});
        attributes.set("shape", std::vector<i64>());
        attributes.set("dtype", std::string(name(dtype)));
        return add("constant", {}, std::move(attributes), plain(of, "number", dtype, {}), {}, false);
    }

    // What a node makes without padding along `dims`; the value itself follows behind the node.
    ValueId pad_afterwards(ValueId id, const Dims& dims) {
        Value value = derived(id, "unpadded");
        std::vector<i64> none(value.type.shape.size(), 0), high = none;
        for (const size_t d : dims) {
            value.type.shape[d] = real_shape(id)[d];
            high[d] = graph_.value(id).type.shape[d] - value.type.shape[d];
        }
        value.loop = graph_.value(id).loop;
        Attributes padding;
        padding.set("low", none);
        padding.set("high", high);
        padding.set("interior", none);
        padding.set("value", 0.0);
        zeros_[static_cast<size_t>(id)] = dims == padded_dims(id);
        const ValueId made = add_value(std::move(value), real_shape(id), false);
        Node node = beside(*here_, "pad", {made}, std::move(padding));
        node.outputs = {id};
        waiting_.push_back(std::move(node));
        return made;
    }

    void add_waiting() {
        for (Node& node : waiting_) append_node(graph_, std::move(node));
        waiting_.clear();
    }

    // The next step reads what is updated as an input, in whose padding zeros stand.
    void mask_updates() {
        for (Update& update : graph_.updates) {
            const ValueId id = update.output;
            if (update.input == id || !is_padded(id) || zeros_[static_cast<size_t>(id)]) continue;
            const Node producer = graph_.node(graph_.value(id).producer); // a copy: the graph grows
            here_ = &producer;
            update.output = with_neutral(id, padded_dims(id), ReduceOp::sum);
            std::replace(graph_.outputs.begin(), graph_.outputs.end(), id, update.output);
        }
    }

    // --- values and nodes ---

    Value derived(ValueId of, std::string_view suffix) {
        Value value = graph_.value(of);
        value.name = names_(value.name + "." + std::string(suffix));
        value.role = Role::value;
        value.producer = -1;
        value.init.reset();
        value.decl = -1;
        value.of = -1;
        value.stacked = 0;
        value.loop = here_->loop;
        return value;
    }

    Value plain(ValueId of, std::string_view suffix, DType dtype, Shape shape) {
        Value value = derived(of, suffix);
        value.type = {dtype, std::move(shape), {}};
        value.type.logical.resize(value.type.shape.size());
        value.varying.clear();
        return value;
    }

    static Node beside(const Node& reader, std::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
        Node node;
        node.does = Apply{find_op(op), std::move(attributes), {}, {}};
        node.inputs = std::move(inputs);
        node.scope = reader.scope;
        node.span = reader.span;
        node.gradient_of = reader.gradient_of;
        node.loop = reader.loop;
        return node;
    }

    ValueId add_value(Value value, const Shape& real, bool zeros) {
        padding_.unpadded.push_back(real == value.type.shape ? Shape() : real);
        zeros_.push_back(zeros);
        seeds_.values.emplace_back();
        seeds_.gathered.emplace_back();
        seeds_.rejected_by_value.emplace_back();
        return append_value(graph_, std::move(value));
    }

    ValueId add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes, Value value, Shape real,
                bool zeros) {
        Node node = beside(*here_, op, std::move(inputs), std::move(attributes));
        node.outputs = {add_value(std::move(value), real, zeros)};
        const ValueId made = node.outputs[0];
        append_node(graph_, std::move(node));
        return made;
    }

    // Not shared between the forward and the backward pass, so that it need not be kept.
    using Key = std::tuple<ValueId, Dims, std::string, int, bool>;
    Key key(ValueId id, const Dims& dims, std::string_view what) const {
        return {id, dims, std::string(what), here_->loop, here_->gradient_of.empty()};
    }

    Graph& graph_;
    Seeds& seeds_;
    FreshNames names_;
    Padding padding_;
    const Node* here_ = nullptr; // what is put in between stands beside it
    std::vector<bool> zeros_;    // by value: its padding is known to be zeros
    std::map<Key, ValueId> found_;
    std::vector<Node> waiting_; // that follow the last node
};

} // namespace

Padding pad_uneven(Graph& graph, Seeds& seeds) {
    const PaddedDims padded(graph, seeds);
    return padded.any() ? Padder(graph, seeds, padded).run() : Padding();
}

} // namespace shard
