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
        const PythonText moved = bracket("lax.all_to_all(",
                                         {{at.name},
                                          {jax_axes(body, move.axes)},
                                          {fmt::format("split_axis={}", move.to)},
                                          {fmt::format("concat_axis={}", move.from)},
                                          {"tiled=True"}},
                                         ")");
        if (m + 1 == collective.moves.size()) return moved;
        at.name = body.part(input, moved);
    }
    return {at.name};
}

HloValue stablehlo(const Collective& collective, const HloValue& input, HloBody& body) {
    HloValue at = input;
    for (const AxisMove& move : collective.moves) {
        const i64 count = total_size(move.axes);
        Shape shape = at.shape;
        shape[static_cast<size_t>(move.to)] /= count;
        shape[static_cast<size_t>(move.from)] *= count;
        const std::string dims =
            fmt::format("split_dimension = {} : i64, concat_dimension = {} : i64, split_count = {} : i64", move.to,
                        move.from, count);
        at = body.ops().generic("stablehlo.all_to_all", {at}, fmt::format("{}, {}", dims, hlo_groups(move.axes, body)),
                                at.dtype, shape);
    }
    return at;
}

} // namespace

const CollectiveForm& form_of_all_to_all() {
    static const CollectiveForm form = {.jax = jax, .stablehlo = stablehlo};
    return form;
}

} // namespace shard
