#include "importer/shape/step_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

const DraftType& StepBuilder::type(DraftId value) const {
    return value >= 0 ? draft_.type(value) : steps_[static_cast<size_t>(-2 - value)].type;
}

DraftId StepBuilder::add(std::string op, std::vector<DraftId> operands, std::string arguments, DraftType type,
                         std::string literal) {
    steps_.push_back({std::move(op), std::move(literal), std::move(operands), std::move(arguments), std::move(type)});
    return of_step(steps_.size() - 1);
}

DraftId StepBuilder::moved(DraftId value, const FactorDims& from, const FactorDims& to) {
    const DType dtype = type(value).dtype;
    const Factors wanted = factors_.all(to);
    const Shape shape = factors_.shape(to);
    const auto reshaped = [&](DraftId of) {
        if (type(of).shape == shape) return of;
        return add("reshape", {of}, fmt::format(", shape: {}", list_text(shape)), {dtype, shape});
    };
    if (factors_.all(from) == wanted) return reshaped(value);
    const auto place = [&](int factor) { return std::find(wanted.begin(), wanted.end(), factor) - wanted.begin(); };
    FactorDims dims;
    bool is_whole = true; // each dim stays together
    for (const Factors& dim : from) {
        dims.push_back(factors_.parts(dim));
        for (size_t i = 1; i < dims.back().size(); ++i)
            is_whole = is_whole && place(dims.back()[i]) == place(dims.back()[i - 1]) + 1;
    }
    if (!is_whole) {
        FactorDims apart;
        for (const int factor : factors_.all(from)) apart.push_back({factor});
        const Shape each = factors_.shape(apart);
        return moved(add("reshape", {value}, fmt::format(", shape: {}", list_text(each)), {dtype, each}), apart, to);
    }
    std::vector<i64> order, ones;
    for (size_t d = 0; d < dims.size(); ++d) (dims[d].empty() ? ones : order).push_back(static_cast<i64>(d));
    std::sort(order.begin(), order.end(), [&](i64 a, i64 b) {
        return place(dims[static_cast<size_t>(a)][0]) < place(dims[static_cast<size_t>(b)][0]);
    });
    // Dims of size 1 where they are wanted, as far as they go.
    std::vector<i64> permutation;
    std::vector<i64>::const_iterator next = order.begin();
    for (const Factors& dim : to) {
        const Factors parts = factors_.parts(dim);
        if (parts.empty() && !ones.empty()) {
            permutation.push_back(ones.front());
            ones.erase(ones.begin());
        }
        for (; next != order.end() &&
               std::find(parts.begin(), parts.end(), dims[static_cast<size_t>(*next)][0]) != parts.end();
             ++next)
            permutation.push_back(*next);
    }
    permutation.insert(permutation.end(), next, order.cend());
    permutation.insert(permutation.end(), ones.begin(), ones.end());
    Shape turned;
    for (const i64 dim : permutation) turned.push_back(type(value).shape[static_cast<size_t>(dim)]);
    return reshaped(
        add("transpose", {value}, fmt::format(", permutation: {}", list_text(permutation)), {dtype, turned}));
}

Composite StepBuilder::composite() && {
    internal_check(!steps_.empty(), "a composite without an entry");
    CompositeStep last = std::move(steps_.back());
    steps_.pop_back();
    return {std::move(last.op), std::move(last.operands), std::move(last.arguments), std::move(steps_)};
}

} // namespace shard
