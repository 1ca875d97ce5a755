#include "exporter/stablehlo/hlo_sort.h"

#include <fmt/format.h>

namespace shard {

namespace {

// NaN is the largest number.
HloValue comes_before(const HloValue& a, const HloValue& b, HloOps& ops) {
    const HloValue less = ops.less({a, b});
    if (!is_floating(a.dtype)) return less;
    const HloValue number = ops.pointwise("stablehlo.compare EQ,", {a, a}, DType::boolean);
    const HloValue none = ops.pointwise("stablehlo.compare NE,", {b, b}, DType::boolean);
    return ops.pointwise("stablehlo.or", {less, ops.pointwise("stablehlo.and", {number, none})});
}

} // namespace

HloValue hlo_sort(const Sort& kernel, const HloValues& keys, const HloValue& output, HloOps& ops) {
    HloValues sorted = keys;
    sorted.push_back(ops.iota(kernel.dim, output.dtype, keys[0].shape));
    std::vector<DType> scalars; // two of each
    for (const HloValue& value : sorted) scalars.insert(scalars.end(), 2, value.dtype);
    const auto compare = [&](const HloValues& pairs) {
        HloValue before;
        for (size_t k = keys.size(); k-- > 0;) {
            HloValue a = pairs[2 * k], b = pairs[2 * k + 1];
            if (kernel.descending) std::swap(a, b);
            const HloValue first = comes_before(a, b, ops);
            if (k + 1 == keys.size()) {
                before = first;
                continue;
            }
            const HloValue not_after = ops.pointwise("stablehlo.not", {comes_before(b, a, ops)});
            const HloValue equal = ops.pointwise("stablehlo.and", {not_after, before});
            before = ops.pointwise("stablehlo.or", {first, equal});
        }
        return before;
    };
    const std::string attributes = fmt::format("dimension = {} : i64, is_stable = true", kernel.dim);
    const HloValue order = ops.with_region("stablehlo.sort", sorted, attributes, scalars, compare, sorted).back();
    const std::vector<i64> zeros(output.shape.size(), 0), ones(output.shape.size(), 1);
    return ops.slice(order, zeros, output.shape, ones);
}

} // namespace shard
