// flax.linen's logical_to_mesh_axes: the rules are walked in order, and each takes its dim if all its mesh axes are
// free.
#include "planner/seed/rules_linen.h"

#include "planner/model/rules.h"
#include "plans/base/index_of.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// Two dims of one name could not be told apart by a rule.
bool check_unique(std::span<const std::string> names, Span span, Diagnostics& diagnostics) {
    for (size_t d = 0; d < names.size(); ++d) {
        if (is_unnamed(names[d]) || is_unconstrained(names[d])) continue;
        const size_t first = index_of(names, names[d]);
        if (first == d) continue;
        diagnostics
            .error("E0314", span,
                   fmt::format("the logical axis '{}' names dims {} and {} of one array", names[d], first, d))
            .help("give one of them another name, with a rule of its own");
        return false;
    }
    return true;
}

// The dim that has `axis`, or -1.
int dim_with(const RuleOutcome& outcome, const AxisRef& axis) {
    for (size_t d = 0; d < outcome.dims.size(); ++d)
        if (overlaps_any(axis, outcome.dims[d].axes)) return static_cast<int>(d);
    return -1;
}

} // namespace

std::optional<RuleOutcome> apply_rules_linen(const Mesh& mesh, std::span<const AxisRule> rules,
                                             std::span<const std::string> names, Span span, Diagnostics& diagnostics) {
    if (!check_unique(names, span, diagnostics)) return std::nullopt;
    RuleOutcome outcome;
    outcome.dims.resize(names.size());
    std::vector<bool> assigned(names.size());
    for (size_t d = 0; d < names.size(); ++d) outcome.dims[d].open = is_unconstrained(names[d]);
    for (size_t r = 0; r < rules.size(); ++r) {
        const size_t d = index_of(names, rules[r].logical);
        if (d == names.size()) continue;
        const auto reject = [&](std::string reason) {
            outcome.rejected.push_back({static_cast<int>(r), std::move(reason)});
        };
        if (assigned[d]) {
            reject(fmt::format("the earlier rule {} has {}", text(rules[outcome.dims[d].rule]), dim_text(d, names[d])));
            continue;
        }
        const std::vector<AxisRef> axes = rule_axes(mesh, rules[r]);
        const std::vector<AxisRef>::const_iterator busy =
            std::find_if(axes.begin(), axes.end(), [&](const AxisRef& axis) { return dim_with(outcome, axis) >= 0; });
        if (busy != axes.end()) {
            const size_t holder = dim_with(outcome, *busy);
            reject(fmt::format("mesh axis '{}' is already used by {}", text(mesh, *busy),
                               dim_text(holder, names[holder])));
            continue;
        }
        assigned[d] = true;
        outcome.dims[d] = {axes, rules[r].unconstrained, static_cast<int>(r)};
    }
    return outcome;
}

} // namespace shard
