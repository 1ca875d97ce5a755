// What of a device's block of a buffer is no padding. Where axes do not divide a dim all devices hold as much, rounded
// up, and the last ones less that is real, or nothing:
//
//     6 elements over 4 devices, 2 each:  0 1 | 2 3 | 4 5 | - -
#pragma once

#include "plans/plan/plan.h"

namespace shard {

struct RealPart {
    std::vector<i64> start; // in the whole
    Shape shape;            // lies at the beginning of the block
    bool empty() const;
};
RealPart real_part(const Mesh& mesh, const Buffer& buffer, std::span<const i64> coordinates);

} // namespace shard
