#include "planner/explain/explanation.h"

#include "planner/explain/tensor_names.h"
#include "planner/graph/op_def.h"
#include "planner/partition/compute_sharding.h"
#include "planner/partition/local_names.h"
#include "planner/partition/partition.h"
#include "planner/propagate/cause_chain.h"
#include "planner/redistribute/redistribute.h"
#include "planner/rewrite/gather_parameters.h"
#include "plans/plan/source_ref.h"
#include "plans/sharding/axis_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

class Explainer {
public:
    Explainer(const Compilation& compilation, const Sources& sources, const TensorReport& tensor)
        : c_(compilation), sources_(sources), mesh_(compilation.plan->mesh), tensor_(tensor) {}

    Explanation run() {
        Explanation out;
        out.tensor = &tensor_;
        const std::optional<ValueId> value = value_of(*c_.graph, tensor_.name, tensor_.role);
        if (value) {
            for (size_t d = 0; d < tensor_.sharding.dims.size(); ++d) out.dims.push_back(dim_reason(*value, d));
            const std::vector<std::string>& rejected = c_.seeds->rejected_by_value;
            if (static_cast<size_t>(*value) < rejected.size()) out.rules_not_used = rejected[*value];
        }
        if (value) computed(*value, out);
        if (value) attention(*value, out);
        if (value && same_layout(c_.propagation->values[*value], tensor_.sharding)) add_what_is_made(out);
        for (const CollectiveReport& collective : c_.plan->report.collectives)
            if (touches(collective, tensor_.name)) out.collectives.push_back(collective);
        if (value && !out.collectives.empty()) out.ways = ways_there();
        if (value && out.collectives.empty()) {
            out.for_operands = for_operands(*value);
            out.for_made_of_it = for_made_of_it(*value);
        }
        out.as_it_is = figures_of(c_.plan->report, tensor_.name);
        return out;
    }

    // "all_gather of w1": what brings the operands of its op to where it is computed.
    std::vector<std::string> for_operands(ValueId value) const {
        std::vector<std::string> out;
        const NodeId producer = c_.graph->value(value).producer;
        if (producer < 0) return out;
        for (ValueId input : c_.graph->node(producer).inputs) add_collectives_for(input, out);
        return out;
    }

    // "all_gather of w1.bf16": what moves what is made of the value and of nothing else.
    std::vector<std::string> for_made_of_it(ValueId value) const {
        std::vector<std::string> out;
        std::set<ValueId> made = {value};
        for (const Node& node : c_.graph->nodes) {
            if (node.op() == nullptr || node.inputs.size() != 1 || made.count(node.inputs[0]) == 0) continue;
            for (ValueId output : node.outputs) {
                made.insert(output);
                add_collectives_for(output, out);
            }
        }
        return out;
    }

    void add_collectives_for(ValueId value, std::vector<std::string>& out) const {
        for (const CollectiveReport& collective : c_.plan->report.collectives) {
            std::string words = fmt::format("{} of {}", collective.kind, value_name(value));
            if (collective.tensor == value_name(value) && std::find(out.begin(), out.end(), words) == out.end())
                out.push_back(std::move(words));
        }
    }

private:
    SourceRef place(const Span& span) const { return source_ref(sources_, span); }
    std::string excerpt(const Span& span) const {
        if (!span.known()) return {};
        int file = span.file; // or, of a program that the model was just made of, the one with its text
        for (int other = 0; other < sources_.count() && sources_.text(file).empty(); ++other)
            if (sources_.name(other) == sources_.name(span.file)) file = other;
        std::string_view line = sources_.line(file, span.line);
        size_t first = line.find_first_not_of(" \t");
        return first == std::string_view::npos ? std::string() : std::string(line.substr(first));
    }
    std::string value_name(ValueId id) const { return c_.graph->value(id).name; }
    std::string op_name(NodeId id) const {
        return id >= 0 ? std::string(shard::op_name(c_.graph->node(id))) : std::string();
    }

    static std::string_view owner(Role role) {
        return role == Role::state ? "its state" : role == Role::value ? "the value" : "its parameter";
    }

