#include "planner/model/rules.h"

#include "planner/model/names.h"

#include <fmt/format.h>

namespace shard {

std::string text(const AxisRule& rule) {
    if (rule.unconstrained) return fmt::format("{{{}: \"?\"}}", rule.logical);
    if (rule.axes.empty()) return fmt::format("{{{}: ~}}", rule.logical);
    if (rule.axes.size() == 1) return fmt::format("{{{}: {}}}", rule.logical, rule.axes[0]);
    return fmt::format("{{{}: [{}]}}", rule.logical, fmt::join(rule.axes, ", "));
}

std::vector<AxisRef> rule_axes(const Mesh& mesh, const AxisRule& rule) {
    std::vector<AxisRef> axes;
    for (const std::string& name : rule.axes)
        if (const std::optional<int> axis = mesh.find(name)) axes.push_back(mesh.whole(*axis));
    return axes;
}

void check_rule_axes(const Mesh& mesh, std::span<const AxisRule> rules, Diagnostics& diagnostics) {
    for (const AxisRule& rule : rules)
        for (size_t a = 0; a < rule.axes.size(); ++a) {
            const std::string& name = rule.axes[a];
            if (mesh.find(name)) continue;
            DiagnosticBuilder error = diagnostics.error(
                "E0310", a < rule.axis_spans.size() ? rule.axis_spans[a] : rule.span,
                fmt::format("the rule {} names the mesh axis '{}', which the mesh lacks", text(rule), name));
            error.help("say missing_axes: ignore if the rules serve several meshes");
            suggest_axis(error, name, mesh);
        }
}

std::string mesh_axes_text(const Mesh& mesh) {
    if (mesh.axes.empty()) return "the mesh has no axes";
    return fmt::format("the mesh has {}", fmt::join(mesh_axis_names(mesh), ", "));
}

std::vector<std::string_view> mesh_axis_names(const Mesh& mesh) {
    std::vector<std::string_view> names;
    for (const MeshAxis& axis : mesh.axes) names.push_back(axis.name);
    return names;
}

void suggest_axis(DiagnosticBuilder& error, std::string_view name, const Mesh& mesh) {
    error.note(mesh_axes_text(mesh));
    suggest(error, name, mesh_axis_names(mesh));
    // As Python has it.
    if (name == "None" || name == "none") error.help("for no axis write ~");
}

std::string dim_text(size_t dim, std::string_view logical) {
    if (is_unnamed(logical) || is_unconstrained(logical)) return fmt::format("dim {}", dim);
    return fmt::format("dim {} ({})", dim, logical);
}

} // namespace shard
