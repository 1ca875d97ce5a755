#include "exporter/collective/collective_form.h"
#include "exporter/jax/jax_collective.h"
#include "exporter/stablehlo/hlo_collective.h"
#include "plans/collective/collective_data.h"

#include <fmt/format.h>

namespace shard {

namespace {

// Source and destination by rank in the group; every group does the same, so the first speaks for all.
PythonText jax(const Collective& collective, const JaxValue& input, JaxBody& body) {
    const Mesh& mesh = body.plan().mesh;
    std::vector<PythonText> pairs;
    for (const i64 position : group_of(mesh, 0, collective.axes)) {
        const i64 source = permute_source(collective, mesh, position);
        const auto rank = [&](i64 at) { return linear_coordinate(mesh, coordinates_of(mesh, at), collective.axes); };
        if (source >= 0) pairs.push_back({fmt::format("({}, {})", rank(source), rank(position))});
    }
    return bracket("lax.ppermute(",
                   {{input.name}, {jax_axes(body, collective.axes)}, bracket("perm=[", std::move(pairs), "]")}, ")");
}

HloValue stablehlo(const Collective& collective, const HloValue& input, HloBody& body) {
    const Mesh& mesh = body.plan().mesh;
    DeviceRows pairs;
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        const i64 source = permute_source(collective, mesh, position);
        if (source >= 0) pairs.push_back({body.device_at(source), body.device_at(position)});
    }
    if (pairs.empty()) return body.ops().constant(0, input.dtype, input.shape);
    return body.ops().generic("stablehlo.collective_permute", {input},
                              fmt::format("{}, source_target_pairs = {}", hlo_channel, hlo_matrix(pairs)), input.dtype,
                              input.shape);
}

} // namespace

const CollectiveForm& form_of_collective_permute() {
    static const CollectiveForm form = {.jax = jax, .stablehlo = stablehlo};
    return form;
}

} // namespace shard
