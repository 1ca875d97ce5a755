// Refuses what 64-bit arithmetic cannot plan, before anything is allocated or multiplied out.
#include "planner/propagate/check_sizes.h"

#include "plans/base/checked.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

bool check_sizes(const Graph& graph, const Mesh& mesh, const Propagation& propagation, Diagnostics& diagnostics) {
    // A device's arena holds at most every value and a few copies of it; a collective on what the devices keep moves at
    // most twice that on all of them. So offsets stay below 2^56 and totals over devices below 2^62. Ways that would
    // send more, as to make a value whole on a million devices, are priced with saturating sums.
    constexpr i64 arena_limit = i64{1} << 54, whole_limit = i64{1} << 60, total_limit = i64{1} << 61;
    i64 sum = 0;
    for (size_t i = 0; i < graph.values.size(); ++i) {
        const Value& value = graph.values[i];
        const std::optional<i64> whole = checked_element_count(value.type.shape);
        const std::optional<i64> whole_bytes =
            whole ? checked_multiply(*whole, byte_size(value.type.dtype)) : std::nullopt;
        if (!whole_bytes) {
            diagnostics.error("E0401", value.span,
                              fmt::format("'{}' of shape {} has more bytes than 64 bits can count", value.name,
                                          shape_text(value.type.shape)));
            return false;
        }
        const i64 bytes =
            element_count(local_shape(value.type.shape, propagation.values[i])) * byte_size(value.type.dtype);
        const std::optional<i64> everywhere = checked_multiply(bytes, mesh.device_count());
        const bool fits_device = bytes <= arena_limit - sum && *whole_bytes <= whole_limit;
        if (fits_device && (!everywhere || *everywhere > total_limit)) {
            diagnostics
                .error("E0401", value.span,
                       fmt::format("too large to plan at '{}' of shape {}: {} on each of the mesh's {} devices",
                                   value.name, shape_text(value.type.shape), exact_bytes(bytes), mesh.device_count()))
                .help("look for an axis size with too many digits, of the mesh or of the model");
            return false;
        }
        if (!fits_device) {
            diagnostics
                .error("E0401", value.span,
                       fmt::format("too large to plan at '{}' of shape {}: {} per device, {} whole", value.name,
                                   shape_text(value.type.shape), exact_bytes(bytes), exact_bytes(*whole_bytes)))
                .note(fmt::format("the values before it take {} per device", exact_bytes(sum)))
                .help("look for an axis size with too many digits");
            return false;
        }
        sum += bytes;
    }
    return true;
}

} // namespace shard
