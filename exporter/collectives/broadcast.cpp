#include "exporter/jax/collective_form.h"

#include <fmt/format.h>

namespace shard {

namespace {

PythonText jax(const Collective& collective, const JaxValue& input, JaxBody& body) {
    return bracket("lax.pbroadcast(",
                   {{input.name}, {jax_axes(body, collective.axes)}, {fmt::format("source={}", collective.root)}}, ")");
}

} // namespace

const CollectiveForm& form_of_broadcast() {
    static const CollectiveForm form = {.jax = jax};
    return form;
}

} // namespace shard
