// flax.nnx's rules: a dictionary from names to mesh axes, joined from the layout's rules and the variable's own. A name
// without a rule is a mesh axis itself, and nothing avoids conflicts.
#include "planner/seed/rules_nnx.h"

#include "planner/model/names.h"
#include "planner/model/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// The last rule of a name counts. -1 if there is none.
int last_rule(std::span<const AxisRule> rules, std::string_view name) {
    for (size_t r = rules.size(); r-- > 0;)
        if (rules[r].logical == name) return static_cast<int>(r);
    return -1;
}

bool same_target(const AxisRule& a, const AxisRule& b) {
    return a.axes == b.axes && a.unconstrained == b.unconstrained;
}

// A variable's own rules may repeat the layout's, not contradict them.
bool check_consistent(std::span<const AxisRule> context, std::span<const AxisRule> own, Diagnostics& diagnostics) {
    bool good = true;
    for (size_t r = 0; r < own.size(); ++r) {
        if (last_rule(own, own[r].logical) != static_cast<int>(r)) continue;
        const int other = last_rule(context, own[r].logical);
        if (other < 0 || same_target(context[other], own[r])) continue;
        diagnostics
            .error("E0315", own[r].span,
                   fmt::format("inconsistent rules for '{}': {} here, {} in the layout", own[r].logical, text(own[r]),
                               text(context[other])))
            .label(context[other].span, "the layout's rule")
            .help("with nnx semantics both apply: remove one, or use another logical axis here");
        good = false;
    }
    return good;
}

bool check_disjoint(const Mesh& mesh, const RuleOutcome& outcome, std::span<const std::string> names, Span span,
                    Diagnostics& diagnostics) {
    for (size_t d = 0; d < outcome.dims.size(); ++d)
        for (size_t e = 0; e < d; ++e)
            for (const AxisRef& axis : outcome.dims[d].axes) {
                if (!overlaps_any(axis, outcome.dims[e].axes)) continue;
                diagnostics
                    .error("E0311", span,
                           fmt::format("mesh axis '{}' splits both {} and {} of one array", text(mesh, axis),
                                       dim_text(e, names[e]), dim_text(d, names[d])))
                    .note("nnx semantics replaces names by rules one by one and does not avoid conflicts")
                    .help("change one of the rules, or use semantics: linen");
                return false;
            }
    return true;
}

} // namespace

std::optional<RuleOutcome> apply_rules_nnx(const Mesh& mesh, std::span<const AxisRule> context,
                                           std::span<const AxisRule> own, std::span<const std::string> names, Span span,
                                           Diagnostics& diagnostics, MissingAxes missing) {
    if (!check_consistent(context, own, diagnostics)) return std::nullopt;
    RuleOutcome outcome;
    outcome.dims.resize(names.size());
    bool good = true;
    for (size_t d = 0; d < names.size(); ++d) {
        RuleOutcome::Dim& dim = outcome.dims[d];
        dim.open = is_unconstrained(names[d]);
        if (dim.open || is_unnamed(names[d])) continue;
        const int from_own = last_rule(own, names[d]);
        const int from_context = last_rule(context, names[d]);
        const auto reject = [&](int rule, std::string_view by) {
            outcome.rejected.push_back({rule, fmt::format("a later rule for '{}' replaces it: {}", names[d], by)});
        };
        if (from_context >= 0 || from_own >= 0) {
            const AxisRule& rule = from_context >= 0 ? context[from_context] : own[from_own];
            dim = {rule_axes(mesh, rule), rule.unconstrained,
                   from_context >= 0 ? from_context : static_cast<int>(context.size()) + from_own};
            for (int r = 0; r < from_context; ++r)
                if (context[r].logical == names[d]) reject(r, text(rule));
        } else if (const std::optional<int> axis = mesh.find(names[d])) {
            dim.axes = {mesh.whole(*axis)};
        } else if (missing == MissingAxes::error) {
            DiagnosticBuilder error = diagnostics.error(
                "E0316", span,
                fmt::format("{} has no rule, and the mesh has no axis of that name", dim_text(d, names[d])));
            error.note("with nnx semantics a name without a rule is a mesh axis")
                .help(fmt::format("add the rule {{{}: ~}}", names[d]));
            good = false;
        }
    }
    if (!good || !check_disjoint(mesh, outcome, names, span, diagnostics)) return std::nullopt;
    return outcome;
}

} // namespace shard
