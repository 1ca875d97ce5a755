#include "exporter/jax/collective_form.h"

namespace shard {

namespace {

PythonText jax(const Collective& collective, const JaxValue& input, JaxBody& body) {
    return jax_all_reduce(collective.reduce, collective.axes, input, body);
}

} // namespace

const CollectiveForm& form_of_all_reduce() {
    static const CollectiveForm form = {.jax = jax};
    return form;
}

} // namespace shard
