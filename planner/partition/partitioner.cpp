// Walks the graph once, in order. For every value it keeps track of the forms in which the local graph holds it: the
// kept one (its propagated sharding), others made on the way, and a partial sum that nobody has reduced yet.
//
// Collectives arise where an op reads (obtain), a parameter of fsdp is gathered (gather), a result is kept in another
// sharding than it was made in (hold), a sum is reduced (keep), and a loop ends (take_result).
//
// A partial sum is reduced when the first op needs it so; an op that is linear in it lets it through instead, if it
// is the only reader and if that costs no more. What was made once is used again by every later reader.
#include "planner/partition/partitioner.h"

#include "planner/graph/device_op.h"
#include "planner/graph/region_ops.h"
#include "planner/graph/verify_loops.h"
#include "planner/graph/view.h"
#include "planner/ops_support/move.h"
#include "planner/partition/causes.h"
#include "planner/partition/compute_asker.h"
#include "planner/partition/gradient_sums.h"
#include "planner/partition/held_value.h"
#include "planner/partition/live_readers.h"
#include "planner/partition/local_builder.h"
#include "planner/partition/local_loops.h"
#include "planner/partition/xla_gathers.h"
#include "planner/partition/xla_ways.h"
#include "planner/redistribute/redistribute.h"
#include "planner/redistribute/simpler_ways.h"
#include "planner/rewrite/gather_parameters.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace shard {

namespace {

class LocalMaker {
public:
    LocalMaker(const Graph& graph, const GraphFacts& facts, const Propagation& propagation,
               NumberedDecisions& decisions, const JointForms& joint)
        : graph_(graph), mesh_(decisions.decisions().mesh()), decisions_(decisions),
          redistributor_(decisions.decisions().redistributor()), joint_(joint),
          shardings_(redistributor_.is_as_xla() ? propagation.values
                                                : store_sums_as_gradients(graph, propagation.values)),
          outputs_(propagation.outputs), held_(graph.values.size()), users_(facts.users),
          asker_(graph, facts, shardings_, decisions), builder_(local_, graph, mesh_) {
        if (redistributor_.is_as_xla()) xla_gathers_.emplace(graph);
    }

    Local run() {
        const std::vector<int> readers = live_readers(graph_);
        for (size_t v = 0; v < held_.size(); ++v) held_[v].readers = readers[v];
        local_.graph.nodes.reserve(2 * graph_.nodes.size()); // about as many reshards as ops, at most
        local_.graph.values.reserve(2 * graph_.values.size());
        local_.graph.loops = graph_.loops;
        local_.sent.resize(graph_.nodes.size());
        for (GraphLoop& loop : local_.graph.loops) loop.carried.clear(), loop.sums.clear(), loop.stacks.clear();
        for (ValueId id : graph_.inputs) {
            Held& held = of(id);
            held.kept = builder_.input(id, kept(id));
            held.reduced = {held.kept};
        }
        for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
            const Node& node = graph_.node(id);
            if (is_dead(node)) continue;
            if (node.opens() >= 0) {
                open_loop(node);
            } else if (node.closes() >= 0) {
                close_loop(node);
            } else if (is_constraint(node)) {
                constrain(node, id);
            } else if (node.asked().border) {
                cross_border(node, id);
            } else {
                compute(node, id);
                add_term(node.outputs[0]);
            }
        }
        const std::vector<int> updates = updates_by_output(graph_);
        local_.graph.updates.resize(graph_.updates.size());
        for (size_t o = 0; o < graph_.outputs.size(); ++o) {
            if (updates[o] < 0) {
                local_.graph.outputs.push_back(give_back(o, o < outputs_.size() ? &outputs_[o] : nullptr));
                continue;
            }
            // The next step reads it as the input, so it is left in the input's sharding.
            const size_t u = updates[o];
            const ValueId input = graph_.updates[u].input;
            local_.graph.outputs.push_back(leave_in(input, graph_.outputs[o]));
            local_.graph.updates[u] = {of(input).kept, local_.graph.outputs.back()};
        }
        local_.graph.output_names = graph_.output_names;
        for (const Held& held : held_) local_.value_of.push_back(held.kept);
        return std::move(local_);
    }

