#include "exporter/jax/jax_collective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

std::string jax_axes(const JaxBody& body, std::span<const AxisRef> axes) {
    std::vector<std::string> names;
    for (const std::string& name : body.mesh().names(axes)) names.push_back(quoted(name));
    return names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", "));
}

PythonText jax_all_reduce(ReduceOp reduce, std::span<const AxisRef> axes, const JaxValue& input, JaxBody& body) {
    const std::string over = jax_axes(body, axes);
    if (input.dtype == DType::boolean) {
        const bool any = reduce == ReduceOp::sum || reduce == ReduceOp::max;
        return bracket(any ? "lax.pmax(" : "lax.pmin(", {{input.name + ".astype(jnp.uint8)"}, {over}},
                       ").astype(bool)");
    }
    if (reduce == ReduceOp::prod) // jax.lax has none
        return bracket("jnp.prod(", {bracket("lax.all_gather(", {{input.name}, {over}}, ")"), {"axis=0"}},
                       fmt::format(").astype({})", jax_dtype(input.dtype)));
    return bracket(fmt::format("lax.p{}(", name(reduce)), {{input.name}, {over}}, ")");
}

} // namespace shard
