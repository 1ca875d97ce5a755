#include "cli/explain/explanation_text.h"

#include "cli/explain/alike_explanations.h"
#include "cli/report/nouns.h"
#include "cli/report/report.h"
#include "cli/report/report_tables.h"
#include "cli/terminal/wrap.h"
#include "plans/base/printable.h"
#include "plans/base/units.h"
#include "plans/plan/source_ref.h"

#include <fmt/format.h>

namespace shard {

namespace {

class Writer {
public:
    Writer(const Plan& plan, const Explanation& explanation, const Paint& paint)
        : plan_(plan), e_(explanation), tensor_(*explanation.tensor), paint_(paint) {}

    std::string text() const {
        return header() + "\n" + paint_.strong("Why this sharding") + "\n" + reasons() + "\n" + computed() +
               attention() + collectives() + remedies();
    }

private:
    std::string header() const {
        const std::string alike =
            e_.alike.empty() ? ""
                             : fmt::format("  {} are alike; what follows is of {}\n", e_.alike.size(), tensor_.name);
        return fmt::format("{}\n{}\n{}", tensor_heading(paint_, plan_.mesh, called_together(e_), tensor_),
                           hanging(fmt::format("  a device holds {}, {}; {}", shape_text(tensor_.local_shape),
                                               human_bytes(tensor_.bytes_per_device), shard::text(tensor_.source)),
                                   paint_.width, 4),
                           alike);
    }

    std::string reasons() const {
        if (tensor_.shape.empty()) return "  a scalar has no dim to split\n";
        if (e_.dims.empty()) return e_.rules_not_used.empty() ? "" : not_used();
        Table table({{""}, {""}, {.header = "", .wraps = true}, {""}});
        for (const DimReason& dim : e_.dims) {
            for (const AxisReason& axis : dim.axes) {
                bool first = true;
                for (const Because& step : axis.chain) {
                    Cell cell(first ? shard::text(plan_.mesh, axis.axis) : "", axis_color(axis.axis.axis));
                    table.add({first && &axis == &dim.axes.front() ? dim.name : "", cell, step.words,
                               Cell(shard::text(step.source), "2")});
                    if (!step.excerpt.empty()) table.add_note(printable(step.excerpt), "2");
                    first = false;
                }
            }
            if (dim.axes.empty()) table.add({dim.name, "-", dim.whole, ""});
            for (const std::string& lost : dim.lost) table.add_note(lost, "2");
        }
        return table.render(paint_, "  ") + (e_.rules_not_used.empty() ? "" : not_used());
    }
    std::string not_used() const { return hanging("  not used: " + e_.rules_not_used, paint_.width, 4) + "\n"; }

    // Only where there was a choice between time and something else.
    std::string computed() const {
        if (e_.computed.size() < 2) return {};
        std::string out = fmt::format("{}: {}\n", paint_.strong("How it is computed"), e_.op);
        Table table({{""},
                     {.header = "operands", .wraps = true},
                     {"makes"},
                     {"sent, all together", Align::right},
                     {"FLOP on a device", Align::right},
                     {"time", Align::right}});
        for (const ComputeWay& way : e_.computed) {
            std::vector<std::string> operands;
            for (const auto& [operand, sharding] : way.operands)
                operands.push_back(fmt::format("{} {}", operand, sharding_text(plan_.mesh, sharding)));
            table.add({way.is, fmt::format("{}", fmt::join(operands, ", ")), sharding_text(plan_.mesh, way.makes),
                       human_bytes(way.wire_bytes_total), grouped(way.flops_per_device), human_seconds(way.seconds)});
        }
        return out + table.render(paint_, "  ") +
               hanging("  with bringing the operands there and the result to where it is kept; least time is chosen",
                       paint_.width, 2) +
               "\n\n";
    }

    // The ways in which it comes to keys that other devices hold.
    std::string attention() const {
        if (e_.attention.empty()) return {};
        std::string out = paint_.strong("How attention comes to the keys of other devices") + "\n";
        Table table({{""},
                     {"way"},
                     {"sent, all together", Align::right},
                     {"peak memory", Align::right},
                     {"step", Align::right},
                     {.header = "", .wraps = true}});
        for (const AttentionWays::Way& way : e_.attention) {
            const bool is_chosen = way.way == e_.attention_goes;
            const std::string is = !is_chosen ? "" : e_.attention_is_asked_for ? "asked for" : "chosen";
            if (!way.problem.empty())
                table.add({is, std::string(name(way.way)), "", "", "", way.problem});
            else
                table.add({is, std::string(name(way.way)), human_bytes(way.wire_bytes), human_bytes(way.peak_bytes),
                           human_seconds(way.seconds), ""});
        }
        return out + table.render(paint_, "  ") +
               hanging("  of the whole step, before ops decide together; the layout's `attention` asks for one",
                       paint_.width, 2) +
               "\n\n";
    }

