// What a rule set says that its writer did not mean. Each finding is one warning that lists its cases, so that a large
// rule set does not bury the plan.
#include "planner/seed/lint_rules.h"

#include "planner/model/rules.h"
#include "planner/seed/named_arrays.h"
#include "planner/seed/overrides.h"
#include "planner/text/allowances.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace shard {

namespace {

constexpr i64 large_parameter = i64{16} << 20; // bytes
constexpr size_t max_listed = 3, most_comparisons = 1000000;

// "'a', 'b', 'c' and 4 more"
std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), max_listed); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", names[i]);
    if (names.size() > max_listed) text += fmt::format(" and {} more", names.size() - max_listed);
    return text;
}

bool is_subset(const std::vector<std::string>& inner, const std::vector<std::string>& outer) {
    return std::all_of(inner.begin(), inner.end(), [&](const std::string& axis) {
        return std::find(outer.begin(), outer.end(), axis) != outer.end();
    });
}

// "- {width: ~}" of "'width'"; of several, all of them: to be pasted.
std::string replicating_rules(const std::vector<std::string>& quoted) {
    std::vector<std::string> rules;
    for (const std::string& name : quoted) rules.push_back(fmt::format("{{{}: ~}}", name.substr(1, name.size() - 2)));
    return rules.size() == 1 ? "- " + rules[0] : fmt::format("rules: [..., {}]", fmt::join(rules, ", "));
}

// One warning for all of the rules.
void warn_of(std::string_view code, std::span<const AxisRule> rules, std::string_view message, std::string_view help,
             Diagnostics& diagnostics) {
    if (rules.empty()) return;
    std::vector<std::string> texts;
    for (const AxisRule& rule : rules) texts.push_back(text(rule));
    DiagnosticBuilder warning = diagnostics.warning(code, rules[0].span, fmt::format("{}: {}", message, listed(texts)));
    for (const AxisRule& rule : rules.subspan(1)) warning.label(rule.span, "");
    warning.help(std::string(help));
}

class RuleLinter {
public:
    RuleLinter(const Graph& graph, const Layout& layout, Allowances& allowances, Diagnostics& diagnostics)
        : layout_(&layout), arrays_(named_arrays(graph)), overridden_(overridden_declarations(graph, layout)),
          allowances_(&allowances), diagnostics_(&diagnostics), silenced_(layout.rules.size()) {
        for (const AxisRule& rule : layout.rules) ruled_.insert(rule.logical);
        for (const NamedArray& array : arrays_)
            for (const std::string& name : array.names)
                if (named_.insert(name).second && !is_unnamed(name) && !is_unconstrained(name) &&
                    !ruled_.contains(name))
                    without_rule_.push_back(name);
        for (const AxisRule& rule : layout.rules)
            if (!named_.contains(rule.logical)) unused_.push_back(rule.logical);
    }

    void lint() {
        warn_unused();
        warn_shadowed();
        warn_blocked();
        warn_without_rule();
        warn_disagreement();
    }

    bool disagrees() const {
        return !layout_->semantics_written &&
               std::any_of(arrays_.begin(), arrays_.end(), [this](const NamedArray& array) {
                   const auto [linen, nnx] = outcomes(array);
                   return linen != nnx;
               });
    }

private:
    // The layout says of each of its copies how it lies: no rule has a say.
    bool is_overridden(const NamedArray& array) const {
        return !array.values.empty() &&
               std::all_of(array.values.begin(), array.values.end(), [this](ValueId id) { return overridden_[id]; });
    }

    // Which of the names may have been meant by `name`, or empty: also where both sides have so many that looking at all
    // would take longer than planning.
    static std::string_view meant_by(std::string_view name, const std::vector<std::string_view>& names, size_t asked) {
        return names.size() * asked > most_comparisons ? std::string_view() : nearest(name, names);
    }

