#include "exporter/jax/collective_form.h"
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

} // namespace

const CollectiveForm& form_of_collective_permute() {
    static const CollectiveForm form = {.jax = jax};
    return form;
}

} // namespace shard
