#include "exporter/jax/collective_form.h"

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

} // namespace

const CollectiveForm& form_of_all_to_all() {
    static const CollectiveForm form = {.jax = jax};
    return form;
}

} // namespace shard
