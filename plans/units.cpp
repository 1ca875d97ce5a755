#include "plans/units.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace shard {

std::string bytes_text(i64 bytes) {
    constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes);
    size_t unit = 0;
    while (std::fabs(value) >= 1024 && unit + 1 < std::size(units)) value /= 1024, ++unit;
    // Whole amounts without a point: "24 KiB", and "24.5 KiB".
    const double rounded = std::round(value * 10) / 10;
    return rounded == std::round(rounded) ? fmt::format("{:.0f} {}", rounded, units[unit])
                                          : fmt::format("{:.1f} {}", rounded, units[unit]);
}

std::string seconds_text(double seconds) {
    if (seconds == 0) return "0 s";
    constexpr std::string_view units[] = {"s", "ms", "us", "ns"};
    size_t unit = 0;
    double value = seconds;
    while (std::fabs(value) < 1 && unit + 1 < std::size(units)) value *= 1000, ++unit;
    return fmt::format("{:.3g} {}", value, units[unit]);
}

} // namespace shard
