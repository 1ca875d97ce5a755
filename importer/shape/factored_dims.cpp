#include "importer/shape/factored_dims.h"

#include "importer/model/arguments.h"

#include <algorithm>

namespace shard {

int FactoredDims::factor(i64 size) {
    factors_.push_back({size});
    return static_cast<int>(factors_.size()) - 1;
}

FactorDims FactoredDims::fresh(const Shape& shape) {
    FactorDims dims;
    for (const i64 size : shape) dims.push_back(size == 1 ? Factors() : Factors{factor(size)});
    return dims;
}

Factors FactoredDims::parts(const Factors& factors) const {
    Factors found;
    for (const int number : factors) {
        const Factor& factor = factors_[static_cast<size_t>(number)];
        const Factors own = factor.outer < 0 ? Factors{number} : parts({factor.outer, factor.inner});
        found.insert(found.end(), own.begin(), own.end());
    }
    return found;
}

Factors FactoredDims::all(const FactorDims& dims) const {
    Factors found;
    for (const Factors& dim : dims) {
        const Factors own = parts(dim);
        found.insert(found.end(), own.begin(), own.end());
    }
    return found;
}

i64 FactoredDims::size(const Factors& factors) const {
    i64 size = 1;
    for (const int factor : factors) size *= factors_[static_cast<size_t>(factor)].size;
    return size;
}

Shape FactoredDims::shape(const FactorDims& dims) const {
    Shape shape;
    for (const Factors& dim : dims) shape.push_back(size(dim));
    return shape;
}

std::optional<FactorDims> FactoredDims::grouped(const Factors& factors, const Shape& shape, bool may_split) {
    Factors left(factors.rbegin(), factors.rend());
    FactorDims dims;
    for (const i64 size : shape) {
        if (size < 1) return std::nullopt;
        Factors& dim = dims.emplace_back();
        for (i64 rest = size; rest > 1;) {
            if (left.empty()) return std::nullopt;
            const int next = left.back();
            const i64 own = factors_[static_cast<size_t>(next)].size;
            if (own < 1 || (rest % own != 0 && own % rest != 0)) return std::nullopt;
            if (rest % own != 0 && !may_split) return std::nullopt;
            left.pop_back();
            if (rest % own == 0) {
                dim.push_back(next);
                rest /= own;
                continue;
            }
            const int outer = factor(rest), inner = factor(own / rest);
            factors_[static_cast<size_t>(next)].outer = outer;
            factors_[static_cast<size_t>(next)].inner = inner;
            dim.push_back(outer);
            left.push_back(inner);
            rest = 1;
        }
    }
    return left.empty() ? std::optional<FactorDims>(std::move(dims)) : std::nullopt;
}

std::optional<FactorDims> FactoredDims::above(const Draft& draft, const DraftEntry& entry, const FactorDims& made,
                                              Through through) {
    if (entry.op == "reshape") return grouped(all(made), draft.type(entry.operands[0]).shape, through.splits);
    const Shape shape = entry.operands.empty() ? Shape() : draft.type(entry.operands[0]).shape;
    FactorDims dims(shape.size());
    if (entry.op == "transpose") {
        const std::vector<i64> permutation = listed(entry.arguments, "permutation");
        if (permutation.size() != dims.size() || made.size() != dims.size()) return std::nullopt;
        for (size_t i = 0; i < dims.size(); ++i) {
            if (permutation[i] < 0 || permutation[i] >= std::ssize(dims)) return std::nullopt;
            dims[static_cast<size_t>(permutation[i])] = made[i];
        }
        return dims;
    }
    if (entry.op != "broadcast" || !through.broadcasts) return std::nullopt;
    const std::vector<i64> places = listed(entry.arguments, "dims");
    if (places.size() != dims.size()) return std::nullopt;
    for (size_t i = 0; i < dims.size(); ++i) {
        if (places[i] < 0 || places[i] >= std::ssize(made)) return std::nullopt;
        if (shape[i] > 1) dims[i] = made[static_cast<size_t>(places[i])];
    }
    return dims;
}

FactorDims FactoredDims::aligned(const Shape& operand, const Shape& result, const FactorDims& made) const {
    FactorDims dims(operand.size());
    for (size_t back = 1; back <= std::min(operand.size(), result.size()); ++back)
        if (operand[operand.size() - back] > 1) dims[operand.size() - back] = made[result.size() - back];
    return dims;
}

} // namespace shard