    Because because(const Decision& decision) const {
        Because out;
        out.cause = decision.cause;
        out.source = place(decision.span);
        if (decision.cause != Decision::Cause::propagation) out.excerpt = excerpt(decision.span);
        switch (decision.cause) {
        case Decision::Cause::rule:
            out.words = decision.rule >= 0 ? "a rule of the layout" : "its own rule";
            break;
        case Decision::Cause::override_:
            out.words = "an override of the layout";
            break;
        case Decision::Cause::mesh_spec:
            out.words = "written in mesh axes beside it";
            break;
        case Decision::Cause::constraint:
            out.words = fmt::format("the constraint on {}", value_name(decision.value));
            break;
        case Decision::Cause::output:
            out.words = "what the layout asks of the output";
            break;
        case Decision::Cause::fsdp:
            out.words = "fsdp splits parameters of this size";
            break;
        case Decision::Cause::spread:
            out.words = fmt::format("the sum that {} makes over {} stays split until an op uses {} again, which is "
                                    "faster than reducing it to every device",
                                    op_name(decision.node), text(c_.layout->mesh, decision.axes),
                                    text(c_.layout->mesh, decision.axes));
            break;
        case Decision::Cause::attention:
            out.words = "how attention comes to the keys that other devices hold";
            break;
        case Decision::Cause::read:
            out.words = fmt::format("as {} reads it, which is faster than moving it there", op_name(decision.node));
            break;
        case Decision::Cause::weight:
            out.words = fmt::format("as {}, which {} would gather otherwise, and that is slower",
                                    value_name(decision.from), op_name(decision.node));
            break;
        case Decision::Cause::parameter:
            out.words = fmt::format("as {} {}", owner(c_.graph->value(decision.from).role), value_name(decision.from));
            break;
        case Decision::Cause::propagation:
            out.from = decision.from >= 0 ? value_name(decision.from) : "a neighbour";
            out.through = op_name(decision.node);
            out.words = fmt::format("from {} through {}", out.from, out.through);
            break;
        }
        return out;
    }

    DimReason dim_reason(ValueId value, size_t d) const {
        DimReason out;
        out.name = d < tensor_.logical.size() && !tensor_.logical[d].empty()
                       ? fmt::format("dim {} {}", d, tensor_.logical[d])
                       : fmt::format("dim {}", d);
        for (const AxisRef& axis : tensor_.sharding.dims[d].axes) {
            if (axis.size == 1) continue;
            AxisReason& reason = out.axes.emplace_back();
            reason.axis = axis;
            for (const Decision& decision : cause_chain(c_.propagation->log, value, static_cast<int>(d), axis))
                reason.chain.push_back(because(decision));
        }
        // An output that the layout asks for in another form is not what propagation left.
        if (same_layout(c_.propagation->values[value], tensor_.sharding)) out.lost = lost(value, d);
        if (out.axes.empty()) out.whole = whole_reason(value, d, !out.lost.empty());
        return out;
    }

    // By the model or the layout; passes seed values too, of what propagates.
    bool is_declared(ValueId value) const {
        if (!c_.seeds->values[value]) return false;
        const auto is_of_pass = [&](const Decision& why) {
            return why.value == value &&
                   (why.cause == Decision::Cause::read || why.cause == Decision::Cause::weight ||
                    (why.cause == Decision::Cause::parameter && c_.graph->value(value).role == Role::value));
        };
        return std::none_of(c_.seeds->log.begin(), c_.seeds->log.end(), is_of_pass);
    }

    std::vector<std::string> lost(ValueId value, size_t d) const {
        std::vector<std::string> out;
        if (is_declared(value)) return out; // what is declared is not changed
        for (const LostAxis& axis : lost_axes(*c_.graph, c_.propagation->values, value, static_cast<int>(d))) {
            std::string to;
            if (axis.dim >= 0) {
                const std::vector<Decision> chain = cause_chain(c_.propagation->log, value, axis.dim, axis.axis);
                to = fmt::format("splits dim {} already{}", axis.dim,
                                 chain.empty() ? "" : ", " + because(chain.front()).words);
            } else if (!axis.instead.empty()) {
                to = fmt::format("lost to {}", text(mesh_, axis.instead));
            } else {
                to = "does not divide it";
            }
            out.push_back(fmt::format("{}, which {} has here through {}, {}", text(mesh_, axis.axis),
                                      value_name(axis.from), op_name(axis.node), to));
        }
        return out;
    }

