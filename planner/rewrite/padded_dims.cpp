#include "planner/rewrite/padded_dims.h"

#include "planner/graph/types_of.h"
#include "plans/base/division.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace shard {

namespace {

void for_each_seed(const Graph& graph, const Seeds& seeds,
                   const std::function<void(ValueId, const std::optional<Sharding>&)>& visit) {
    for (size_t v = 0; v < seeds.values.size(); ++v) visit(static_cast<ValueId>(v), seeds.values[v]);
    for (size_t n = 0; n < seeds.constraints.size(); ++n)
        if (seeds.constraints[n]) visit(graph.nodes[n].outputs[0], seeds.constraints[n]);
    for (size_t o = 0; o < seeds.outputs.size(); ++o) visit(graph.outputs[o], seeds.outputs[o]);
}

bool is_uneven(const TensorType& type, const Sharding& sharding, size_t dim) {
    return type.shape[dim] % shard_count(sharding.dims[dim]) != 0;
}

} // namespace

std::optional<double> neutral_element(ReduceOp op, DType dtype) {
    if (op == ReduceOp::sum) return 0;
    if (op == ReduceOp::prod) return 1;
    if (is_floating(dtype)) {
        if (byte_size(dtype) == 1) return std::nullopt; // some have no infinity
        const double infinity = std::numeric_limits<double>::infinity();
        return op == ReduceOp::max ? -infinity : infinity;
    }
    if (op == ReduceOp::max) return static_cast<double>(info(dtype).lowest);
    constexpr std::uint64_t exact = std::uint64_t{1} << 53;
    if (info(dtype).highest > exact) return std::nullopt;
    return static_cast<double>(info(dtype).highest);
}

namespace {

bool has(const DimFactors& factors, int factor) {
    return std::find(factors.begin(), factors.end(), factor) != factors.end();
}

// Boxes that begin where scalars or a loop say: they are kept inside a dim as long as it is.
bool begins_anywhere(const Move& move, const IndexRule& rule, int factor) {
    for (const MovePiece& piece : move.pieces) {
        const TensorFactors& from = rule.operands[static_cast<size_t>(piece.operand)];
        for (size_t d = 0; d < piece.in_start.size(); ++d)
            if (!piece.in_start[d].is_constant() && has(from[d], factor)) return true;
        for (size_t d = 0; d < piece.out_start.size(); ++d)
            if (!piece.out_start[d].is_constant() && has(rule.results[0][d], factor)) return true;
    }
    return false;
}

// What the kernel makes of elements depends on how many the factor's dims have.
bool depends_on_size(const Kernel& kernel, const IndexRule& rule, int factor, const TensorType& result) {
    const bool is_reduced = rule.factors[static_cast<size_t>(factor)].kind == FactorKind::reduction;
    if (const Move* move = std::get_if<Move>(&kernel)) return begins_anywhere(*move, rule, factor);
    const auto is_in_blocks = [](const Generate& drawn) {
        const Random* const random = std::get_if<Random>(&drawn.source);
        return random != nullptr && !random->blocks.empty();
    };
    if (const Attend* attend = std::get_if<Attend>(&kernel))
        // Positions of queries and of keys, and what a softmax is over.
        return (attend->kept && is_in_blocks(*attend->kept)) || is_reduced || has(rule.operands[0][1], factor) ||
               has(rule.operands[1][1], factor);
    if (const RaggedContract* const ragged = std::get_if<RaggedContract>(&kernel)) { // as many groups as sizes
        const TensorFactors& matrices = ragged->part == RaggedPart::rows ? rule.operands[1] : rule.results[0];
        return has(matrices[matrices.size() - 3], factor);
    }
    if (std::holds_alternative<Convolve>(kernel) || std::holds_alternative<ReduceWindows>(kernel) ||
        std::holds_alternative<SelectWindows>(kernel))
        return is_reduced; // windows slide along it, or channels are summed
    const Generate* const generate = std::get_if<Generate>(&kernel);
    if (generate == nullptr) return false;
    return std::holds_alternative<Literal>(generate->source) || is_in_blocks(*generate) ||
           (std::holds_alternative<Iota>(generate->source) && byte_size(result.dtype) < 4); // may not count so far
}

std::optional<Kernel> whole_kernel(const Node& node, const UnpaddedOp& op) {
    if (node.op()->lower == nullptr || node.op()->device != nullptr) return std::nullopt;
    const std::vector<std::vector<AxisRef>> unsplit(op.rule.factors.size());
    return node.op()->lower({op.operands, op.results, op.operands, op.results, node.attributes(), op.rule, unsplit});
}

} // namespace

UnpaddedOp::UnpaddedOp(const Node& node, std::vector<TensorType> of_operands, std::vector<TensorType> of_results)
    : operands(std::move(of_operands)), results(std::move(of_results)),
      rule(node.op()->rule(operands, results, node.attributes())), kernel(whole_kernel(node, *this)) {}

