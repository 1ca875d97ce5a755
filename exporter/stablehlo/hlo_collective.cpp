#include "exporter/stablehlo/hlo_collective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

DeviceRows groups_of(std::span<const AxisRef> axes, const HloBody& body) {
    const Mesh& mesh = body.plan().mesh;
    DeviceRows groups;
    for (i64 position = 0; position < mesh.device_count(); ++position) {
        if (linear_coordinate(mesh, coordinates_of(mesh, position), axes) != 0) continue;
        groups.emplace_back();
        for (i64 member : group_of(mesh, position, axes)) groups.back().push_back(body.device_at(member));
    }
    return groups;
}

std::string hlo_matrix(const DeviceRows& rows) {
    std::vector<std::string> texts;
    for (const std::vector<i64>& row : rows) texts.push_back(hlo_list(row));
    return fmt::format("dense<[{}]> : {}", fmt::join(texts, ", "),
                       hlo_type(DType::i64, {static_cast<i64>(rows.size()), static_cast<i64>(rows[0].size())}));
}

std::string hlo_groups(std::span<const AxisRef> axes, const HloBody& body) {
    return fmt::format("{}, replica_groups = {}", hlo_channel, hlo_matrix(groups_of(axes, body)));
}

} // namespace shard