    void computed(ValueId value, Explanation& out) const {
        const NodeId producer = c_.graph->value(value).producer;
        if (producer < 0) return;
        const Node& node = c_.graph->node(producer);
        if (node.op() == nullptr || is_constraint(node)) return;
        if (is_as_xla()) return; // no price has decided
        const std::vector<ComputeSharding> ways =
            compute_ways(*c_.graph, *c_.propagation, *c_.decisions, c_.joint, producer);
        if (ways.empty()) return;
        out.op = node.op()->name;
        // The first of equals is the quickest.
        const auto fewest = [&ways](i64 PlanCost::*figure) {
            size_t best = 0;
            for (size_t i = 1; i < ways.size(); ++i)
                if (ways[i].cost.*figure < ways[best].cost.*figure) best = i;
            return best;
        };
        const size_t bytes = fewest(&PlanCost::wire_bytes), work = fewest(&PlanCost::flops);
        out.computed.push_back(compute_way(node, ways[0], "chosen"));
        if (bytes != 0)
            out.computed.push_back(
                compute_way(node, ways[bytes], bytes == work ? "fewest bytes, least computation" : "fewest bytes"));
        if (work != 0 && work != bytes) out.computed.push_back(compute_way(node, ways[work], "least computation"));
    }

    void attention(ValueId value, Explanation& out) const {
        for (size_t n = 0; n < c_.attention_ways.size(); ++n) {
            const AttentionWays& ways = c_.attention_ways[n];
            if (std::find(ways.results.begin(), ways.results.end(), value) == ways.results.end()) continue;
            out.attention = price_attention_ways(*c_.before_attention, *c_.layout, *c_.decisions, n);
            out.attention_goes = ways.way;
            out.attention_is_asked_for = ways.is_asked_for;
        }
    }

    ComputeWay compute_way(const Node& node, const ComputeSharding& way, std::string is) const {
        ComputeWay out;
        out.is = std::move(is);
        for (size_t i = 0; i < node.inputs.size(); ++i)
            out.operands.emplace_back(value_name(node.inputs[i]), way.operands[i]);
        out.makes = way.results[0];
        out.seconds = way.cost.seconds;
        out.wire_bytes_total = way.cost.wire_bytes;
        out.flops_per_device = way.cost.flops;
        return out;
    }

    // The rule that says {embed: ~} of a dim, the array's own before those of the layout; nullptr: none does.
    const AxisRule* whole_rule(const Value& value, size_t d) const {
        if (d >= tensor_.logical.size() || tensor_.logical[d].empty()) return nullptr;
        const std::vector<AxisRule> none;
        for (const std::vector<AxisRule>* rules :
             {value.decl >= 0 ? &c_.graph->declared[value.decl].rules : &none, &c_.layout->rules})
            for (const AxisRule& rule : *rules)
                if (rule.logical == tensor_.logical[d] && rule.axes.empty() && !rule.unconstrained) return &rule;
        return nullptr;
    }

    // Why a dim carries no axis.
    std::string whole_reason(ValueId value, size_t d, bool lost_some) const {
        const Value& v = c_.graph->value(value);
        const Sharding& kept = c_.propagation->values[value];
        if (!same_layout(kept, tensor_.sharding))
            return fmt::format("returned so, as the layout asks; it is kept as {}", text(mesh_, kept));
        if (v.producer >= 0 && is_parameter_gather(c_.graph->node(v.producer))) {
            const Node& gather = c_.graph->node(v.producer);
            return fmt::format("gathered for the {} pass, as fsdp at {} says", name(gather_phase(gather)),
                               text(place(gather.span)));
        }
        if (v.producer >= 0 && c_.seeds->constraints[v.producer]) {
            const std::string constraint = text(place(c_.graph->node(v.producer).span));
            if (const AxisRule* rule = whole_rule(v, d))
                return fmt::format("the constraint at {} keeps it whole, by the rule at {}", constraint,
                                   text(place(rule->span)));
            return fmt::format("the constraint at {} keeps it whole", constraint);
        }
        if (is_declared(value)) {
            if (const AxisRule* rule = whole_rule(v, d))
                return fmt::format("the rule at {} keeps {} whole", text(place(rule->span)), rule->logical);
            return "no rule or axis splits it, and what is declared is not changed";
        }
        if (const Node* constraint = constraint_on(value, d))
            return fmt::format("the constraint at {} asks for it whole", text(place(constraint->span)));
        return lost_some ? "no axis is left for it" : "nothing splits it";
    }