    // In what ways a node could be computed, which is known when the pass comes to it.
    std::vector<ComputeSharding> ways_of(NodeId node) {
        watched_ = node;
        run();
        return std::move(ways_);
    }

private:
    Held& of(ValueId id) { return held_[id]; }
    const Held& of(ValueId id) const { return held_[id]; }
    const Sharding& kept(ValueId id) const { return shardings_[id]; }
    const TensorType& type(ValueId id) const { return graph_.value(id).type; }
    const Sharding& sharding(ValueId local) const { return local_.graph.value(local).part->sharding; }

    bool is_dead(const Node& node) const {
        return is_unread(node, [this](ValueId id) { return of(id).readers; });
    }

    // The kept form, made if it is not there yet.
    ValueId keep(ValueId id) {
        Held& held = of(id);
        if (held.kept >= 0) return held.kept;
        internal_check(held.pending >= 0, "a value is made before it is read");
        const NodeId producer = graph_.value(id).producer;
        std::vector<Sharding> stages;
        if (xla_gathers_ && producer >= 0) stages = xla_sum_stages(graph_.node(producer).op(), sharding(held.pending));
        if (stages.empty() || !same_layout(stages.back(), kept(id))) stages.push_back(kept(id));
        ValueId at = held.pending;
        for (size_t s = 0; s < stages.size(); ++s) {
            const Redistribution& way = redistributor_.find(type(id), sharding(at), stages[s]);
            at = builder_.reshard(at, id, way, held.why_pending, producer, s + 1 == stages.size());
        }
        held.kept = at;
        held.reduced.push_back(held.kept);
        return held.kept;
    }

    OperandChoice choice_of(ValueId id) {
        return shard::choice_of(of(id), type(id), kept(id), local_.graph, redistributor_);
    }

    // The local value that holds `id` as `needed`. If it has to be made and `renamed` is given, it becomes the kept
    // form of that value.
    template<typename MakeReason>
    ValueId obtain(ValueId id, const Sharding& needed, const MakeReason& reason, NodeId reader, ValueId renamed = -1) {
        Held& held = of(id);
        if (!needed.partial.empty()) { // passes through the reader, on blocks of another dim at most
            const Redistribution& way = redistributor_.find(type(id), sharding(held.pending), needed);
            return way.steps.empty() ? held.pending : builder_.reshard(held.pending, id, way, reason(), reader, false);
        }
        for (ValueId form : held.reduced)
            if (same_layout(sharding(form), needed) && (!xla_gathers_ || xla_gathers_->keeps(form, reader)))
                return form;
        OperandChoice choice = choice_of(id);
        size_t form = cheapest_form(redistributor_, type(id), choice.forms, needed).form;
        bool direct = held.kept < 0 && form == 1; // reduced straight into what the only reader needs
        ValueId from = direct ? held.pending : keep(id);
        if (!direct && form > 0) {
            for (ValueId other : held.reduced) {
                if (same_layout(sharding(other), choice.forms[form].sharding)) from = other;
            }
        }
        if (same_layout(sharding(from), needed)) return from;
        const Redistribution& way = redistributor_.find(type(id), sharding(from), needed);
        bool renames = renamed >= 0;
        std::optional<Phase> phase; // a gather made again is meant to be another
        for (ValueId other : held.reduced)
            if (same_layout(sharding(other), needed)) phase = Phase::backward;
        ValueId made = builder_.reshard(from, renames ? renamed : id, way, direct ? held.why_pending : reason(), reader,
                                        renames, phase);
        held.reduced.push_back(made);
        const bool gathers =
            type(id).rank() > 1 && total_size(used_axes(needed)) < total_size(used_axes(sharding(from)));
        if (gathers && xla_gathers_) xla_gathers_->make(made, reader);
        return made;
    }

    // What is returned, in the sharding that is wanted, if any.
    ValueId give_back(size_t output, const Sharding* wanted) {
        ValueId id = graph_.outputs[output];
        if (wanted == nullptr || same_layout(*wanted, kept(id))) return keep(id);
        return obtain(
            id, *wanted, [&] { return output_reason(mesh_, graph_.value(id), kept(id), *wanted); },
            graph_.value(id).producer);
    }

