#include "exporter/collective/collective_form.h"
#include "exporter/jax/jax_collective.h"
#include "exporter/stablehlo/hlo_collective.h"
#include "exporter/stablehlo/hlo_reduce.h"

#include <fmt/format.h>

namespace shard {

namespace {

PythonText jax(const Collective& collective, const JaxValue& input, JaxBody& body) {
    return jax_all_reduce(collective.reduce, collective.axes, input, body);
}

HloValue stablehlo(const Collective& collective, const HloValue& input, HloBody& body) {
    return hlo_with_combiner("stablehlo.all_reduce", {input},
                             hlo_groups(collective.axes, body) + ", use_global_device_ids", collective.reduce, input,
                             body.ops());
}

} // namespace

const CollectiveForm& form_of_all_reduce() {
    static const CollectiveForm form = {.jax = jax, .stablehlo = stablehlo};
    return form;
}

} // namespace shard