    // That which reads a value and wants the dim whole: how it is kept before it follows from that too.
    const Node* constraint_on(ValueId value, size_t d) const {
        for (size_t n = 0; n < std::min(c_.graph->nodes.size(), c_.seeds->constraints.size()); ++n) {
            const std::optional<Sharding>& asked = c_.seeds->constraints[n];
            const Node& node = c_.graph->nodes[n];
            if (asked && node.inputs.at(0) == value && asked->dims[d].axes.empty() && !asked->dims[d].open)
                return &node;
        }
        return nullptr;
    }

    // What its op makes is split further than it is kept: who reads only how it is kept would not see what is gathered.
    void add_what_is_made(Explanation& out) const {
        if (out.computed.empty()) return;
        const Sharding made = without_unit_axes(out.computed.front().makes);
        for (size_t d = 0; d < out.dims.size() && d < made.dims.size(); ++d)
            if (out.dims[d].axes.empty() && !made.dims[d].axes.empty())
                out.dims[d].whole += fmt::format("; {} makes it split over {}", out.op, text(mesh_, made.dims[d].axes));
    }

    // A chain of collectives and slices in the local graph is one redistribution: the chosen way, and the next best.
    std::vector<WaysThere> ways_there() const {
        const Graph& local = c_.local->graph;
        const LocalNames names(*c_.graph, *c_.local);
        const auto is_mine = [&](const Node& node) {
            CollectiveReport probe;
            probe.tensor = names.name(node);
            return touches(probe, tensor_.name);
        };
        std::vector<WaysThere> out;
        for (size_t n = 0; n < local.nodes.size(); ++n) {
            const Node& node = local.nodes[n];
            if (!node.collective() || node.inputs.empty() || node.outputs.empty()) continue;
            const Value& from = local.value(node.inputs[0]);
            if (from.producer >= 0 && local.node(from.producer).collective()) continue; // not the first of its chain
            bool mine = is_mine(node);
            const Value* to = &local.value(node.outputs[0]);
            for (size_t next = n + 1; next < local.nodes.size(); ++next)
                if (local.nodes[next].collective() && !local.nodes[next].inputs.empty() &&
                    &local.value(local.nodes[next].inputs[0]) == to) {
                    mine = mine || is_mine(local.nodes[next]);
                    to = &local.value(local.nodes[next].outputs[0]);
                }
            if (!mine || from.part->global_shape != to->part->global_shape) continue;
            if (is_pairwise(*node.collective())) continue; // it leaves the sharding as it is
            // A parameter is gathered in each pass, in the same way.
            const bool is_known = std::any_of(out.begin(), out.end(), [&](const WaysThere& other) {
                return other.from == from.part->sharding && other.to == to->part->sharding;
            });
            if (is_known) continue;
            TensorType global = from.type; // of a layer, if it is a layer that is moved
            global.shape = from.part->global_shape;
            std::vector<Redistribution> ways =
                redistribution_alternatives(mesh_, *c_.hardware, global, from.part->sharding, to->part->sharding, 2);
            if (is_as_xla() && !ways.empty()) {
                ways.resize(1);
                Redistribution chosen =
                    reshard_as_xla(mesh_, *c_.hardware, global, from.part->sharding, to->part->sharding);
                if (step_words(mesh_, chosen) != step_words(mesh_, ways[0])) ways.insert(ways.begin(), chosen);
            }
            if (!ways.empty()) out.push_back({from.part->sharding, to->part->sharding, std::move(ways)});
        }
        return out;
    }

    bool is_as_xla() const { return c_.layout->partitioner == Partitioner::xla; }

    const Compilation& c_;
    const Sources& sources_;
    const Mesh& mesh_;
    const TensorReport& tensor_;
};

} // namespace

std::vector<std::string> step_words(const Mesh& mesh, const Redistribution& way) {
    std::vector<std::string> words;
    for (const RedistributionStep& step : way.steps)
        words.push_back(step.collective ? text(mesh, *step.collective)
                                        : fmt::format("{} over {}", step.slice.from < 0 ? "slice" : "zeros beside it",
                                                      text(mesh, step.slice.axes)));
    return words;
}

Explanation explain_as_planned(const Compilation& compilation, const Sources& sources, const TensorReport& tensor) {
    return Explainer(compilation, sources, tensor).run();
}

} // namespace shard
