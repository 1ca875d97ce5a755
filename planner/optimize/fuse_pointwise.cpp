// Nodes are visited in order, so what a node takes in has already taken in what it can. A producer moves down to its
// reader. What it reads then lives longer, and what it made lives no more: it is moved only if the former has no more
// bytes than the latter. A chain costs memory at most where its last result can no longer be made in place.
#include "planner/optimize/fuse_pointwise.h"

#include "planner/graph/op_def.h"
#include "planner/partition/local.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace shard {

namespace {

// Bounds on one kernel: blocks of all live steps are to stay in a core's cache.
constexpr size_t step_limit = 48, input_limit = 12;

const Pointwise* pointwise_of(const Node& node) {
    return node.op() != nullptr && node.kernel() ? std::get_if<Pointwise>(node.kernel()) : nullptr;
}

// The one number that a node makes, if it makes nothing else: a constant, or a broadcast of one.
std::optional<double> number_of(const Node& node) {
    if (node.op() == nullptr || !node.kernel()) return std::nullopt;
    if (const Generate* generate = std::get_if<Generate>(node.kernel()))
        if (const Fill* fill = std::get_if<Fill>(&generate->source)) return fill->value;
    if (const Pointwise* pointwise = std::get_if<Pointwise>(node.kernel()))
        if (pointwise->steps.size() == 1 && pointwise->steps[0].op == ScalarOp::constant)
            return pointwise->steps[0].value;
    return std::nullopt;
}

// The input's dims are the output's, in order and of the same sizes.
bool same_space(const std::vector<int>& dims, const Shape& input, const Shape& output) {
    if (input != output) return false;
    for (size_t d = 0; d < dims.size(); ++d)
        if (dims[d] != static_cast<int>(d)) return false;
    return true;
}

// A kernel under construction: steps are copied one by one, equal inputs become one.
class KernelMaker {
public:
    // The step that reads `value`.
    int read(ValueId value, const std::vector<int>& dims, DType dtype) {
        for (size_t i = 0; i < inputs.size(); ++i)
            if (inputs[i] == value && kernel.input_dims[i] == dims) return reads_[i];
        ScalarStep step;
        step.op = ScalarOp::input;
        step.args[0] = static_cast<int>(inputs.size());
        step.dtype = dtype;
        inputs.push_back(value);
        kernel.input_dims.push_back(dims);
        reads_.push_back(add(std::move(step)));
        return reads_.back();
    }

    int add_constant(double value, DType dtype) {
        ScalarStep step;
        step.op = ScalarOp::constant;
        step.dtype = dtype;
        step.value = value;
        return add(std::move(step));
    }

    int add(ScalarStep step) {
        kernel.steps.push_back(std::move(step));
        return static_cast<int>(kernel.steps.size()) - 1;
    }

    // All steps of a kernel but its reads, which `read_input` supplies; returns the last.
    template<class ReadInput>
    int append(const Pointwise& from, const ReadInput& read_input) {
        std::vector<int> at;
        for (ScalarStep step : from.steps) {
            if (step.op == ScalarOp::input) {
                at.push_back(read_input(step.args[0], step.dtype));
                continue;
            }
            for (int a = 0; a < arity(step.op); ++a) {
                int& arg = step.args[a];
                arg = at[arg];
            }
            at.push_back(add(std::move(step)));
        }
        return at.back();
    }

    std::vector<ValueId> inputs;
    Pointwise kernel;

private:
    std::vector<int> reads_; // by input: its step
};

class Fuser {
public:
    explicit Fuser(Graph& graph)
        : graph_(graph), readers_(graph.values.size(), 0), last_read_(graph.values.size(), -1) {
        for (NodeId n = 0; n < static_cast<NodeId>(graph.nodes.size()); ++n) count_reads(n);
        for (ValueId id : graph.inputs) last_read(id) = forever;
        for (ValueId id : graph.outputs) {
            last_read(id) = forever;
            ++readers(id);
        }
    }

    void run() {
        for (NodeId n = 0; n < static_cast<NodeId>(graph_.nodes.size()); ++n)
            if (pointwise_of(graph_.node(n)) != nullptr) take_in(n);
    }

private:
    static constexpr NodeId forever = std::numeric_limits<NodeId>::max();
    int& readers(ValueId id) { return readers_[id]; }
    NodeId& last_read(ValueId id) { return last_read_[id]; }