    // One warning for all rules in `which`; they are not reported again.
    void warn(std::string_view code, const std::vector<size_t>& which, std::string_view message,
              std::string_view help) {
        for (size_t r : which) silenced_[r] = true;
        warn_of(code, not_allowed(code, which), message, help, *diagnostics_);
    }

    std::vector<AxisRule> not_allowed(std::string_view code, const std::vector<size_t>& which) {
        std::vector<AxisRule> rules;
        for (size_t r : which)
            if (!allowances_->covers(code, layout_->rules[r].span)) rules.push_back(layout_->rules[r]);
        return rules;
    }

    void warn_unused() {
        std::vector<size_t> unused;
        for (size_t r = 0; r < layout_->rules.size(); ++r) {
            const AxisRule& rule = layout_->rules[r];
            if (named_.contains(rule.logical)) continue;
            const std::string_view meant = meant_by(rule.logical, without_rule_, unused_.size());
            if (meant.empty() || allowances_->covers("W0302", rule.span)) {
                unused.push_back(r);
                continue;
            }
            silenced_[r] = true;
            diagnostics_->warning("W0302", rule.span, fmt::format("no array has the logical axis '{}'", rule.logical))
                .help(fmt::format("did you mean '{}'?", meant));
        }
        for (size_t r : unused) silenced_[r] = true;
        warn_of_unused(not_allowed("W0302", unused), *diagnostics_);
    }

    // Linen: an earlier rule of the same name with no axis of its own fits whenever this one does. Nnx: the last rule
    // counts.
    void warn_shadowed() {
        const std::vector<AxisRule>& rules = layout_->rules;
        std::vector<size_t> shadowed;
        std::map<std::string_view, std::vector<size_t>> of_name;
        for (size_t r = 0; r < rules.size(); ++r) of_name[rules[r].logical].push_back(r);
        for (size_t r = 0; r < rules.size(); ++r) {
            if (silenced_[r]) continue;
            const std::vector<size_t>& alike = of_name[rules[r].logical];
            const auto wins = [&](size_t other) { return other < r && is_subset(rules[other].axes, rules[r].axes); };
            const bool hidden = layout_->semantics == RuleSemantics::nnx
                                    ? alike.back() > r
                                    : std::any_of(alike.begin(), alike.end(), wins);
            if (hidden) shadowed.push_back(r);
        }
        warn("W0303", shadowed,
             layout_->semantics == RuleSemantics::nnx ? "a later rule for the same axis replaces"
                                                      : "an earlier rule for the same axis always wins over",
             "remove the rule, or change the order");
    }

    void warn_blocked() {
        std::vector<int> applied(layout_->rules.size()), rejected(layout_->rules.size());
        for (const NamedArray& array : arrays_) {
            if (!array.own.empty()) continue;
            Diagnostics ignored;
            const std::optional<RuleOutcome> outcome = apply_rules(*layout_, array, ignored);
            if (!outcome) continue;
            for (const RuleOutcome::Dim& dim : outcome->dims)
                if (dim.rule >= 0) ++applied[dim.rule];
            for (const RuleOutcome::Rejected& reject : outcome->rejected) ++rejected[reject.rule];
        }
        std::vector<size_t> blocked;
        for (size_t r = 0; r < applied.size(); ++r)
            if (!silenced_[r] && applied[r] == 0 && rejected[r] > 0) blocked.push_back(r);
        warn("W0305", blocked, "blocked in every array that has the logical axis",
             "`shardc explain` shows for an array which rule came first");
    }

