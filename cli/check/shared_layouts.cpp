#include "cli/check/shared_layouts.h"

#include "planner/read/layout_reader.h"
#include "planner/seed/lint_rules.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace shard {

namespace {

using Place = std::tuple<std::string, int, int>;

Place place_of(const Sources& sources, const Span& span) { return {sources.name(span.file), span.line, span.column}; }

struct Use {
    i64 models = 0;
    std::map<Place, i64> unused; // a rule: by how many of them

    bool is_unused(const Place& rule) const {
        const auto found = unused.find(rule);
        return found != unused.end() && found->second == models;
    }
};

// The warning as it is of those of its rules that none uses; nullopt without any.
std::optional<Diagnostic> of_unused(const Diagnostic& warning, const Sources& sources, const Use& use) {
    const auto is_unused = [&](const Span& span) { return use.is_unused(place_of(sources, span)); };
    const auto count = std::count_if(warning.labels.begin(), warning.labels.end(),
                                     [&](const Label& label) { return is_unused(label.span); });
    if (count == std::ssize(warning.labels)) return warning;
    if (count == 0) return std::nullopt;
    Diagnostics said, unsaid;
    std::vector<AxisRule> rules;
    if (const std::optional<Layout> layout = read_layout(sources, warning.labels[0].span.file, unsaid))
        std::copy_if(layout->rules.begin(), layout->rules.end(), std::back_inserter(rules),
                     [&](const AxisRule& rule) { return is_unused(rule.span); });
    warn_of_unused(rules, said);
    return said.all().empty() ? warning : said.all().front();
}

} // namespace

void drop_rules_used_elsewhere(std::vector<Checked>& all) {
    std::map<std::string, Use> layouts;
    for (const Checked& checked : all) {
        if (!checked.subject.figures) continue;
        Use& use = layouts[checked.subject.layout];
        ++use.models;
        for (const Diagnostic& diagnostic : checked.subject.diagnostics)
            for (const Label& label : diagnostic.labels)
                if (diagnostic.code == "W0302") ++use.unused[place_of(*checked.sources, label.span)];
    }
    for (Checked& checked : all) {
        if (!checked.subject.figures) continue;
        std::vector<Diagnostic> left;
        for (Diagnostic& diagnostic : checked.subject.diagnostics) {
            if (diagnostic.code != "W0302")
                left.push_back(std::move(diagnostic));
            else if (auto warning = of_unused(diagnostic, *checked.sources, layouts.at(checked.subject.layout)))
                left.push_back(std::move(*warning));
        }
        checked.subject.diagnostics = std::move(left);
    }
}

} // namespace shard
