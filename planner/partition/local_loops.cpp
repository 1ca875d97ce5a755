#include "planner/partition/local_loops.h"

#include "planner/graph/loop_index.h"
#include "planner/ops_support/move.h"
#include "planner/partition/gradient_sums.h"
#include "planner/partition/local.h"

#include <algorithm>
#include <utility>

namespace shard {

namespace {

const GraphLoop& header(const Graph& graph, int loop) { return graph.loops[loop]; }

} // namespace

LocalLoop::LocalLoop(Local& local, LocalBuilder& builder, const Graph& graph, int loop, std::vector<ValueId> inits,
                     std::span<const Sharding> shardings)
    : local_(local), builder_(builder), graph_(graph), loop_(loop), inits_(std::move(inits)) {
    const GraphLoop& of = header(graph, loop);
    summed_.assign(of.sums.size(), -1);
    // How the terms are held is known when they are there; until then the kept sharding stands in.
    for (const GraphLoop::Sum& sum : of.sums) inits_.push_back(zeros(sum.result, shardings[sum.result]));
    for (const GraphLoop::Stack& stack : of.stacks) inits_.push_back(zeros(stack.result, shardings[stack.result]));

    Node marker = graph.node(of.opens);
    marker.origin = of.opens;
    marker.inputs = inits_;
    marker.outputs.clear();
    for (size_t n = 0; n < inits_.size(); ++n) {
        const Sharding sharding = local.graph.value(inits_[n]).part->sharding;
        const bool carried = n < of.carried.size();
        const ValueId global = carried ? of.carried[n].argument
                               : n < of.carried.size() + of.sums.size()
                                   ? of.sums[n - of.carried.size()].result
                                   : of.stacks[n - of.carried.size() - of.sums.size()].result;
        const ValueId argument = builder.value(global, sharding, "so_far", carried);
        local.graph.value(argument).loop = loop;
        marker.outputs.push_back(argument);
    }
    arguments_ = marker.outputs;
    append_node(local.graph, std::move(marker));
    builder.set_loop(loop);
}

std::vector<ValueId> LocalLoop::close(std::vector<ValueId> yields, const std::vector<ValueId>& terms,
                                      const std::vector<ValueId>& slices, const std::vector<bool>& keeps) {
    const GraphLoop& of = header(graph_, loop_);
    Graph& graph = local_.graph;
    std::vector<ValueId> globals;
    for (const GraphLoop::Carried& carried : of.carried) globals.push_back(carried.result);
    for (size_t n = 0; n < terms.size(); ++n) {
        globals.push_back(of.sums[n].result);
        if (summed_[n] < 0) add(n, terms[n]);
        yields.push_back(summed_[n]);
    }
    for (size_t n = 0; n < slices.size(); ++n) {
        globals.push_back(of.stacks[n].result);
        Sharding sharding = graph.value(inits_[yields.size()]).part->sharding;
        sharding.partial = graph.value(slices[n]).part->sharding.partial;
        sharding.reduce = graph.value(slices[n]).part->sharding.reduce;
        become(inits_[yields.size()], sharding);
        become(arguments_[yields.size()], sharding);
        const ValueId so_far = arguments_[yields.size()];
        const ValueId entry = builder_.entry(slices[n], of.stacks[n].slice);
        yields.push_back(op("loop_update", {so_far, entry}, of.stacks[n].result, graph.value(so_far).part->sharding,
                            loop_attributes(graph_, loop_), "stacked"));
    }

    builder_.set_loop(of.parent);
    GraphLoop& made = graph.loops[loop_];
    Node marker = graph_.node(of.closes);
    marker.origin = of.closes;
    marker.inputs = yields;
    marker.outputs.clear();
    for (size_t n = 0; n < yields.size(); ++n) {
        const Sharding sharding = graph.value(yields[n]).part->sharding;
        const ValueId result =
            builder_.value(globals[n], sharding, sharding.partial.empty() ? "after" : "partial", keeps[n]);
        marker.outputs.push_back(result);
        made.carried.push_back({inits_[n], arguments_[n], yields[n], result});
    }
    const std::vector<ValueId> results = marker.outputs;
    append_node(graph, std::move(marker));
    return results;
}

void LocalLoop::add(size_t n, ValueId term) {
    const GraphLoop& of = header(graph_, loop_);
    const size_t place = of.carried.size() + n;
    const Sharding sharding = local_.graph.value(term).part->sharding;
    become(inits_[place], sharding);
    become(arguments_[place], sharding);
    summed_[n] = op("add", {arguments_[place], term}, of.sums[n].result, sharding, {}, "summed");
}

ValueId LocalLoop::zeros(ValueId global, Sharding sharding) {
    Attributes zero;
    zero.set("value", std::vector<double>{0});
    zero.set("shape", std::vector<i64>());
    zero.set("dtype", std::string(name(graph_.value(global).type.dtype)));
    return op("constant", {}, global, sharding, zero, "zeros");
}

// An op on local values, each device on its own part.
ValueId LocalLoop::op(std::string_view name, std::vector<ValueId> inputs, ValueId global, Sharding made,
                      const Attributes& attributes, std::string_view suffix) {
    Graph& graph = local_.graph;
    const ValueId result = builder_.value(global, made, suffix, false);
    std::vector<TensorType> local_types, global_types;
    for (ValueId id : inputs) {
        local_types.push_back(graph.value(id).type);
        global_types.push_back(graph.value(id).type);
        global_types.back().shape = graph.value(id).part->global_shape;
    }
    const std::vector<TensorType> local_results = {graph.value(result).type};
    std::vector<TensorType> global_results = local_results;
    global_results[0].shape = graph.value(result).part->global_shape;

    Node node;
    Apply apply{find_op(name), attributes, {}, {}};
    node.scope = header(graph_, loop_).scope;
    node.span = header(graph_, loop_).span;
    node.origin = header(graph_, loop_).closes;
    node.loop = graph.value(result).loop;
    if (inputs.empty()) {
        apply.attributes.set("shape", std::vector<i64>(local_results[0].shape));
        apply.kernel =
            Generate{Fill{0}, local_results[0].shape, std::vector<Affine>(local_results[0].shape.size(), constant(0))};
    } else {
        const IndexRule rule = apply.op->rule(global_types, global_results, attributes);
        std::vector<std::vector<AxisRef>> factor_axes(rule.factors.size());
        for (size_t d = 0; d < made.dims.size(); ++d)
            for (int factor : rule.results[0][d]) factor_axes[factor] = made.dims[d].axes;
        const LowerContext context{global_types, global_results, local_types, local_results,
                                   attributes,   rule,           factor_axes};
        apply.attributes = local_attributes(*apply.op, context);
        apply.kernel = apply.op->lower(context);
    }
    node.does = std::move(apply);
    node.inputs = std::move(inputs);
    node.outputs = {result};
    append_node(graph, std::move(node));
    return result;
}

// Zeros, and what begins as them, of another sharding.
void LocalLoop::become(ValueId id, Sharding sharding) {
    Value& value = local_.graph.value(id);
    value.part.change([&](LocalPart& part) { part.sharding = sharding; });
    value.type.shape = local_shape(value.part->global_shape, sharding);
    Node& producer = local_.graph.nodes[value.producer];
    if (producer.kernel() == nullptr) return; // the loop's beginning
    producer.apply().attributes.set("shape", std::vector<i64>(value.type.shape));
    producer.apply().kernel.change([&](Kernel& kernel) { std::get<Generate>(kernel).shape = value.type.shape; });
}

namespace {

// Whether the stack is added up over the trips of a loop around, itself or as an entry of a stack of that.
bool is_added_up(const Graph& graph, const GraphLoop& loop, const GraphLoop::Stack& stack) {
    if (loop.parent < 0) return false;
    const GraphLoop& around = header(graph, loop.parent);
    for (const GraphLoop::Sum& sum : around.sums)
        if (before_reshapes(graph, sum.term) == stack.result) return sum.reduce != GradientReduce::each;
    return std::any_of(around.stacks.begin(), around.stacks.end(), [&](const GraphLoop::Stack& outer) {
        return before_reshapes(graph, outer.slice) == stack.result && is_added_up(graph, around, outer);
    });
}

} // namespace

bool may_stack_partial(const Graph& graph, const GraphLoop& loop, const GraphLoop::Stack& stack,
                       const Sharding& pending, const Sharding& kept) {
    if (!is_added_up(graph, loop, stack)) return false;
    Sharding whole = pending;
    const std::vector<AxisRef> partial = std::exchange(whole.partial, {});
    const std::vector<AxisRef> split = used_axes(kept);
    Sharding entry = kept;
    entry.dims.erase(entry.dims.begin());
    return same_layout(whole, entry) &&
           std::none_of(partial.begin(), partial.end(), [&](const AxisRef& axis) { return overlaps_any(axis, split); });
}

} // namespace shard