    // The new value of an input, stored as the input is.
    ValueId leave_in(ValueId input, ValueId id) {
        if (same_layout(kept(input), kept(id))) return keep(id);
        return obtain(
            id, kept(input), [&] { return update_reason(mesh_, graph_.value(input), kept(id), kept(input)); },
            graph_.value(id).producer);
    }

    // A constraint computes nothing: its result is its operand in the sharding asked for.
    void constrain(const Node& node, NodeId id) {
        ValueId from = node.inputs[0], to = node.outputs[0];
        Held& held = of(to);
        if (is_parameter_gather(node)) {
            held.kept = gather(node, id);
            held.reduced = {held.kept};
            return;
        }
        held.kept = obtain(
            from, kept(to), [&] { return constraint_reason(mesh_, graph_, node, kept(from), kept(to)); }, id, to);
        held.reduced = {held.kept};
    }

    // Each gather is one of its own: what the forward pass gathered is gone when the backward pass begins.
    ValueId gather(const Node& node, NodeId id) {
        ValueId from = keep(node.inputs[0]), to = node.outputs[0];
        ValueId made =
            builder_.reshard(from, to, redistributor_.find(type(to), sharding(from), kept(to)),
                             gather_reason(mesh_, node, sharding(from), kept(to)), id, true, gather_phase(node));
        return made;
    }

    // What the body reads from outside is whole before the first trip: what a trip makes of it is gone after the trip.
    void open_loop(const Node& node) {
        const GraphLoop& loop = graph_.loops[node.opens()];
        for (NodeId n = loop.opens + 1; n < loop.closes; ++n) {
            if (is_dead(graph_.node(n))) continue;
            for (ValueId id : graph_.node(n).inputs)
                if (!is_within(graph_, graph_.value(id).loop, node.opens())) keep(id);
        }
        std::vector<ValueId> inits;
        for (const GraphLoop::Carried& carried : loop.carried)
            inits.push_back(obtain_for_loop(carried.init, kept(carried.argument), loop.opens));
        loops_.push_back(
            std::make_unique<LocalLoop>(local_, builder_, graph_, node.opens(), std::move(inits), shardings_));
        for (size_t n = 0; n < loop.carried.size(); ++n) {
            Held& held = of(loop.carried[n].argument);
            held.kept = loops_.back()->argument(n);
            held.reduced = {held.kept};
        }
    }

    void close_loop(const Node& node) {
        const GraphLoop& loop = graph_.loops[node.closes()];
        std::vector<ValueId> yields, terms, slices;
        std::vector<bool> keeps;
        for (const GraphLoop::Carried& carried : loop.carried) {
            yields.push_back(obtain_for_loop(carried.yield, kept(carried.argument), loop.closes));
            keeps.push_back(same_layout(kept(carried.argument), kept(carried.result)));
        }
        for (const GraphLoop::Sum& sum : loop.sums) {
            terms.push_back(term_of(sum, loop.closes));
            keeps.push_back(same_layout(sharding(terms.back()), kept(sum.result)));
        }
        for (const GraphLoop::Stack& stack : loop.stacks) {
            Sharding entry = kept(stack.result);
            entry.dims.erase(entry.dims.begin());
            const Held& slice = of(stack.slice);
            const bool stays = slice.kept < 0 && !redistributor_.is_as_xla() &&
                               may_stack_partial(graph_, loop, stack, sharding(slice.pending), kept(stack.result));
            slices.push_back(stays ? of(stack.slice).pending : obtain_for_loop(stack.slice, entry, loop.closes));
            keeps.push_back(!stays);
        }
        const std::vector<ValueId> results = loops_.back()->close(std::move(yields), terms, slices, keeps);
        loops_.pop_back();
        for (Held& held : held_)
            std::erase_if(held.reduced, [&](ValueId form) {
                return is_within(local_.graph, local_.graph.value(form).loop, node.closes());
            });
        for (size_t n = 0; n < results.size(); ++n) {
            take_result(node.outputs[n], results[n], loop, n, keeps[n]);
            add_term(node.outputs[n]);
        }
    }

    // A term of a sum over the trips is added as soon as it is there.
    void add_term(ValueId id) {
        if (loops_.empty() || graph_.value(id).loop < 0) return;
        const GraphLoop& loop = graph_.loops[graph_.value(id).loop];
        for (size_t n = 0; n < loop.sums.size(); ++n)
            if (loop.sums[n].term == id) loops_.back()->add(n, term_of(loop.sums[n], loop.closes));
    }

