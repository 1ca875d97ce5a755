#include "planner/text/quantity.h"

#include "planner/text/yaml_values.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <charconv>

namespace shard {

namespace {

struct Unit {
    std::string_view name;
    double bytes;
};

constexpr double kibi = 1024;
constexpr Unit units[] = {
    {"", 1},
    {"B", 1},
    {"KiB", kibi},
    {"MiB", kibi* kibi},
    {"GiB", kibi* kibi* kibi},
    {"TiB", kibi* kibi* kibi* kibi},
    {"kB", 1e3},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
};

} // namespace

std::optional<i64> parse_bytes(std::string_view text) {
    // An integer without a unit is exact, also beyond 2^53.
    if (const std::optional<i64> whole = parse_number<i64>(text)) return *whole >= 0 ? whole : std::nullopt;
    if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
    double value = 0;
    const std::from_chars_result result =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (result.ec != std::errc()) return std::nullopt;
    std::string_view unit = text.substr(result.ptr - text.data());
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    for (const Unit& known : units)
        if (unit == known.name && value * known.bytes < 9.2e18) return static_cast<i64>(value * known.bytes);
    return std::nullopt;
}

std::optional<i64> read_bytes(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    const bool plain_number = yaml.kind() == "a number";
    const std::optional<std::string> text = plain_number ? yaml.scalar()->text : read_string(yaml, what, diagnostics);
    if (!text) return std::nullopt;
    const std::optional<i64> bytes = parse_bytes(*text);
    if (!bytes)
        diagnostics.error("E0309", yaml.span, fmt::format("{}: '{}' is not an amount of bytes", what, *text))
            .help("write 16 GiB, 1.5 GB, 512 KiB or plain bytes");
    return bytes;
}

} // namespace shard
