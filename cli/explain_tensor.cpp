#include "cli/explain_tensor.h"

#include "cli/experiments.h"
#include "cli/nouns.h"
#include "cli/report.h"
#include "cli/tensor_names.h"
#include "planner/explain.h"
#include "planner/gather_parameters.h"
#include "planner/op_def.h"
#include "plans/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

class TensorExplainer {
public:
    TensorExplainer(const Compiled& compiled, const TensorReport& tensor, const Paint& paint)
        : compiled_(compiled), c_(compiled.compilation), mesh_(compiled.plan()->mesh), tensor_(tensor), paint_(paint) {}

    std::string text() {
        std::string out = header() + "\n" + paint_.strong("Why this sharding") + "\n";
        std::optional<ValueId> value = value_of(*c_.graph, tensor_.name, tensor_.role);
        if (value) out += reasons(*value);
        return out + "\n" + collectives(value) + remedies();
    }

private:
    std::string header() const {
        return fmt::format("{}  {}  {}  {}\n  a device holds {}, {}; {}\n", paint_.strong(tensor_.name),
                           name(tensor_.role), type_text(tensor_.dtype, tensor_.shape, tensor_.logical),
                           paint_axes(paint_, mesh_, sharding_text(mesh_, tensor_.sharding)),
                           shape_text(tensor_.local_shape), human_bytes(tensor_.bytes_per_device),
                           place_text(tensor_.source));
    }

    std::string place(const Span& span) const {
        return span.known() ? fmt::format("{}:{}", compiled_.sources->name(span.file), span.line) : std::string();
    }
    std::string excerpt(const Span& span) const {
        if (!span.known()) return {};
        std::string_view line = compiled_.sources->line(span.file, span.line);
        size_t first = line.find_first_not_of(" \t");
        return first == std::string_view::npos ? std::string() : printable(line.substr(first));
    }
    std::string value_name(ValueId id) const { return c_.graph->value(id).name; }

    // One step of the chain; `last` decisions name the line that asked.
    std::string decision_text(const Decision& decision) const {
        switch (decision.cause) {
        case Decision::Cause::rule:
            return decision.rule >= 0 ? "a rule of the layout" : "its own rule";
        case Decision::Cause::override_:
            return "an override of the layout";
        case Decision::Cause::mesh_spec:
            return "written in mesh axes beside it";
        case Decision::Cause::constraint:
            return fmt::format("the constraint on {}", value_name(decision.value));
        case Decision::Cause::output:
            return "what the layout asks of the output";
        case Decision::Cause::fsdp:
            return "fsdp splits parameters of this size";
        case Decision::Cause::parameter:
            return fmt::format("as its parameter {}", value_name(decision.from));
        case Decision::Cause::propagation: {
            std::string_view op = decision.node >= 0 && c_.graph->node(decision.node).op != nullptr
                                      ? c_.graph->node(decision.node).op->name
                                      : "";
            return fmt::format("from {} through {}", decision.from >= 0 ? value_name(decision.from) : "a neighbour",
                               op);
        }
        }
        return "";
    }

    std::string reasons(ValueId value) const {
        Table table({{""}, {""}, {""}, {""}});
        for (size_t d = 0; d < tensor_.sharding.dims.size(); ++d) {
            std::string dim = d < tensor_.logical.size() && !tensor_.logical[d].empty()
                                  ? fmt::format("dim {} {}", d, tensor_.logical[d])
                                  : fmt::format("dim {}", d);
            bool any = false;
            for (const AxisRef& axis : tensor_.sharding.dims[d].axes) {
                if (axis.size == 1) continue;
                any = true;
                bool first = true;
                for (const Decision& decision : cause_chain(c_.propagation->log, value, static_cast<int>(d), axis)) {
                    Cell cell(first ? shard::text(mesh_, axis) : "", axis_color(axis.axis));
                    table.add({first ? dim : "", cell, decision_text(decision), Cell(place(decision.span), "2")});
                    if (decision.cause != Decision::Cause::propagation && decision.span.known())
                        table.add_note(excerpt(decision.span), "2");
                    first = false;
                }
            }
            if (!any) table.add({dim, "-", whole_reason(value), ""});
        }
        std::string out = table.render(paint_, "  ");
        const std::vector<std::string>& rejected = c_.seeds->rejected_by_value;
        if (static_cast<size_t>(value) < rejected.size() && !rejected[static_cast<size_t>(value)].empty())
            out += "  not used: " + rejected[static_cast<size_t>(value)] + "\n";
        return out;
    }

    // Why a dim carries no axis.
    std::string whole_reason(ValueId value) const {
        const Value& v = c_.graph->value(value);
        if (v.producer >= 0 && is_parameter_gather(c_.graph->node(v.producer)))
            return fmt::format("gathered for the {} pass, as fsdp at {} says", gather_pass(c_.graph->node(v.producer)),
                               place(c_.graph->node(v.producer).span));
        if (v.producer >= 0 && c_.seeds->constraints[static_cast<size_t>(v.producer)])
            return fmt::format("the constraint at {} keeps it whole", place(c_.graph->node(v.producer).span));
        if (c_.seeds->values[static_cast<size_t>(value)])
            return "no rule or axis splits it, and what is declared is not changed";
        return "nothing splits it";
    }

