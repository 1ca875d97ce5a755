#include "exporter/collective/collective_form.h"
#include "exporter/jax/jax_collective.h"
#include "exporter/stablehlo/hlo_collective.h"

#include <fmt/format.h>

namespace shard {

namespace {

PythonText jax(const Collective& collective, const JaxValue& input, JaxBody& body) {
    JaxValue at = input;
    for (size_t m = 0; m < collective.moves.size(); ++m) {
        const AxisMove& move = collective.moves[m];
        const PythonText gathered =
            bracket("lax.all_gather(",
                    {{at.name}, {jax_axes(body, move.axes)}, {fmt::format("axis={}", move.from)}, {"tiled=True"}}, ")");
        if (m + 1 == collective.moves.size()) return gathered;
        at.name = body.part(input, gathered);
    }
    return {at.name};
}

HloValue stablehlo(const Collective& collective, const HloValue& input, HloBody& body) {
    HloValue at = input;
    for (const AxisMove& move : collective.moves) {
        Shape shape = at.shape;
        shape[static_cast<size_t>(move.from)] *= total_size(move.axes);
        at = body.ops().generic(
            "stablehlo.all_gather", {at},
            fmt::format("all_gather_dim = {} : i64, {}, use_global_device_ids", move.from, hlo_groups(move.axes, body)),
            at.dtype, shape);
    }
    return at;
}

} // namespace

const CollectiveForm& form_of_all_gather() {
    static const CollectiveForm form = {.jax = jax, .stablehlo = stablehlo};
    return form;
}

} // namespace shard