    void count_reads(NodeId n) {
        for (ValueId id : distinct_inputs(graph_.node(n))) {
            ++readers(id);
            last_read(id) = std::max(last_read(id), n);
        }
    }

    static std::vector<ValueId> distinct_inputs(const Node& node) {
        std::vector<ValueId> ids = node.inputs;
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        return ids;
    }

    const Node* producer_of(ValueId id) const {
        const NodeId producer = graph_.value(id).producer;
        return producer < 0 ? nullptr : &graph_.node(producer);
    }

    // Whether the producer of `id` may become part of node `n`.
    bool joins(ValueId id, NodeId n) {
        const Node* producer = producer_of(id);
        if (producer == nullptr || pointwise_of(*producer) == nullptr || readers(id) != 1) return false;
        const Node& node = graph_.node(n);
        if (producer->loop != node.loop) return false; // it would be computed in every trip
        const Shape& space = graph_.value(node.outputs[0]).type.shape;
        for (size_t i = 0; i < node.inputs.size(); ++i)
            if (node.inputs[i] == id &&
                !same_space(pointwise_of(node)->input_dims[i], graph_.value(id).type.shape, space))
                return false;
        i64 kept_alive = 0;
        for (ValueId operand : distinct_inputs(*producer))
            if (last_read(operand) < n) kept_alive += graph_.value(operand).type.bytes();
        return kept_alive <= graph_.value(id).type.bytes();
    }

    // Something that it reads could become part of it: most nodes need no second look.
    bool may_take_in(NodeId n) {
        const std::vector<ValueId>& inputs = graph_.node(n).inputs;
        return std::any_of(inputs.begin(), inputs.end(), [&](ValueId id) {
            const Node* producer = producer_of(id);
            return (producer != nullptr && number_of(*producer)) || joins(id, n);
        });
    }

    void take_in(NodeId n) {
        if (!may_take_in(n)) return;
        Node& node = graph_.nodes[n];
        const Pointwise& old = *pointwise_of(node);
        KernelMaker made;
        std::vector<std::pair<ValueId, int>> joined; // and its step
        bool changed = false;
        const int result = made.append(old, [&](size_t input, DType dtype) {
            const ValueId id = node.inputs[input];
            const Node* producer = producer_of(id);
            const std::optional<double> number = producer == nullptr ? std::nullopt : number_of(*producer);
            if (number) {
                changed = true;
                return made.add_constant(*number, dtype);
            }
            for (const auto& [other, step] : joined)
                if (other == id) return step;
            if (!joins(id, n) || !fits(made, old, *pointwise_of(*producer)))
                return made.read(id, old.input_dims[input], dtype);
            changed = true;
            const Pointwise& part = *pointwise_of(*producer);
            joined.emplace_back(id, made.append(part, [&](size_t from, DType type) {
                return made.read(producer->inputs[from], part.input_dims[from], type);
            }));
            return joined.back().second;
        });
        // The last step is the result; a program that ends in a read that others share stays as it is.
        if (!changed || result != static_cast<int>(made.kernel.steps.size()) - 1) return;
        for (ValueId id : distinct_inputs(node)) --readers(id);
        for (const auto& [id, step] : joined)
            for (ValueId operand : distinct_inputs(*producer_of(id))) --readers(operand);
        node.inputs = std::move(made.inputs);
        node.apply().kernel = std::move(made.kernel);
        count_reads(n);
    }

    static bool fits(const KernelMaker& made, const Pointwise& into, const Pointwise& from) {
        return made.kernel.steps.size() + into.steps.size() + from.steps.size() <= step_limit &&
               made.inputs.size() + into.input_dims.size() + from.input_dims.size() <= input_limit;
    }

    Graph& graph_;
    std::vector<int> readers_;      // by value: nodes that read it, and outputs
    std::vector<NodeId> last_read_; // by value: never before the node that really reads it last
};

} // namespace

void fuse_pointwise(Local& local) { Fuser(local.graph).run(); }

} // namespace shard
