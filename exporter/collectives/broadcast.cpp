#include "exporter/collective/collective_form.h"
#include "exporter/jax/jax_collective.h"
#include "exporter/stablehlo/hlo_collective.h"

#include <fmt/format.h>

namespace shard {

namespace {

PythonText jax(const Collective& collective, const JaxValue& input, JaxBody& body) {
    return bracket("lax.pbroadcast(",
                   {{input.name}, {jax_axes(body, collective.axes)}, {fmt::format("source={}", collective.root)}}, ")");
}

// The first of a group is the one that sends.
HloValue stablehlo(const Collective& collective, const HloValue& input, HloBody& body) {
    DeviceRows groups = groups_of(collective.axes, body);
    for (std::vector<i64>& group : groups) std::swap(group[0], group[static_cast<size_t>(collective.root)]);
    return body.ops().generic("stablehlo.collective_broadcast", {input},
                              fmt::format("{}, replica_groups = {}", hlo_channel, hlo_matrix(groups)), input.dtype,
                              input.shape);
}

} // namespace

const CollectiveForm& form_of_broadcast() {
    static const CollectiveForm form = {.jax = jax, .stablehlo = stablehlo};
    return form;
}

} // namespace shard
