#include "plans/kernel_cost.h"

#include <algorithm>

namespace shard {

double kernel_seconds(const Hardware& hardware, DType dtype, i64 flops, i64 bytes) {
    double seconds = hardware.kernel_floor;
    std::map<std::string, double>::const_iterator peak = hardware.flops.find(std::string(name(dtype)));
    if (peak == hardware.flops.end()) peak = hardware.flops.find("f32");
    if (peak == hardware.flops.end()) peak = hardware.flops.find("bf16");
    if (peak != hardware.flops.end() && peak->second > 0) {
        seconds = std::max(seconds, static_cast<double>(flops) / (peak->second * hardware.flop_efficiency));
    }
    if (hardware.memory_bandwidth > 0) {
        seconds =
            std::max(seconds, static_cast<double>(bytes) / (hardware.memory_bandwidth * hardware.memory_efficiency));
    }
    return seconds;
}

} // namespace shard
