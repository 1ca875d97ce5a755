#include "plans/random/distribution.h"

#include <array>
#include <fmt/format.h>

namespace shard {
namespace {

constexpr std::array<std::pair<DistributionKind, std::string_view>, 7> kind_names = {{
    {DistributionKind::constant, "constant"},
    {DistributionKind::uniform, "uniform"},
    {DistributionKind::normal, "normal"},
    {DistributionKind::truncated_normal, "truncated_normal"},
    {DistributionKind::bernoulli, "bernoulli"},
    {DistributionKind::randint, "randint"},
    {DistributionKind::bits, "bits"},
}};

// Sampling is in float32, so the shortest text that reads back as that float says all.
std::string float_text(double number) { return fmt::format("{}", static_cast<float>(number)); }

std::string arguments_text(const Distribution& d) {
    switch (d.kind) {
    case DistributionKind::constant:
        return fmt::format("({})", float_text(d.value));
    case DistributionKind::uniform:
    case DistributionKind::truncated_normal:
        return fmt::format("({}, {})", float_text(d.low), float_text(d.high));
    case DistributionKind::randint:
        return fmt::format("({:.0f}, {:.0f})", d.low, d.high);
    case DistributionKind::bernoulli:
        return fmt::format("({})", float_text(d.probability));
    case DistributionKind::normal:
    case DistributionKind::bits:
        return "";
    }
    internal_error("to_text: unknown distribution");
}

} // namespace

std::string_view distribution_kind_name(DistributionKind kind) {
    for (const auto& [candidate, name] : kind_names)
        if (candidate == kind) return name;
    internal_error("distribution_kind_name: unknown distribution");
}

std::optional<DistributionKind> distribution_kind_from_name(std::string_view name) {
    for (const auto& [kind, candidate] : kind_names)
        if (candidate == name) return kind;
    return std::nullopt;
}

bool is_random(const Distribution& distribution) { return distribution.kind != DistributionKind::constant; }

std::string to_text(const Distribution& distribution) {
    std::string text(distribution_kind_name(distribution.kind));
    text += arguments_text(distribution);
    if (distribution.scale != 1) text += " * " + float_text(distribution.scale);
    if (distribution.offset != 0) text += " + " + float_text(distribution.offset);
    return text;
}

} // namespace shard