    std::string collectives(std::optional<ValueId> value) const {
        std::vector<CollectiveReport> mine;
        for (const CollectiveReport& collective : compiled_.plan()->report.collectives)
            if (touches(collective, tensor_.name)) mine.push_back(collective);
        if (mine.empty()) return "No collective is for it.\n";
        std::string out = paint_.strong("Collectives for it") + "\n";
        out += collectives_table(*compiled_.plan(), {true}, paint_, mine).render(paint_, "  ");
        return value ? out + alternatives(*value) : out;
    }

    // A chain of collectives and slices in the local graph is one redistribution: the chosen way, and the next best.
    std::string alternatives(ValueId value) const {
        const Graph& local = c_.local->graph;
        std::string out;
        for (size_t n = 0; n < local.nodes.size(); ++n) {
            const Node& node = local.nodes[n];
            if (!node.collective || node.inputs.empty() || node.outputs.empty()) continue;
            const Value& from = local.value(node.inputs[0]);
            if (from.producer >= 0 && local.node(from.producer).collective) continue; // not the first of its chain
            const Value* to = &local.value(node.outputs[0]);
            for (size_t next = n + 1; next < local.nodes.size(); ++next)
                if (local.nodes[next].collective && !local.nodes[next].inputs.empty() &&
                    &local.value(local.nodes[next].inputs[0]) == to)
                    to = &local.value(local.nodes[next].outputs[0]);
            CollectiveReport probe;
            probe.tensor = from.name;
            bool is_mine = touches(probe, tensor_.name);
            probe.tensor = to->name;
            if (!is_mine && !touches(probe, tensor_.name)) continue;
            TensorType global = c_.graph->value(value).type;
            if (from.global_shape != global.shape || to->global_shape != global.shape) continue;
            out += ways(global, from.sharding, to->sharding);
        }
        return out;
    }

    std::string ways(const TensorType& global, const Sharding& from, const Sharding& to) const {
        std::vector<Redistribution> found = redistribution_alternatives(mesh_, *c_.hardware, global, from, to, 2);
        if (found.empty()) return {};
        std::string out = fmt::format("\n{}: {} to {}\n", paint_.strong("Ways there"), sharding_text(mesh_, from),
                                      sharding_text(mesh_, to));
        Table table({{""}, {"steps"}, {"sent, all together", Align::right}, {"time", Align::right}});
        for (size_t i = 0; i < found.size(); ++i) {
            std::vector<std::string> steps;
            for (const RedistributionStep& step : found[i].steps)
                steps.push_back(step.collective ? shard::text(mesh_, *step.collective)
                                                : fmt::format("slice over {}", shard::text(mesh_, step.slice.axes)));
            table.add({i == 0 ? "chosen" : "next best", fmt::format("{}", fmt::join(steps, ", then ")),
                       human_bytes(found[i].wire_bytes_total), human_seconds(found[i].seconds)});
        }
        return out + table.render(paint_, "  ") +
               "  least time is chosen, then fewest bytes, then fewest collectives\n";
    }

    // "-1 all_gather, +2 all_to_all"
    static std::string difference(const Experiment& experiment, const Experiment& base) {
        std::map<std::string, i64> kinds = base.kinds;
        kinds.insert(experiment.kinds.begin(), experiment.kinds.end());
        std::vector<std::string> words;
        for (const std::pair<const std::string, i64>& kind : kinds) {
            auto count = [&kind](const Experiment& of) {
                return of.kinds.contains(kind.first) ? of.kinds.at(kind.first) : 0;
            };
            i64 change = count(experiment) - count(base);
            if (change != 0) words.push_back(fmt::format("{:+} {}", change, kind.first));
        }
        return fmt::format("{}", fmt::join(words, ", "));
    }

    std::string remedies() const {
        Experiment base = figures_of(*compiled_.plan(), tensor_.name);
        if (base.touching == 0) return {};
        std::vector<Experiment> found = find_remedies(compiled_, tensor_.name, 5);
        std::string out = "\n" + paint_.strong("What would change it") + " (each planned again)\n";
        if (found.empty())
            return out + "  no single constraint, override or rule makes these collectives fewer or smaller\n";
        Table table({{"change"},
                     {"collectives", Align::right},
                     {"sent by a device", Align::right},
                     {"step", Align::right},
                     {"peak memory", Align::right},
                     {"difference"}});
        found.insert(found.begin(), base);
        for (const Experiment& experiment : found) {
            std::string_view color = experiment.step_seconds < base.step_seconds   ? "32"
                                     : experiment.step_seconds > base.step_seconds ? "33"
                                                                                   : "";
            table.add({experiment.change, grouped(experiment.collectives),
                       human_bytes(experiment.wire_bytes_per_device),
                       Cell(human_seconds(experiment.step_seconds), color), human_bytes(experiment.peak),
                       difference(experiment, base)});
        }
        return out + table.render(paint_, "  ");
    }

    const Compiled& compiled_;
    const Compilation& c_;
    const Mesh& mesh_;
    const TensorReport& tensor_;
    const Paint& paint_;
};

} // namespace

std::string explain_tensor(const Compiled& compiled, const TensorReport& tensor, const Paint& paint) {
    return TensorExplainer(compiled, tensor, paint).text();
}

} // namespace shard