    // Rules for some axes only are an ordinary way to write a layout. A missing rule is an omission where the writer
    // says of other axes that they are replicated, or where a rule with nearly that name has nothing to do.
    void warn_without_rule() {
        const bool lists_all = std::any_of(layout_->rules.begin(), layout_->rules.end(), [](const AxisRule& rule) {
            return rule.axes.empty() && !rule.unconstrained;
        });
        std::vector<std::string> names;
        std::string_view near;
        Span first;
        for (const NamedArray& array : arrays_) {
            if (is_overridden(array)) continue;
            for (const std::string& name : array.names) {
                if (is_unnamed(name) || is_unconstrained(name)) continue;
                const auto covers = [&](const AxisRule& rule) { return rule.logical == name; };
                const bool has_all = array.own.empty() || layout_->semantics != RuleSemantics::linen; // as rules_of
                if ((has_all && ruled_.contains(name)) || std::any_of(array.own.begin(), array.own.end(), covers))
                    continue;
                const std::string quoted = fmt::format("'{}'", name);
                if (std::find(names.begin(), names.end(), quoted) != names.end()) continue;
                const std::string_view meant = meant_by(name, unused_, without_rule_.size());
                if (meant.empty() && !lists_all) continue;
                if (allowances_->covers("W0304", array.span)) continue;
                if (names.empty()) first = array.span;
                if (near.empty()) near = meant;
                names.push_back(quoted);
            }
        }
        if (names.empty()) return;
        diagnostics_
            ->warning("W0304", first,
                      fmt::format("no rule for the logical {} {}", names.size() == 1 ? "axis" : "axes", listed(names)))
            .note("dims without a rule are replicated")
            .help(near.empty() ? fmt::format("if that is meant, say so: {}", replicating_rules(names))
                               : fmt::format("the rule for '{}', which no array has, may mean it", near));
    }

    // What linen and nnx make of an array. Names without a rule mean something else in each semantics; that is not what
    // this is about. Rules of its own mean the same in both.
    std::pair<std::string, std::string> outcomes(const NamedArray& array) const {
        if (!array.own.empty() || is_overridden(array)) return {};
        NamedArray covered = array;
        for (std::string& name : covered.names) {
            if (!is_unconstrained(name) && !ruled_.contains(name)) name.clear();
        }
        return {outcome_text(RuleSemantics::linen, covered), outcome_text(RuleSemantics::nnx, covered)};
    }

    void warn_disagreement() {
        if (layout_->semantics_written) return; // the writer chose
        std::vector<std::string> arrays;
        std::string difference;
        Span first;
        for (const NamedArray& array : arrays_) {
            const auto [linen, nnx] = outcomes(array);
            if (linen == nnx || allowances_->covers("W0306", array.span)) continue;
            if (arrays.empty()) {
                first = array.span;
                difference = fmt::format("linen: {}, nnx: {}", linen, nnx);
            }
            arrays.push_back(array.what);
        }
        if (arrays.empty()) return;
        diagnostics_->warning("W0306", first, fmt::format("linen and nnx semantics disagree about {}", listed(arrays)))
            .note(difference)
            .help("write semantics: linen or nnx, whichever is meant; or give each logical axis one rule, and no two "
                  "axes of one array the same mesh axis");
    }

    std::string outcome_text(RuleSemantics semantics, const NamedArray& array) const {
        Layout layout;
        layout.mesh = layout_->mesh;
        const auto concerns = [&](const AxisRule& rule) {
            return std::find(array.names.begin(), array.names.end(), rule.logical) != array.names.end();
        };
        std::copy_if(layout_->rules.begin(), layout_->rules.end(), std::back_inserter(layout.rules), concerns);
        layout.semantics = semantics;
        layout.missing_axes = MissingAxes::ignore;
        Diagnostics problems;
        const std::optional<RuleOutcome> outcome = apply_rules(layout, array, problems);
        if (!outcome) return fmt::format("an error ({})", problems.all().front().message);
        Sharding sharding;
        for (const RuleOutcome::Dim& dim : outcome->dims) sharding.dims.push_back({dim.axes, dim.open, 0});
        return text(layout.mesh, sharding);
    }

    const Layout* layout_;
    std::vector<NamedArray> arrays_;
    std::vector<bool> overridden_;                        // by ValueId
    std::set<std::string_view> named_, ruled_;            // what arrays name, and what rules do
    std::vector<std::string_view> without_rule_, unused_; // what of it has no rule; rules' names that are not in it
    Allowances* allowances_;
    Diagnostics* diagnostics_;
    std::vector<bool> silenced_; // by rule: reported, or part of a report
};

