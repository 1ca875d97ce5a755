#include "exporter/jax/jax_order.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string how(const Scan& kernel) {
    return fmt::format("axis={}{}", kernel.dim, kernel.reverse ? ", reverse=True" : "");
}

} // namespace

// Narrow floats are summed in f32, as in the kernel.
PythonText jax_scan(const Scan& kernel, std::span<const JaxValue> inputs) {
    const DType dtype = inputs[0].dtype;
    const bool widens = is_floating(dtype) && computed_as(dtype) != dtype;
    const auto operand = [&](const JaxValue& value) {
        return widens ? fmt::format("{}.astype(jnp.float32)", value.name) : value.name;
    };
    const std::string end = widens ? fmt::format(".astype({})", jax_dtype(dtype)) : "";
    if (kernel.op == ScanOp::linear)
        return bracket("lax.associative_scan(",
                       {{"lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])"},
                        {fmt::format("({}, {})", operand(inputs[0]), operand(inputs[1]))},
                        {how(kernel)}},
                       ")[1]" + end);
    return bracket(fmt::format("lax.cum{}(", name(kernel.op)), {{operand(inputs[0])}, {how(kernel)}}, ")" + end);
}

PythonText jax_sort(const Sort& kernel, std::span<const JaxValue> inputs, const JaxValue& output) {
    std::vector<PythonText> keys;
    for (const JaxValue& key : inputs) keys.push_back({key.name});
    return bracket("positions(",
                   {tuple(std::move(keys)),
                    {std::to_string(kernel.dim)},
                    {kernel.descending ? "True" : "False"},
                    {std::to_string(output.shape[static_cast<size_t>(kernel.dim)])}},
                   ")");
}

} // namespace shard
