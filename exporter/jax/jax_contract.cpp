#include "exporter/jax/jax_contract.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string letters(std::span<const int> labels) {
    std::string text;
    for (int label : labels) {
        internal_check(label >= 0 && label < 52, "a contraction of at most 52 labels");
        text += static_cast<char>(label < 26 ? 'a' + label : 'A' + label - 26);
    }
    return text;
}

bool is_matrix_product(const Contract& kernel) {
    return kernel.lhs.size() == 2 && kernel.rhs.size() == 2 && kernel.lhs[1] == kernel.rhs[0] &&
           kernel.out == std::vector<int>{kernel.lhs[0], kernel.rhs[1]};
}

} // namespace

PythonText jax_contract(const Contract& kernel, std::span<const JaxValue> inputs, const JaxValue& output) {
    const JaxValue &lhs = inputs[0], &rhs = inputs[1];
    const std::string notation =
        fmt::format("\"{},{}->{}\"", letters(kernel.lhs), letters(kernel.rhs), letters(kernel.out));
    const auto einsum = [&](std::string before, std::vector<PythonText> more, std::string after) {
        std::vector<PythonText> items = {{notation}, {lhs.name}, {rhs.name}};
        items.insert(items.end(), more.begin(), more.end());
        return bracket(std::move(before), std::move(items), std::move(after));
    };
    if (output.dtype == DType::boolean) // "or of and"
        return bracket("jnp.einsum(",
                       {{notation}, {lhs.name + ".astype(jnp.int32)"}, {rhs.name + ".astype(jnp.int32)"}},
                       ").astype(bool)");
    if (is_floating(lhs.dtype) && computed_as(lhs.dtype) != lhs.dtype) // sums in f32
        return einsum("jnp.einsum(", {{"preferred_element_type=jnp.float32"}},
                      output.dtype == DType::f32 ? ")" : fmt::format(").astype({})", jax_dtype(output.dtype)));
    if (is_matrix_product(kernel)) return infix(" @ ", {lhs.name}, {rhs.name});
    return einsum("jnp.einsum(", {}, ")");
}

} // namespace shard