    // A partial sum is added up as it is and reduced once, after the last trip. One whose sum is split over the very
    // axes is scattered in every trip: the whole never lies anywhere.
    ValueId term_of(const GraphLoop::Sum& sum, NodeId id) {
        const Held& held = of(sum.term);
        if (redistributor_.is_as_xla()) return obtain_for_loop(sum.term, kept(sum.result), id);
        if (held.kept >= 0) return held.kept;
        const std::vector<AxisRef>& partial = sharding(held.pending).partial;
        const std::vector<AxisRef> split = used_axes(kept(sum.result));
        if (sum.reduce == GradientReduce::each) return obtain_for_loop(sum.term, kept(sum.result), id);
        if (sum.reduce == GradientReduce::end) return held.pending;
        const bool scattered =
            std::any_of(partial.begin(), partial.end(), [&](const AxisRef& axis) { return overlaps_any(axis, split); });
        return scattered ? obtain_for_loop(sum.term, kept(sum.result), id) : held.pending;
    }

    void take_result(ValueId result, ValueId local, const GraphLoop& loop, size_t n, bool keeps) {
        Held& held = of(result);
        if (!sharding(local).partial.empty()) {
            held.pending = local;
            const size_t sum = n - loop.carried.size();
            held.why_pending =
                of(sum < loop.sums.size() ? loop.sums[sum].term : loop.stacks[sum - loop.sums.size()].slice)
                    .why_pending;
            return;
        }
        held.reduced = {local};
        held.kept = local;
        if (keeps) return;
        const Redistribution& way = redistributor_.find(type(result), sharding(local), kept(result));
        held.kept = builder_.reshard(local, result, way,
                                     loop_reason(mesh_, graph_.value(result), sharding(local), kept(result)),
                                     loop.closes, true);
        held.reduced.push_back(held.kept);
    }

    ValueId obtain_for_loop(ValueId id, const Sharding& needed, NodeId marker) {
        return obtain(
            id, needed, [&] { return loop_reason(mesh_, graph_.value(id), kept(id), needed); }, marker);
    }

    // At the border of a manual region nothing is computed: what one device holds is the same on both sides.
    void cross_border(const Node& node, NodeId id) {
        const ValueId from = node.inputs[0], to = node.outputs[0];
        const bool enters = graph_.value(to).region >= 0;
        const Sharding outer = outer_sharding(mesh_, *node.asked().border, kept(enters ? to : from));
        const Sharding& needed = enters ? outer : kept(from);
        const ValueId input = obtain(
            from, needed, [&] { return operand_reason(mesh_, graph_, node, from, kept(from), needed); }, id);
        const Sharding& made = enters ? kept(to) : outer;
        hold(node, id,
             builder_.compute(node, id, {input}, node.attributes(), flat_kernel(), made, same_layout(made, kept(to))),
             made);
    }

    int number_of(ValueId local) {
        local_numbers_.resize(local_.graph.values.size(), -1);
        int& number = local_numbers_[local];
        if (number < 0) number = decisions_.number_of(sharding(local));
        return number;
    }

    // How the node could be computed, with what its operands can be had from.
    void ask(const Node& node, NodeId id) {
        asker_.begin(id);
        for (ValueId input : node.inputs) {
            const Held& held = of(input);
            asker_.operand();
            if (held.kept >= 0) {
                asker_.form(number_of(held.kept));
                for (ValueId form : held.reduced)
                    if (form != held.kept && !redistributor_.is_as_xla()) asker_.form(number_of(form));
            } else {
                const OperandChoice choice = choice_of(input);
                for (const OperandForm& form : choice.forms)
                    asker_.form(decisions_.number_of(form.sharding), form.base);
                if (choice.pending) asker_.pending(decisions_.number_of(*choice.pending));
            }
            // The form that is shared has been paid for, whoever comes first.
            const std::map<ValueId, Sharding>::const_iterator shared = joint_.shared.find(input);
            if (shared != joint_.shared.end()) asker_.form(decisions_.number_of(shared->second));
        }
        const std::map<ValueId, Sharding>::const_iterator sum = joint_.sums.find(node.outputs[0]);
        if (sum != joint_.sums.end()) asker_.set_result(sum->second);
    }

