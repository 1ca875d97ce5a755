#include "plans/base/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace shard {

namespace {

// Three significant digits of a number in [1, 1000) or so: 1.23, 12.3, 123, 1023.
std::string three_digits(double value) {
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f}", value, decimals);
}

} // namespace

std::string human_bytes(i64 bytes) {
    static constexpr std::array<const char*, 6> units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return three_digits(value) + " " + units[unit];
}

std::string grouped(i64 number) {
    std::string digits = std::to_string(number);
    size_t first = number < 0 ? 1 : 0;
    for (size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string exact_bytes(i64 bytes) {
    return bytes < 1024 ? human_bytes(bytes) : fmt::format("{} ({} B)", human_bytes(bytes), grouped(bytes));
}

std::string human_seconds(double seconds) {
    if (seconds == 0) return "0 s";
    if (seconds < 0) return "-" + human_seconds(-seconds);
    if (seconds < 999.5e-9) return three_digits(seconds * 1e9) + " ns";
    if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " us";
    if (seconds < 999.5e-3) return three_digits(seconds * 1e3) + " ms";
    return three_digits(seconds) + " s";
}

std::string human_flops(i64 flops) {
    static constexpr std::array<const char*, 6> units = {"kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
    if (flops < 1000) return fmt::format("{} FLOP", flops);
    double value = static_cast<double>(flops) / 1000;
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    return three_digits(value) + " " + units[unit];
}

std::string percent(double part, double of) {
    if (of <= 0) return "-";
    double value = 100 * part / of;
    if (value > 0 && value < 0.05) return "<0.1%";
    return fmt::format("{:.1f}%", value);
}

std::string counted(i64 count, const std::string& noun) {
    return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string bar(double part, double of, int width) {
    int marks = of > 0 && part > 0 ? std::clamp(static_cast<int>(std::lround(part / of * width)), 1, width) : 0;
    return fmt::format("[{}{}]", std::string(marks, '#'), std::string(width - marks, '.'));
}

} // namespace shard
