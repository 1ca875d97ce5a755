// Draws which device holds which part of a value.
//
//     w1  param  f32 (embed 1024, hidden 1024)  [- | model]       mesh data 2, model 4
//       a device holds (1024, 256), 1.00 MiB; 4 parts, each on 2 devices: copies over data
//
//                hidden over model
//                0..255  256..511  512..767  768..1023
//               +-------+---------+---------+----------+
//       0..1023 |  0,4  |   1,5   |   2,6   |   3,7    |
//               +-------+---------+---------+----------+
//
// Rank 1 and 2 are a grid; of a higher rank every sharded dim is listed. Ids are those of the mesh, sorted.
#pragma once

#include "cli/terminal/paint.h"
#include "plans/plan/report.h"

namespace shard {

// "0,4", "0-3", "0-3,8-11", "0,2,4,6,8,10,... 64 devices". Sorted ids.
std::string id_list(const std::vector<i64>& ids);

// Ids of the devices that hold the part with these indices, one per dim.
std::vector<i64> holders(const Mesh& mesh, const Sharding& sharding, const std::vector<i64>& part);

std::string device_grid(const Mesh& mesh, const TensorReport& tensor, const std::string& shown_name,
                        const Paint& paint);

} // namespace shard
