// What forms of collectives share in StableHLO: devices by their number in the module, as attributes.
#pragma once

#include "exporter/stablehlo/hlo_body.h"

namespace shard {

// A collective between the partitions of one program.
inline constexpr std::string_view hlo_channel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";

using DeviceRows = std::vector<std::vector<i64>>;                           // all of one length
DeviceRows groups_of(std::span<const AxisRef> axes, const HloBody& body);   // each in the order of ranks
std::string hlo_matrix(const DeviceRows& rows);                             // dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
std::string hlo_groups(std::span<const AxisRef> axes, const HloBody& body); // with the channel

} // namespace shard
