// Walks the graph, and the bodies of loops once a trip.
#include "planner/graph/types_of.h"
#include "tests/support/attention_interpreter.h"
#include "tests/support/bits_interpreter.h"
#include "tests/support/device_interpreter.h"

#include <cmath>

namespace shard {

namespace {

// Sums of a few hundred terms of this size have all their bits.
double exact_limit(DType dtype) {
    if (!is_floating(dtype)) return std::min(1e9, static_cast<double>(info(dtype).highest));
    return std::ldexp(1, info(dtype).significand - (dtype == DType::f64 ? 13 : dtype == DType::f32 ? 7 : 3));
}

void note(const Array& array, DType dtype, Exactness& exactness) {
    for (double value : array.values) {
        const bool small = std::fabs(value) <= exact_limit(dtype);
        if (!small || value != std::nearbyint(value)) exactness.exact = false;
        if (!small && is_integer(dtype)) exactness.in_range = false;
    }
}

size_t at(ValueId id) { return static_cast<size_t>(id); }

class Interpreter {
public:
    Interpreter(const Graph& graph, Exactness* exactness)
        : graph_(graph), exactness_(exactness), values_(graph.values.size(), PerDevice(1)), index_(graph.loops.size()) {
    }

    // A global value; a local one of a manual region is held by each device.
    Array& value(ValueId id) { return held(id)[0]; }
    PerDevice& held(ValueId id) { return values_[at(id)]; }

    void run(NodeId begin, NodeId end) {
        for (NodeId n = begin; n < end; ++n) {
            const Node& node = graph_.node(n);
            if (node.opens() >= 0) {
                const GraphLoop& loop = graph_.loops[node.opens()];
                run_loop(loop, static_cast<size_t>(node.opens()));
                n = loop.closes;
                continue;
            }
            const ValueId result = node.outputs.at(0);
            const TensorType& type = graph_.value(result).type;
            const int region = region_of(graph_, node);
            PerDevice& held = values_[at(result)];
            if (const DeviceEvaluate evaluate = find_device_op(node.op()->name)) {
                held = evaluate(graph_.regions[region], node,
                                node.inputs.empty() ? PerDevice() : values_[at(node.inputs[0])], type.shape);
            } else {
                const size_t devices = region < 0 ? 1 : devices_of(graph_.regions[region]);
                held.clear();
                for (size_t device = 0; device < devices; ++device) held.push_back(evaluate_on(device, node, type));
            }
            for (const Array& array : held)
                if (exactness_) note(array, type.dtype, *exactness_);
        }
    }

private:
    Array evaluate_on(size_t device, const Node& node, const TensorType& type) const {
        std::vector<const Array*> operands;
        for (ValueId id : node.inputs) operands.push_back(&on_device(values_[at(id)], device));
        const std::string_view op = node.op()->name;
        if (const AttentionEvaluate evaluate = find_attention_op(op)) // which knows operands by their types
            return evaluate(operands, in_this_trip(node), type, attention_extras(op, types_of(graph_, node.inputs)));
        if (op == "bitcast") return take_bits(*operands[0], graph_.value(node.inputs[0]).type.dtype, type.dtype);
        return op == "loop_slice" ? loop_slice(*operands[0], node, type)
                                  : evaluate_node(in_this_trip(node), operands, type);
    }

    void run_loop(const GraphLoop& loop, size_t number) {
        for (const GraphLoop::Carried& carried : loop.carried) held(carried.argument) = held(carried.init);
        for (const GraphLoop::Sum& sum : loop.sums) held(sum.result) = zeros(sum.result);
        for (const GraphLoop::Stack& stack : loop.stacks) held(stack.result) = zeros(stack.result);
        for (i64 trip = 0; trip < loop.trips; ++trip) {
            const i64 index = loop.reverse ? loop.trips - 1 - trip : trip;
            index_[number] = index;
            run(loop.opens + 1, loop.closes);
            for (const GraphLoop::Sum& sum : loop.sums)
                for (size_t device = 0; device < held(sum.result).size(); ++device) {
                    const std::vector<double>& term = on_device(held(sum.term), device).values;
                    for (size_t i = 0; i < term.size(); ++i) held(sum.result)[device].values[i] += term[i];
                }
            for (const GraphLoop::Stack& stack : loop.stacks)
                for (size_t device = 0; device < held(stack.result).size(); ++device) {
                    const std::vector<double>& slice = on_device(held(stack.slice), device).values;
                    std::copy(slice.begin(), slice.end(),
                              held(stack.result)[device].values.begin() +
                                  static_cast<std::ptrdiff_t>(index * static_cast<i64>(slice.size())));
                }
            std::vector<PerDevice> next; // all at once: a yield may be another's argument
            for (const GraphLoop::Carried& carried : loop.carried) next.push_back(held(carried.yield));
            for (size_t n = 0; n < next.size(); ++n) held(loop.carried[n].argument) = next[n];
        }
        for (const GraphLoop::Carried& carried : loop.carried) held(carried.result) = held(carried.argument);
        if (!exactness_) return;
        for (const GraphLoop::Sum& sum : loop.sums)
            for (const Array& array : held(sum.result)) note(array, graph_.value(sum.result).type.dtype, *exactness_);
    }

    // What is drawn is drawn under a key that the running trips are folded into, as further places.
    Node in_this_trip(Node node) const {
        if (!node.attributes().has("loops")) return node;
        std::vector<i64> place;
        if (node.attributes().has("place")) place = node.attributes().integers("place");
        for (i64 loop : node.attributes().integers("loops")) place.push_back(index_[loop]);
        node.apply().attributes.set("place", place);
        return node;
    }

    PerDevice zeros(ValueId id) const {
        const Value& value = graph_.value(id);
        const Array array = {value.type.shape, std::vector<double>(static_cast<size_t>(value.type.elements()), 0)};
        return PerDevice(value.region < 0 ? 1 : devices_of(graph_.regions[at(value.region)]), array);
    }

    // Every trips-th entry along the dim, from the running index on.
    Array loop_slice(const Array& from, const Node& node, const TensorType& type) const {
        const size_t dim = static_cast<size_t>(node.attributes().integer("dim"));
        const i64 trips = node.attributes().integer("trips"),
                  index = index_[at(static_cast<ValueId>(node.attributes().integer("loop")))];
        i64 inner = 1, outer = 1;
        for (size_t d = 0; d < from.shape.size(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : from.shape[d];
        Array result{type.shape, {}};
        for (i64 o = 0; o < outer; ++o)
            for (i64 row = 0; row < type.shape[dim]; ++row)
                for (i64 i = 0; i < inner; ++i)
                    result.values.push_back(from.values[(o * from.shape[dim] + row * trips + index) * inner + i]);
        return result;
    }

    const Graph& graph_;
    Exactness* exactness_;
    std::vector<PerDevice> values_;
    std::vector<i64> index_; // by loop: of the running trip
};

} // namespace

std::map<std::string, Array> interpret(const Graph& graph, const std::map<std::string, Array>& inputs,
                                       Exactness* exactness) {
    Interpreter interpreter(graph, exactness);
    for (ValueId id : graph.inputs) interpreter.value(id) = inputs.at(graph.value(id).name);
    interpreter.run(0, static_cast<NodeId>(graph.nodes.size()));
    std::map<std::string, Array> outputs;
    for (size_t i = 0; i < graph.outputs.size(); ++i)
        outputs[graph.output_names[i]] = interpreter.value(graph.outputs[i]);
    return outputs;
}

} // namespace shard
