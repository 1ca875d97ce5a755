#include "planner/partition/compute_halo.h"

#include "planner/ops_support/move.h"
#include "plans/base/index_of.h"

#include <algorithm>

namespace shard {

namespace {

// The dim of the result along which a permutation moves elements.
size_t moved_dim(const IndexRule& rule, size_t factor) {
    return index_of(rule.results[0], DimFactors{static_cast<int>(factor)});
}

// A device's part of each value, but for the dim: of that it has all.
std::vector<TensorType> whole_along(size_t dim, const std::vector<TensorType>& types,
                                    std::span<const Sharding> shardings) {
    std::vector<TensorType> parts = types;
    for (size_t i = 0; i < parts.size(); ++i) {
        parts[i].shape = local_shape(types[i].shape, shardings[i]);
        parts[i].shape[dim] = types[i].shape[dim];
    }
    return parts;
}

std::vector<TensorType> local_types(const std::vector<TensorType>& types, std::span<const Sharding> shardings) {
    std::vector<TensorType> parts = types;
    for (size_t i = 0; i < parts.size(); ++i) parts[i].shape = local_shape(types[i].shape, shardings[i]);
    return parts;
}

std::optional<std::vector<Overlap>> overlaps_of(const ComputeQuery& query, const IndexRule& rule,
                                                const ComputeSharding& choice) {
    if (!query.op->overlaps) return std::vector<Overlap>();
    const std::vector<TensorType> operands = local_types(query.operand_types, choice.operands),
                                  results = local_types(query.result_types, choice.results);
    return query.op->overlaps(
        {query.operand_types, query.result_types, operands, results, *query.attributes, rule, choice.factor_axes});
}

// Every device has just what it reads.
bool is_own(const Overlap& overlap, i64 held, i64 whole) {
    bool own = overlap.count == held && held * std::ssize(overlap.first) == whole;
    for (size_t n = 0; n < overlap.first.size(); ++n) own = own && overlap.first[n] == static_cast<i64>(n) * held;
    return own;
}

// From all of the dim to the blocks of all devices, one after the other.
Move blocks_of(const Overlap& overlap, const Shape& whole) {
    Move move;
    move.fill = overlap.fill;
    for (size_t n = 0; n < overlap.first.size(); ++n) {
        const i64 first = overlap.first[n], low = std::max<i64>(0, -first),
                  high = std::min(overlap.count, whole[overlap.dim] - first);
        move.covers = move.covers && low == 0 && high == overlap.count;
        if (low >= high) continue;
        MovePiece piece = whole_piece(0, whole);
        piece.in_start[overlap.dim] = constant(first + low);
        piece.out_start[overlap.dim] = constant(static_cast<i64>(n) * overlap.count + low);
        piece.extent[overlap.dim] = high - low;
        move.pieces.push_back(std::move(piece));
    }
    return move;
}

} // namespace

std::optional<std::vector<OverlapStage>> overlap_stages(const ComputeQuery& query, const IndexRule& rule,
                                                        const ComputeSharding& choice) {
    const std::optional<std::vector<Overlap>> overlaps = overlaps_of(query, rule, choice);
    if (!overlaps) return std::nullopt;
    std::vector<TensorType> held = local_types(query.operand_types, choice.operands);
    std::vector<OverlapStage> stages;
    for (const Overlap& overlap : *overlaps) {
        TensorType& operand = held[static_cast<size_t>(overlap.operand)];
        TensorType whole = operand, made = operand;
        whole.shape[overlap.dim] = query.operand_types[static_cast<size_t>(overlap.operand)].shape[overlap.dim];
        if (is_own(overlap, operand.shape[overlap.dim], whole.shape[overlap.dim])) continue;
        made.shape[overlap.dim] = overlap.count * total_size(overlap.axes);
        std::optional<Halo> sent =
            halo(blocks_of(overlap, whole.shape), std::span(&whole, 1), made, overlap.dim, overlap.axes);
        if (!sent) return std::nullopt;
        operand.shape[overlap.dim] = overlap.count;
        stages.push_back({static_cast<size_t>(overlap.operand), overlap.dim, overlap.axes, std::move(*sent), operand});
    }
    return stages;
}

std::vector<TensorType> overlapped_types(const ComputeQuery& query, const IndexRule& rule,
                                         const ComputeSharding& choice) {
    std::vector<TensorType> types = local_types(query.operand_types, choice.operands);
    const std::optional<std::vector<Overlap>> overlaps = overlaps_of(query, rule, choice);
    internal_check(overlaps.has_value(), "a way that cannot be computed");
    for (const Overlap& overlap : *overlaps)
        types[static_cast<size_t>(overlap.operand)].shape[overlap.dim] = overlap.count;
    return types;
}

bool can_split(const IndexRule& rule, const ComputeQuery& query, size_t factor, std::span<const AxisRef> axes) {
    const bool moves = rule.factors[factor].kind == FactorKind::permutation;
    const i64 size = moves ? query.result_types[0].shape[moved_dim(rule, factor)] : rule.factors[factor].size;
    return size % total_size(axes) == 0;
}

std::vector<size_t> split_permutations(const IndexRule& rule, std::span<const std::vector<AxisRef>> factor_axes) {
    std::vector<size_t> split;
    for (size_t f = 0; f < rule.factors.size(); ++f)
        if (rule.factors[f].kind == FactorKind::permutation && !factor_axes[f].empty()) split.push_back(f);
    return split;
}

std::optional<Halo> halo_of(const ComputeQuery& query, const IndexRule& rule, const ComputeSharding& choice) {
    const size_t factor = split_permutations(rule, choice.factor_axes).at(0), dim = moved_dim(rule, factor);
    const std::vector<TensorType> operands = whole_along(dim, query.operand_types, choice.operands),
                                  results = whole_along(dim, query.result_types, choice.results);
    std::vector<std::vector<AxisRef>> others = choice.factor_axes;
    others[factor].clear();
    const Kernel whole =
        query.op->lower({query.operand_types, query.result_types, operands, results, *query.attributes, rule, others});
    return halo(std::get<Move>(whole), operands, results[0], dim, choice.factor_axes[factor]);
}

} // namespace shard
