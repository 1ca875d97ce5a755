#include "planner/policies_support/policy_values.h"

#include "planner/graph/op_names.h"
#include "planner/text/glob.h"
#include "planner/text/quantity.h"
#include "planner/text/yaml_values.h"
#include "plans/collective/collective.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

std::optional<i64> read_limit_count(const Yaml& yaml, std::string_view what, i64 least, Diagnostics& diagnostics) {
    const std::optional<i64> count = read_int(yaml, what, diagnostics);
    if (!count || *count >= least) return count;
    diagnostics
        .error("E0115", yaml.span,
               fmt::format("{}: must {}", what, least == 0 ? "not be negative" : fmt::format("be at least {}", least)))
        .help(least == 0 ? "write 0 to allow none" : fmt::format("write {} or more", least));
    return std::nullopt;
}

namespace {

// The op of a region by which a collective is written: psum.
std::string_view collective_of_op(std::string_view op) {
    for (const auto& [collective, written] : foreign_op_names())
        if (written == op && find_collective(collective) != nullptr) return collective;
    return {};
}

} // namespace

std::optional<std::string> read_collective_kind(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    const std::optional<std::string> kind = read_string(yaml, what, diagnostics);
    if (!kind || find_collective(*kind) != nullptr) return kind;
    std::vector<std::string_view> known;
    for (const CollectiveDef* def : all_collectives()) known.push_back(def->name);
    diagnostics.error("E0118", yaml.span, fmt::format("unknown collective '{}'", *kind))
        .help(collective_of_op(*kind).empty()
                  ? did_you_mean(*kind, known, fmt::format("collectives: {}", fmt::join(known, ", ")))
                  : fmt::format("what `{}` sends is called {}", *kind, collective_of_op(*kind)));
    return std::nullopt;
}

std::optional<std::vector<Name>> read_axis_names(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics) {
    std::vector<Name> names;
    if (yaml.list() == nullptr) {
        const std::optional<std::string> name = read_string(yaml, what, diagnostics);
        if (!name) return std::nullopt;
        return std::vector<Name>{{*name, yaml.span}};
    }
    for (const Yaml& item : *yaml.list()) {
        const std::optional<std::string> name = read_string(item, what, diagnostics);
        if (!name) return std::nullopt;
        names.push_back({*name, item.span});
    }
    if (!names.empty()) return names;
    diagnostics.error("E0113", yaml.span, fmt::format("{}: expected mesh axes, found an empty list", what))
        .help(fmt::format("write {}: [data, model]", what));
    return std::nullopt;
}

std::string axes_text(std::span<const Name> axes) {
    std::string text;
    for (const Name& axis : axes) text += (text.empty() ? "" : " and ") + axis.text;
    return text;
}

const YamlList& read_policy_list(const Yaml& yaml, std::string_view what, std::string_view example,
                                 Diagnostics& diagnostics) {
    static const YamlList none;
    if (yaml.list() != nullptr) return *yaml.list();
    diagnostics.error("E0113", yaml.span, fmt::format("{}: expected a list, found {}", what, yaml.kind()))
        .help(fmt::format("write {}: {}", what, example));
    return none;
}

std::optional<ArrayPattern> read_array_pattern(const Yaml& yaml, std::string_view what, bool with_axes,
                                               Diagnostics& diagnostics) {
    ArrayPattern pattern;
    const int before = diagnostics.error_count();
    if (yaml.map() == nullptr) {
        pattern.glob = read_string(yaml, what, diagnostics).value_or("");
    } else {
        std::vector<std::string_view> keys = {"match", "role", "min_bytes"};
        if (with_axes) keys.emplace_back("over");
        check_keys(yaml, keys, what, diagnostics);
        if (const Yaml* glob = yaml.find("match")) pattern.glob = read_string(*glob, "match", diagnostics).value_or("");
        if (const Yaml* role = yaml.find("role")) {
            const std::optional<std::string> text = read_string(*role, "role", diagnostics);
            pattern.role = text ? parse_role(*text) : std::nullopt;
            if (text && !pattern.role)
                diagnostics.error("E0118", role->span, fmt::format("unknown role '{}'", *text))
                    .help("roles: input, param, variable, state, gradient, value, output");
        }
        if (const Yaml* bytes = yaml.find("min_bytes"))
            pattern.min_bytes = read_bytes(*bytes, "min_bytes", diagnostics).value_or(0);
        if (const Yaml* over = yaml.find("over"); over != nullptr && with_axes)
            pattern.over = read_axis_names(*over, "over", diagnostics).value_or(std::vector<Name>{});
    }
    if (pattern.glob.empty() && diagnostics.error_count() == before)
        diagnostics.error("E0308", yaml.span, fmt::format("{}: a pattern is empty", what))
            .help("write a path, in which * stands for a name: \"block.*.w1\", or \"**\" for all");
    return diagnostics.error_count() > before ? std::nullopt : std::optional(pattern);
}

TensorReports matching(const ArrayPattern& pattern, const Plan& plan, Span place, Diagnostics& diagnostics) {
    TensorReports found;
    bool any = false;
    for (const TensorReport& tensor : plan.report.tensors) {
        if (!glob_matches(pattern.glob, tensor.name)) continue;
        any = true;
        if (pattern.role && tensor.role != *pattern.role) continue;
        if (whole_bytes(tensor) >= pattern.min_bytes) found.push_back(&tensor);
    }
    if (!any) diagnostics.warning("W0402", place, fmt::format("no array of the model matches '{}'", pattern.glob));
    return found;
}

// The policy may have been read of another copy of its file (in_file).
Span place_of(const Name& name, Span place) {
    Span at = name.span;
    at.file = place.file;
    return at;
}

std::string near_axis(const Mesh& mesh, std::string_view name) {
    std::vector<std::string_view> names;
    for (const MeshAxis& each : mesh.axes) names.push_back(each.name);
    return did_you_mean(name, names);
}

std::optional<int> find_axis(const Mesh& mesh, const Name& name, Span place, Diagnostics& diagnostics) {
    const std::optional<int> axis = mesh.find(name.text);
    if (axis) return axis;
    if (const std::string question = near_axis(mesh, name.text); !question.empty())
        diagnostics
            .warning("W0402", place_of(name, place),
                     fmt::format("the mesh has no axis '{}', so nothing is held to this here", name.text))
            .help(question);
    return std::nullopt;
}

bool has_axis(std::span<const AxisRef> axes, int axis) {
    return std::any_of(axes.begin(), axes.end(), [axis](const AxisRef& ref) { return ref.axis == axis; });
}

} // namespace shard