void warn_large_replicated(const Graph& graph, const Seeds& seeds, Allowances& allowances, Diagnostics& diagnostics) {
    std::vector<std::string> names;
    Span first;
    i64 bytes = 0;
    for (ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        const std::optional<Sharding>& seed = seeds.values[id];
        if (value.role != Role::param || value.type.bytes() <= large_parameter || !seed) continue;
        const bool split = std::any_of(seed->dims.begin(), seed->dims.end(),
                                       [](const DimSharding& dim) { return dim.open || shard_count(dim) > 1; });
        if (split || allowances.covers("W0307", value.span)) continue;
        if (names.empty()) first = value.span;
        names.push_back(fmt::format("'{}'", value.name));
        bytes = add_saturating(bytes, value.type.bytes());
    }
    if (names.empty()) return;
    diagnostics
        .warning("W0307", first,
                 fmt::format("{} held in full by every device: {}",
                             names.size() == 1 ? "a large parameter is" : "large parameters are", listed(names)))
        .note(fmt::format("{} on a device", exact_bytes(bytes)))
        .help("give one of the logical axes a rule, or override its sharding under `params`");
}

// The layers of scanned blocks over a mesh axis: what looks like stages of a pipeline, and is storage.
void warn_split_layers(const Graph& graph, const Layout& layout, const Seeds& seeds, Allowances& allowances,
                       Diagnostics& diagnostics) {
    std::vector<std::string> names;
    std::string axes;
    Span first;
    for (ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        if (value.role != Role::param || !seeds.values[id]) continue;
        for (size_t d = 0; d < static_cast<size_t>(value.stacked); ++d) {
            const DimSharding& dim = seeds.values[id]->dims[d];
            if (shard_count(dim) == 1) continue;
            const auto rule = std::find_if(layout.rules.begin(), layout.rules.end(), [&](const AxisRule& candidate) {
                return candidate.logical == value.type.logical[d] && !candidate.axes.empty();
            });
            const Span span = rule == layout.rules.end() ? value.span : rule->span;
            if (allowances.covers("W0309", span)) continue;
            if (names.empty()) first = span, axes = text(layout.mesh, dim.axes);
            names.push_back(fmt::format("'{}'", value.name));
        }
    }
    if (names.empty()) return;
    diagnostics
        .warning("W0309", first,
                 fmt::format("the layers of a scanned block are split over {}: {}", axes, listed(names)))
        .note(fmt::format(
            "a device stores some of the layers, and all devices along {} compute every layer, which is sent "
            "to them when its turn comes: this makes no pipeline",
            axes))
        .help(
            fmt::format("to save memory, `fsdp` splits every layer instead; to save time, give {} to the batch, or to "
                        "heads and hidden dims",
                        axes));
}

} // namespace

bool depends_on_semantics(const Graph& graph, const Layout& layout) {
    if (layout.mesh.device_count() == 1) return false;
    Allowances none;
    Diagnostics unsaid;
    return RuleLinter(graph, layout, none, unsaid).disagrees();
}

void warn_of_unused(std::span<const AxisRule> rules, Diagnostics& diagnostics) {
    warn_of("W0302", rules, "no array has the logical axis of",
            "remove what the model does not need, or check the names of its axes", diagnostics);
}

void lint_rules(const Graph& graph, const Layout& layout, const Seeds& seeds, Allowances& allowances,
                Diagnostics& diagnostics) {
    if (layout.mesh.device_count() == 1) return; // nothing to lay out
    RuleLinter(graph, layout, allowances, diagnostics).lint();
    warn_large_replicated(graph, seeds, allowances, diagnostics);
    warn_split_layers(graph, layout, seeds, allowances, diagnostics);
}

} // namespace shard
