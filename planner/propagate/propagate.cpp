#include "planner/propagate/propagate.h"

#include "planner/graph/train_phases.h"
#include "planner/propagate/propagation_step.h"

#include <algorithm>
#include <set>

namespace shard {

namespace {

constexpr int every_direction = static_cast<int>(op_priorities.size()) - 1;

// Nothing that `before` says about dims is lost in `after`.
bool extends(const Sharding& before, const Sharding& after) {
    for (size_t d = 0; d < before.dims.size(); ++d)
        if (prefix_status(before.dims[d].axes, after.dims[d].axes) == PrefixStatus::none) return false;
    return true;
}

class Propagator {
public:
    Propagator(const Graph& graph, const Seeds& seeds, const PropagateOptions& options)
        : graph_(graph), options_(options), net_(make_net(graph, seeds)), log_(seeds.log),
          steps_(net_.rules, table_, options) {
        log_.insert(log_.end(), net_.log.begin(), net_.log.end());
    }

    Fixpoint run() {
        for (int user_priority : park_later_priorities()) {
            if (user_priority > 0) unpark(user_priority);
            if (user_priority == storage_priority) leave_only_updates();
            for (int level = options_.op_priorities ? 0 : every_direction; level <= every_direction; ++level)
                run_to_fixpoint(level);
        }
        if (leave_in_inputs()) run_to_fixpoint(every_direction);
        return take_result();
    }

private:
    const Sharding& sharding(int slot) const { return table_.at(current_[slot]); }
    void set(size_t slot, const Sharding& sharding) { current_[slot] = table_.intern(sharding); }

    // User priorities order the work and protect: until its turn a dim is empty and closed, and nothing else on the
    // value may take its axes. Returns the priorities in order; 0 is always among them.
    std::set<int> park_later_priorities() {
        std::set<int> priorities = {0};
        current_.resize(net_.slots.size());
        for (size_t s = 0; s < net_.slots.size(); ++s) {
            Sharding initial = net_.slots[s].seed;
            for (DimSharding& dim : initial.dims) {
                if (dim.priority == 0) continue;
                priorities.insert(dim.priority);
                initial.replicated.insert(initial.replicated.end(), dim.axes.begin(), dim.axes.end());
                dim = DimSharding{};
            }
            std::sort(initial.replicated.begin(), initial.replicated.end());
            set(s, initial);
        }
        return priorities;
    }
    void unpark(int priority) {
        for (size_t s = 0; s < net_.slots.size(); ++s) {
            const Sharding& seed = net_.slots[s].seed;
            Sharding now = table_.at(current_[s]);
            bool changed = false;
            for (size_t d = 0; d < seed.dims.size(); ++d) {
                if (seed.dims[d].priority != priority) continue;
                changed = true;
                now.dims[d] = seed.dims[d];
                now.dims[d].priority = 0;
                for (const AxisRef& axis : seed.dims[d].axes)
                    now.replicated.erase(std::find(now.replicated.begin(), now.replicated.end(), axis));
            }
            if (changed) set(s, now);
        }
    }

    // What the next step reads as an input goes there in any case: where operands ask for different things and it would be
    // kept whole, it lies as the input does. False if there is none.
    bool leave_in_inputs() {
        bool any = false;
        for (const Update& update : graph_.updates) {
            const Slot& slot = net_.slots[static_cast<size_t>(update.output)];
            const auto is_open = [](const DimSharding& dim) { return dim.open && dim.axes.empty(); };
            const bool is_read = net_.links_of[static_cast<size_t>(update.output)].size() > 1;
            const Sharding as_input = closed(sharding(update.input));
            if (is_read || used_axes(as_input).empty() || !used_axes(sharding(update.output)).empty() ||
                !std::all_of(slot.seed.dims.begin(), slot.seed.dims.end(), is_open))
                continue;
            set(static_cast<size_t>(update.output), as_input);
            for (size_t d = 0; d < as_input.dims.size(); ++d) {
                if (as_input.dims[d].axes.empty()) continue;
                Decision decision;
                decision.value = update.output;
                decision.dim = static_cast<int>(d);
                decision.axes = as_input.dims[d].axes;
                decision.cause = Decision::Cause::parameter;
                decision.from = update.input;
                decision.span = graph_.value(update.output).span;
                log_.push_back(std::move(decision));
            }
            any = true;
        }
        return any;
    }

    void leave_only_updates() {
        const std::vector<Phase> phases = train_phases_of(graph_);
        fixed_.resize(net_.links.size());
        for (size_t l = 0; l < net_.links.size(); ++l) fixed_[l] = phases[net_.links[l].node] != Phase::update;
    }

    // One sweep in the order of the graph. When a sharding changes, the links at its slot go back to work, except the
    // link that changed it: stepping through it again would add nothing. What the layout asks of outputs is exchanged
    // before and after.
    void run_to_fixpoint(int level) {
        for (const PropagationLink& link : net_.output_links) step(link, every_direction, -1);
        queued_.assign(net_.links.size(), true);
        work_.clear();
        for (size_t l = net_.links.size(); l-- > 0;) work_.push_back(static_cast<int>(l));
        while (!work_.empty()) {
            const int link = work_.back();
            work_.pop_back();
            queued_[link] = false;
            if (!fixed_.empty() && fixed_[link]) continue;
            step(net_.links[link], level, link);
        }
        for (const PropagationLink& link : net_.output_links) step(link, every_direction, -1);
    }