    void compute(const Node& node, NodeId id) {
        const ValueId result = node.outputs[0];
        ask(node, id);
        const NumberedDecision& numbered = asker_.decide();
        const ComputeDecision& decided = *numbered.decision;
        if (id == watched_) ways_ = all_compute_shardings(redistributor_, asker_.query(), decided.rule);
        const ComputeSharding& choice = decided.choice;
        local_.sent[id] = choice.cost.wire_bytes;

        const Sharding& made = choice.results[0];
        Reason why_partial;
        std::vector<ValueId> inputs;
        std::map<std::vector<AxisRef>, std::string> since;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            ValueId input = node.inputs[i];
            if (!choice.operands[i].partial.empty() && why_partial.cause.empty()) why_partial = of(input).why_pending;
            const auto reason = [&] {
                const OperandPlace place = {choice, decided.rule, i, !redistributor_.is_as_xla(), &since};
                return operand_reason(mesh_, graph_, node, input, kept(input), choice.operands[i], &place);
            };
            const std::optional<Sharding> stop =
                xla_gathers_ ? xla_way_stop(asker_.query(), decided.rule, choice, i) : std::nullopt;
            ValueId at = obtain(input, stop ? *stop : choice.operands[i], reason, id);
            if (stop)
                at = builder_.reshard(at, input, redistributor_.find(type(input), *stop, choice.operands[i]), reason(),
                                      id, false);
            inputs.push_back(at);
        }
        if (numbered.exchanges) inputs = builder_.exchange(asker_.query(), decided.rule, choice, id, std::move(inputs));
        bool keeps = same_layout(made, kept(result));
        const bool crosses = node.op()->device && node.op()->device->collective;
        ValueId local =
            crosses ? builder_.across_devices(node, id, inputs[0], made, keeps,
                                              simpler_way(graph_, users_, node, redistributor_))
                    : builder_.compute(node, id, std::move(inputs), numbered.attributes, numbered.kernel, made, keeps);
        Held& held = of(result);
        if (!made.partial.empty()) {
            held.pending = local;
            held.why_pending = why_partial.cause.empty() ? partial_reason(mesh_, graph_, node, decided.rule,
                                                                          choice.kernel, choice.factor_axes)
                                                         : why_partial;
            return;
        }
        hold(node, id, local, made);
    }

    // The node's result, as it is made, and as it is kept.
    void hold(const Node& node, NodeId id, ValueId local, const Sharding& made) {
        const ValueId result = node.outputs[0];
        Held& held = of(result);
        held.reduced = {local};
        held.kept = local;
        if (same_layout(made, kept(result))) return;
        const Redistribution& way = redistributor_.find(type(result), made, kept(result));
        const KeptReason reason = kept_reason(mesh_, graph_, users_[result], shardings_, id, made);
        held.kept = builder_.reshard(local, result, way, reason.why, reason.at, true);
        held.reduced.push_back(held.kept);
    }

    const Graph& graph_;
    const Mesh& mesh_;
    NumberedDecisions& decisions_;
    Redistributor& redistributor_;
    const JointForms& joint_;
    Shardings shardings_;      // the propagated ones, but for sums over microbatches
    const Shardings& outputs_; // by output index
    Local local_;
    std::vector<Held> held_;
    const Users& users_;
    ComputeAsker asker_;
    std::vector<int> local_numbers_; // by local value: its sharding's, as decisions number it; -1: not asked yet
    LocalBuilder builder_;
    std::vector<std::unique_ptr<LocalLoop>> loops_; // open ones, outer before inner
    std::optional<XlaGathers> xla_gathers_;         // as XLA
    NodeId watched_ = -1;
    std::vector<ComputeSharding> ways_;
};

} // namespace

Local partition(const Graph& graph, const GraphFacts& facts, const Propagation& propagation,
                NumberedDecisions& decisions, const JointForms& joint) {
    return LocalMaker(graph, facts, propagation, decisions, joint).run();
}

std::vector<ComputeSharding> compute_ways(const Graph& graph, const GraphFacts& facts, const Propagation& propagation,
                                          NumberedDecisions& decisions, const JointForms& joint, NodeId node) {
    return LocalMaker(graph, facts, propagation, decisions, joint).ways_of(node);
}

} // namespace shard
