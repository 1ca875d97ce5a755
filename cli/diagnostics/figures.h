// The figures of a plan that a baseline holds and CI compares, with the names that they have in every JSON payload.
#pragma once

#include "plans/plan/report.h"

#include <array>
#include <span>

namespace shard {

class JsonObject;

// By figure, in the order of all_figures(). Counts and bytes are whole.
constexpr size_t figure_count = 5;
using Figures = std::array<double, figure_count>;

struct FigureDef {
    std::string_view key;       // "peak_bytes"
    std::string_view words;     // "peak memory"
    std::string_view short_key; // what people may write for the key; may be empty
    double (*of)(const Report& report);
    std::string (*text)(double figure); // "608 KiB (622,592 B)"
    bool whole = true;
};

std::span<const FigureDef, figure_count> all_figures();
Figures figures_of(const Report& report);
// All of them, as members.
void add_figures(JsonObject& object, const Figures& figures);

} // namespace shard
