#include "cli/diagnostics/figures.h"

#include "plans/base/units.h"
#include "plans/json/json_text.h"
#include "plans/plan/report_totals.h"

namespace shard {

namespace {

// What no integer holds is the most that one does.
i64 whole(double figure) { return figure >= 9.2e18 ? i64{9'200'000'000'000'000'000} : static_cast<i64>(figure); }
std::string bytes(double figure) { return exact_bytes(whole(figure)); }
std::string count(double figure) { return grouped(whole(figure)); }

} // namespace

std::span<const FigureDef, figure_count> all_figures() {
    static constexpr std::array<FigureDef, figure_count> figures = {{
        {"step_seconds", "the time of a step", "", [](const Report& r) { return r.time.step_seconds; }, human_seconds,
         false},
        {"exposed_communication_seconds", "exposed communication", "exposed_seconds",
         [](const Report& r) { return r.time.exposed_communication_seconds; }, human_seconds, false},
        {"peak_bytes", "peak memory", "", [](const Report& r) { return static_cast<double>(r.memory.peak); }, bytes},
        {"wire_bytes_per_device", "what a device sends", "wire_bytes",
         [](const Report& r) { return static_cast<double>(wire_bytes_per_device(r)); }, bytes},
        {"collectives", "the number of collectives", "",
         [](const Report& r) { return static_cast<double>(collective_count(r)); }, count},
    }};
    return figures;
}

Figures figures_of(const Report& report) {
    Figures figures = {};
    for (size_t i = 0; i < figure_count; ++i) figures[i] = all_figures()[i].of(report);
    return figures;
}

void add_figures(JsonObject& object, const Figures& figures) {
    for (size_t i = 0; i < figure_count; ++i) {
        const FigureDef& def = all_figures()[i];
        if (def.whole)
            object.integer(def.key, whole(figures[i]));
        else
            object.number(def.key, figures[i]);
    }
}

} // namespace shard