bool UnpaddedOp::takes_padding(int factor) const {
    const Factor& of = rule.factors[static_cast<size_t>(factor)];
    if (of.size == 1 || (of.kind != FactorKind::pass_through && of.kind != FactorKind::reduction)) return false;
    const auto is_alone = [&](std::span<const TensorType> types, const std::vector<TensorFactors>& tensors) {
        for (size_t t = 0; t < tensors.size(); ++t)
            for (size_t d = 0; d < tensors[t].size(); ++d)
                if (has(tensors[t][d], factor) && (tensors[t][d].size() != 1 || types[t].shape[d] != of.size))
                    return false;
        return true;
    };
    if (!is_alone(operands, rule.operands) || !is_alone(results, rule.results)) return false;
    if (of.kind == FactorKind::reduction)
        for (const TensorType& type : operands)
            if (!neutral_element(rule.reduce, type.dtype)) return false;
    return !kernel || !depends_on_size(*kernel, rule, factor, results[0]);
}

PaddedDims::PaddedDims(const Graph& graph, const Seeds& seeds) : graph_(&graph) {
    for_each_seed(graph, seeds, [&](ValueId id, const std::optional<Sharding>& seed) {
        for (size_t d = 0; seed && d < seed->dims.size(); ++d) any_ = any_ || is_uneven(graph.value(id).type, *seed, d);
    });
    for (const Value& value : graph.values) {
        first_.push_back(sizes_.size());
        sizes_.insert(sizes_.end(), value.type.shape.begin(), value.type.shape.end());
    }
    if (!any_) return;
    parent_.resize(sizes_.size());
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    for (const Node& node : graph.nodes)
        if (node.op() != nullptr) join_node(graph, node);
    for (const GraphLoop& loop : graph.loops)
        if (loop.opens >= 0) join_loop(graph, loop);
    for (const Update& update : graph.updates) join_all(update.input, update.output);

    std::vector<i64> parts(sizes_.size(), 1); // by root: into how many it has to divide
    for_each_seed(graph, seeds, [&](ValueId id, const std::optional<Sharding>& seed) {
        for (size_t d = 0; seed && d < seed->dims.size(); ++d) {
            i64& of = parts[root(first_[static_cast<size_t>(id)] + d)];
            of = std::lcm(of, shard_count(seed->dims[d]));
        }
    });
    for (size_t at = 0; at < sizes_.size(); ++at) {
        const i64 multiple = parts[root(at)];
        sizes_[at] = round_up(sizes_[at], multiple);
    }
}

size_t PaddedDims::root(size_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
}

void PaddedDims::join(ValueId a, size_t dim_a, ValueId b, size_t dim_b) {
    const size_t one = first_[static_cast<size_t>(a)] + dim_a, other = first_[static_cast<size_t>(b)] + dim_b;
    internal_check(sizes_[one] == sizes_[other], "two dims that are one have different sizes");
    parent_[root(one)] = root(other);
}

void PaddedDims::join_all(ValueId a, ValueId b) {
    for (size_t d = 0; d < graph_->value(a).type.shape.size(); ++d) join(a, d, b, d);
}

void PaddedDims::join_node(const Graph& graph, const Node& node) {
    const UnpaddedOp op(node, types_of(graph, node.inputs), types_of(graph, node.outputs));
    const IndexRule& rule = op.rule;
    std::vector<std::pair<ValueId, size_t>> seen(rule.factors.size(), {-1, 0});
    std::vector<bool> joins;
    for (size_t f = 0; f < rule.factors.size(); ++f) joins.push_back(op.takes_padding(static_cast<int>(f)));
    const auto meet = [&](const std::vector<ValueId>& ids, const std::vector<TensorFactors>& tensors) {
        for (size_t t = 0; t < tensors.size(); ++t)
            for (size_t d = 0; d < tensors[t].size(); ++d)
                for (int factor : tensors[t][d]) {
                    if (!joins[static_cast<size_t>(factor)]) continue;
                    auto& [id, dim] = seen[static_cast<size_t>(factor)];
                    if (id >= 0) join(id, dim, ids[t], d);
                    id = ids[t];
                    dim = d;
                }
    };
    meet(node.inputs, rule.operands);
    meet(node.outputs, rule.results);
}

void PaddedDims::join_loop(const Graph& graph, const GraphLoop& loop) {
    for (const GraphLoop::Carried& carried : loop.carried)
        for (ValueId id : {carried.argument, carried.yield, carried.result}) join_all(carried.init, id);
    for (const GraphLoop::Sum& sum : loop.sums) join_all(sum.term, sum.result);
    for (const GraphLoop::Stack& stack : loop.stacks)
        for (size_t d = 0; d < graph.value(stack.slice).type.shape.size(); ++d)
            join(stack.slice, d, stack.result, d + 1);
}

} // namespace shard