    // What is pushed last is worked on first: the users in order, then the producer.
    void requeue(int slot, int except) {
        const std::vector<int>& links = net_.links_of[slot];
        const auto push = [&](int link) {
            if (link == except || queued_[link]) return;
            queued_[link] = true;
            work_.push_back(link);
        };
        if (links.empty()) return;
        push(links.front());
        for (size_t i = links.size(); i-- > 1;) push(links[i]);
    }

    void step(const PropagationLink& link, int level, int id) {
        const auto slot_of = [&](int tensor) {
            const size_t t = tensor;
            return t < link.operands.size() ? link.operands[t] : link.results[t - link.operands.size()];
        };
        for (const StepChange& change : steps_.outcome(link, level, current_)) {
            const int slot = slot_of(change.tensor);
            int& now = current_[slot];
            // A value may be several operands of one op, which may want different things of it: the first to ask gets
            // it.
            if (now == change.sharding || !extends(table_.at(now), table_.at(change.sharding))) continue;
            now = change.sharding;
            for (const AxisGain& gain : change.gains)
                record(link, slot, gain, gain.source < 0 ? -1 : slot_of(gain.source));
            if (id >= 0) requeue(slot, id);
        }
    }

    void record(const PropagationLink& link, int slot, const AxisGain& gain, int from) {
        const Slot& target = net_.slots[slot];
        if (target.is_output) return; // the value that it returns has the story
        Decision decision;
        decision.value = target.value;
        decision.dim = gain.dim;
        decision.axes = gain.axes;
        decision.node = link.node;
        if (link.node >= 0) {
            decision.cause = Decision::Cause::propagation;
            decision.span = graph_.node(link.node).span;
            if (from >= 0) decision.from = net_.slots[from].value;
        } else {
            decision.cause = Decision::Cause::output;
            decision.span = graph_.value(target.value).span;
            for (const Decision& known : log_)
                if (known.cause == Decision::Cause::output && known.value == target.value && known.dim == gain.dim &&
                    overlaps_any(gain.axes.front(), known.axes))
                    return; // the seeds have said so
        }
        log_.push_back(std::move(decision));
    }

    Fixpoint take_result() {
        const auto final_sharding = [&](size_t s) { return table_.at(current_[s]); };
        Fixpoint fixpoint;
        for (size_t v = 0; v < graph_.values.size(); ++v) fixpoint.values.push_back(final_sharding(v));
        for (int slot : net_.output_slots) {
            fixpoint.outputs.emplace_back();
            if (slot >= 0) fixpoint.outputs.back() = final_sharding(slot);
        }
        fixpoint.log = std::move(log_);
        return fixpoint;
    }

    const Graph& graph_;
    const PropagateOptions options_;
    PropagationNet net_;
    DecisionLog log_;
    ShardingTable table_;
    PropagationSteps steps_;
    std::vector<int> current_; // by slot: its sharding in the table
    std::vector<int> work_;    // links; the last is next
    std::vector<bool> queued_;
    std::vector<bool> fixed_; // by link: nothing moves through it any more
};

// What holds from here on.
void verify_propagation(const Graph& graph, const Mesh& mesh, const Propagation& propagation) {
    const auto check = [&](const TensorType& type, const Sharding& sharding) {
        internal_check(sharding.dims.size() == type.shape.size(),
                       "propagated sharding has another rank than its value");
        internal_check(sharding == closed(sharding), "propagated sharding is not closed");
        internal_check(divides(type.shape, sharding), "propagated sharding does not divide its value");
        const std::vector<AxisRef> used = used_axes(sharding);
        for (size_t i = 0; i < used.size(); ++i) {
            internal_check(contains(mesh.whole(used[i].axis), used[i]), "propagated sharding is not of this mesh");
            internal_check(!overlaps_any(used[i], std::span(used).first(i)), "propagated sharding uses an axis twice");
        }
    };
    for (size_t v = 0; v < graph.values.size(); ++v) check(graph.values[v].type, propagation.values[v]);
    for (size_t o = 0; o < graph.outputs.size(); ++o) check(graph.value(graph.outputs[o]).type, propagation.outputs[o]);
}

} // namespace

Fixpoint propagate_to_fixpoint(const Graph& graph, const Seeds& seeds, const PropagateOptions& options) {
    return Propagator(graph, seeds, options).run();
}

void trim_to_divide(const Shape& shape, Sharding& sharding) {
    for (size_t d = 0; d < shape.size(); ++d) {
        std::vector<AxisRef>& axes = sharding.dims[d].axes;
        i64 left = shape[d];
        for (size_t a = 0; a < axes.size(); ++a) {
            if (left == 0 || left % axes[a].size != 0) {
                axes.resize(a);
                break;
            }
            left /= axes[a].size;
        }
    }
}

Propagation propagate(const Graph& graph, const Mesh& mesh, const Seeds& seeds, const PropagateOptions& options) {
    Fixpoint fixpoint = propagate_to_fixpoint(graph, seeds, options);
    Propagation propagation;
    const auto finish = [](const TensorType& type, const Sharding& sharding) {
        Sharding result = closed(sharding);
        trim_to_divide(type.shape, result);
        return result;
    };
    for (size_t v = 0; v < graph.values.size(); ++v)
        propagation.values.push_back(finish(graph.values[v].type, fixpoint.values[v]));
    for (size_t o = 0; o < graph.outputs.size(); ++o) {
        const ValueId value = graph.outputs[o];
        const std::optional<Sharding>& asked = fixpoint.outputs[o];
        propagation.outputs.push_back(asked ? finish(graph.value(value).type, *asked) : propagation.values[value]);
    }
    propagation.log = std::move(fixpoint.log);
    verify_propagation(graph, mesh, propagation);
    return propagation;
}

} // namespace shard
