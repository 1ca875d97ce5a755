#include "planner/partition/compute_halo.h"

#include "plans/base/index_of.h"

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

} // namespace

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
