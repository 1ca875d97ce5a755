#include "plans/kernel.h"

#include <algorithm>
#include <limits>

namespace shard {

std::string_view class_name(const Kernel& kernel) {
    constexpr std::string_view names[] = {"contract", "pointwise", "reduce", "move", "gather", "generate"};
    static_assert(std::size(names) == std::variant_size_v<Kernel>);
    return names[kernel.index()];
}

namespace {

// Totals beyond 64 bits stay at the largest number instead of wrapping: a figure for people.
i64 saturating(i64 a, i64 b) { return checked_multiply(a, b).value_or(std::numeric_limits<i64>::max()); }

i64 contract_flops(const Contract& contract, std::span<const TensorType> inputs, const TensorType& output) {
    // One multiplication and one addition per element of out and per combination of the labels that are summed.
    i64 count = 2;
    for (i64 size : output.shape) count = saturating(count, size);
    for (size_t d = 0; d < contract.lhs.size(); ++d) {
        const bool summed = std::find(contract.out.begin(), contract.out.end(), contract.lhs[d]) == contract.out.end();
        if (summed) count = saturating(count, inputs[0].shape[d]);
    }
    return count;
}

bool is_arithmetic(ScalarOp op) {
    return op != ScalarOp::input && op != ScalarOp::constant && op != ScalarOp::index && op != ScalarOp::cast;
}

} // namespace

i64 flops(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    if (const Contract* contract = std::get_if<Contract>(&kernel)) return contract_flops(*contract, inputs, output);
    if (const Pointwise* pointwise = std::get_if<Pointwise>(&kernel)) {
        i64 steps = 0;
        for (const ScalarStep& step : pointwise->steps) steps += is_arithmetic(step.op) ? 1 : 0;
        return saturating(steps, output.elements());
    }
    if (std::holds_alternative<Reduce>(kernel)) return inputs[0].elements();
    return 0;
}

} // namespace shard
