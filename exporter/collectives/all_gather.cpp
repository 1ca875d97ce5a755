#include "exporter/jax/collective_form.h"

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

} // namespace

const CollectiveForm& form_of_all_gather() {
    static const CollectiveForm form = {.jax = jax};
    return form;
}

} // namespace shard