    std::string collectives() const {
        if (e_.collectives.empty()) {
            std::string words = "No collective is for it";
            if (!e_.for_operands.empty())
                words += fmt::format("; for what it is made of: {}", fmt::join(e_.for_operands, ", "));
            if (!e_.for_made_of_it.empty())
                words += fmt::format("; for what is made of it alone: {}", fmt::join(e_.for_made_of_it, ", "));
            return hanging(words + ".", paint_.width, 2) + "\n";
        }
        std::string out = paint_.strong("Collectives for it") + "\n";
        out += collectives_table(plan_, collective_rows(e_.collectives, {}, Detail::each), paint_).render(paint_, "  ");
        for (const WaysThere& ways : e_.ways) out += ways_text(ways);
        return out;
    }

    std::string ways_text(const WaysThere& ways) const {
        // In a loop over layers one layer is moved at a time.
        const bool of_layer = ways.from.dims.size() < tensor_.sharding.dims.size();
        const bool again = std::any_of(e_.collectives.begin(), e_.collectives.end(),
                                       [](const CollectiveReport& collective) { return collective.count > 1; });
        const std::string_view which = of_layer ? ", of one layer" : again ? ", each time" : "";
        std::string out = fmt::format("\n{}{}: {} to {}\n", paint_.strong("Ways there"), which,
                                      sharding_text(plan_.mesh, ways.from), sharding_text(plan_.mesh, ways.to));
        Table table(
            {{""}, {.header = "steps", .wraps = true}, {"sent, all together", Align::right}, {"time", Align::right}});
        for (size_t i = 0; i < ways.ways.size(); ++i)
            table.add({i == 0 ? "chosen" : "next best",
                       fmt::format("{}", fmt::join(step_words(plan_.mesh, ways.ways[i]), ", then ")),
                       human_bytes(ways.ways[i].wire_bytes_total), human_seconds(ways.ways[i].seconds)});
        // Only what XLA's partitioner goes by chooses the dearer one.
        const bool is_xlas = ways.ways.size() > 1 && ways.ways[0].seconds > ways.ways[1].seconds;
        return out + table.render(paint_, "  ") +
               (is_xlas ? "  as XLA's partitioner goes; the next is the cheapest\n"
                        : "  least time is chosen, then fewest bytes, then fewest collectives\n");
    }

    // "-1 all_gather, +2 all_to_all"
    std::string difference(const Experiment& experiment) const {
        std::vector<std::string> words;
        for (const auto& [kind, change] : kind_changes(experiment, e_.as_it_is))
            words.push_back(fmt::format("{:+} {}", change, kind));
        return fmt::format("{}", fmt::join(words, ", "));
    }

    std::string remedies() const {
        const Experiment& base = e_.as_it_is;
        if (base.touching == 0) return {};
        std::string out = "\n" + paint_.strong("What would change it") + " (each planned again)\n";
        if (e_.remedies.empty()) {
            const std::string nothing =
                e_.tried == e_.possible
                    ? "no single constraint, override or rule makes these collectives fewer or smaller"
                    : fmt::format("none of the {} changes that were tried, of {} to constraints, overrides and rules, "
                                  "makes these collectives fewer or smaller",
                                  e_.tried, e_.possible);
            return out + hanging("  " + nothing, paint_.width, 2) + "\n";
        }
        Table table({{.header = "change", .wraps = true},
                     {"for it", Align::right},
                     {"sent by a device", Align::right},
                     {"step", Align::right},
                     {"peak memory", Align::right},
                     {.header = "difference", .wraps = true}});
        std::vector<Experiment> rows = {base};
        rows.insert(rows.end(), e_.remedies.begin(), e_.remedies.end());
        for (const Experiment& experiment : rows) {
            std::string_view color = experiment.step_seconds < base.step_seconds   ? "32"
                                     : experiment.step_seconds > base.step_seconds ? "33"
                                                                                   : "";
            table.add({experiment.change,
                       fmt::format("{} of {}", grouped(experiment.touching), grouped(experiment.collectives)),
                       human_bytes(experiment.wire_bytes_per_device),
                       Cell(human_seconds(experiment.step_seconds), color), human_bytes(experiment.peak),
                       difference(experiment)});
        }
        return out + table.render(paint_, "  ");
    }

    const Plan& plan_;
    const Explanation& e_;
    const TensorReport& tensor_;
    const Paint& paint_;
};

} // namespace

std::string explanation_text(const Plan& plan, const Explanation& explanation, const Paint& paint) {
    return Writer(plan, explanation, paint).text();
}

std::string explanations_text(const Plan& plan, const std::vector<Explanation>& explanations, const Paint& paint) {
    if (explanations.empty())
        return hanging("There is no collective to explain; name a tensor to see why it is split as it is.", paint.width,
                       0) +
               "\n";
    std::string out;
    for (const Explanation& explanation : explanations)
        out += (out.empty() ? "" : "\n") + explanation_text(plan, explanation, paint);
    return out;
}

} // namespace shard
