#include "planner/propagate/xla_compat.h"

#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>

namespace shard {

void count_copies_in_bits(Graph& graph, const Mesh& mesh, const Propagation& propagation, Diagnostics& diagnostics) {
    for (ValueId id : graph.inputs) {
        Value& value = graph.value(id);
        if (value.role != Role::param || !value.init || value.type.rank() == 0) continue;
        const Random* const random = std::get_if<Random>(&value.init->source);
        const std::vector<AxisRef>& first = propagation.values[id].dims[0].axes;
        if (random == nullptr || random->layout != BitLayout::legacy || first.empty()) continue;
        const i64 copies = mesh.device_count() / total_size(first);
        if (copies == 1) continue;
        value.init.change([copies](Generate& init) {
            std::get<Random>(init.source).multiplier = static_cast<std::uint32_t>(copies); // modulo 2^32, as the bits
        });
        diagnostics
            .warning("W0202", value.span,
                     fmt::format("the numbers of '{}' depend on the layout: as in XLA of 2024, {} copies of it are "
                                 "counted in its random bits",
                                 value.name, copies))
            .note("the model asks for that with rng: {compat: xla_concatenate_2024}")
            .help("without `compat` every layout has the same numbers");
    }
}

} // namespace shard
