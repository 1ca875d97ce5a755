#include "exporter/collective/collective_form.h"
#include "exporter/jax/jax_collective.h"
#include "exporter/stablehlo/hlo_collective.h"
#include "exporter/stablehlo/hlo_reduce.h"

#include <fmt/format.h>

namespace shard {

namespace {

// jax.lax has it for sums alone: others are reduced whole, and each device keeps its block.
PythonText own_block(const Collective& collective, const AxisMove& move, const JaxValue& input, JaxBody& body) {
    const i64 size = input.shape[static_cast<size_t>(move.to)] / total_size(move.axes);
    const std::string whole = body.part(input, jax_all_reduce(collective.reduce, move.axes, input, body));
    return bracket("lax.dynamic_slice_in_dim(",
                   {{whole},
                    {fmt::format("{} * lax.axis_index({})", size, jax_axes(body, move.axes))},
                    {std::to_string(size)},
                    {fmt::format("axis={}", move.to)}},
                   ")");
}

PythonText jax(const Collective& collective, const JaxValue& input, JaxBody& body) {
    JaxValue at = input;
    for (size_t m = 0; m < collective.moves.size(); ++m) {
        const AxisMove& move = collective.moves[m];
        const bool sums = collective.reduce == ReduceOp::sum && input.dtype != DType::boolean;
        const PythonText scattered = !sums ? own_block(collective, move, at, body)
                                           : bracket("lax.psum_scatter(",
                                                     {{at.name},
                                                      {jax_axes(body, move.axes)},
                                                      {fmt::format("scatter_dimension={}", move.to)},
                                                      {"tiled=True"}},
                                                     ")");
        if (m + 1 == collective.moves.size()) return scattered;
        at.name = body.part(input, scattered);
        at.shape[static_cast<size_t>(move.to)] /= total_size(move.axes);
    }
    return {at.name};
}

HloValue stablehlo(const Collective& collective, const HloValue& input, HloBody& body) {
    HloValue at = input;
    for (const AxisMove& move : collective.moves) {
        HloValue result = at;
        result.shape[static_cast<size_t>(move.to)] /= total_size(move.axes);
        at = hlo_with_combiner("stablehlo.reduce_scatter", {at},
                               fmt::format("{}, scatter_dimension = {} : i64, use_global_device_ids",
                                           hlo_groups(move.axes, body), move.to),
                               collective.reduce, result, body.ops());
    }
    return at;
}

} // namespace

const CollectiveForm& form_of_reduce_scatter() {
    static const CollectiveForm form = {.jax = jax, .stablehlo = stablehlo};
    return form;
}

} // namespace shard
