#include "planner/propagate/propagation_step.h"

#include "planner/propagate/factor_propagation_aggressive.h"
#include "planner/propagate/factor_propagation_basic.h"

#include <algorithm>

namespace shard {

namespace {

// The axes that `after` has beyond `before`, its prefix.
std::vector<AxisRef> gained_axes(const std::vector<AxisRef>& before, const std::vector<AxisRef>& after) {
    std::vector<AxisRef> gained;
    for (size_t i = 0; i < after.size(); ++i) {
        if (i >= before.size())
            gained.push_back(after[i]);
        else if (after[i] != before[i])
            gained.push_back(*rest_after(after[i], before[i]));
    }
    return gained;
}

// The first tensor that already held part of `axis` on one of `factors` before the step: none that gained it.
int find_source(const Projection& before, std::span<const int> factors, const AxisRef& axis) {
    for (size_t t = 0; t < before.count(); ++t) {
        for (int factor : factors)
            if (const FactorSharding* sharding = before.tensor(t).find(factor))
                if (overlaps_any(axis, sharding->axes)) return static_cast<int>(t);
    }
    return -1;
}

// Of what several products in a row make, the first operand's dims have the first say: what others have spreads only over
// axes that it leaves free.
void hold_back(const Projection& projection, std::vector<Direction>& directions) {
    std::vector<AxisRef> taken;
    for (const FactorSharding& part : projection.operands[0].factors)
        taken.insert(taken.end(), part.axes.begin(), part.axes.end());
    for (size_t f = 0; f < directions.size(); ++f) {
        const int factor = static_cast<int>(f);
        if (projection.operands[0].find(factor)) continue;
        for (size_t t = 0; t < projection.count(); ++t)
            if (const FactorSharding* part = projection.tensor(t).find(factor))
                for (const AxisRef& axis : part->axes)
                    if (overlaps_any(axis, taken)) directions[f] = Direction::none;
    }
}

// Rows that share a dim with the trips of a loop, one of which is taken: to others a slice at an index of the loop, through
// which nothing spreads along the dim.
void hold_back_shared_dims(const IndexRule& rule, std::vector<Direction>& directions) {
    for (const TensorFactors& operand : rule.operands)
        for (const DimFactors& dim : operand)
            for (int factor : dim)
                if (dim.size() > 1 && rule.factors[static_cast<size_t>(factor)].kind == FactorKind::need_replication)
                    for (int other : dim) directions[static_cast<size_t>(other)] = Direction::none;
}

} // namespace

size_t PropagationSteps::KeyHash::operator()(const std::vector<int>& key) const {
    size_t hash = 1469598103934665603u;
    for (int word : key) hash = (hash ^ static_cast<size_t>(word)) * 1099511628211u;
    return hash;
}

const StepOutcome& PropagationSteps::outcome(const PropagationLink& link, int priority, std::span<const int> current) {
    key_.assign({link.rule, priority, static_cast<int>(link.traits.op_class), link.traits.shared_operand ? 1 : 0});
    for (int slot : link.operands) key_.push_back(current[slot]);
    for (int slot : link.results) key_.push_back(current[slot]);
    const auto [it, is_new] = outcomes_.try_emplace(key_);
    if (is_new) it->second = work_out(link, priority, current);
    return it->second;
}

StepOutcome PropagationSteps::work_out(const PropagationLink& link, int priority, std::span<const int> current) {
    const IndexRule& rule = rules_.rule(link.rule);
    std::vector<Direction> directions;
    for (const Factor& factor : rule.factors) directions.push_back(direction_at(priority, link.traits, factor));
    if (std::all_of(directions.begin(), directions.end(), [](Direction d) { return d == Direction::none; })) return {};

    const auto gather = [&](const std::vector<int>& slots) {
        std::vector<Sharding> shardings;
        for (int slot : slots) shardings.push_back(table_.at(current[slot]));
        return shardings;
    };
    const std::vector<Sharding> operands = gather(link.operands), results = gather(link.results);
    const Projection before = project(rule, operands, results);
    Projection after = before;
    const bool pointwise = link.traits.op_class == OpDef::Class::pointwise;
    if (options_.products_apart) hold_back_shared_dims(rule, directions);
    if (options_.products_apart && link.traits.op_class == OpDef::Class::contraction && link.operands.size() > 2)
        hold_back(before, directions);
    const bool changed = options_.strategy == PropagateOptions::Strategy::basic
                             ? propagate_basic(after, rule, directions)
                             : propagate_aggressive(after, rule, directions, pointwise);
    if (!changed) return {};

    StepOutcome outcome;
    for (size_t t = 0; t < after.count(); ++t) {
        if (after.tensor(t) == before.tensor(t)) continue;
        const bool is_operand = t < operands.size();
        const size_t index = is_operand ? t : t - operands.size();
        const Sharding& old = is_operand ? operands[index] : results[index];
        const TensorFactors& dims = is_operand ? rule.operands[index] : rule.results[index];
        const Sharding updated = unproject(rule, dims, after.tensor(t), old.reduce);
        if (updated == old) continue; // a gain of a minor factor behind one that is not full
        StepChange change = {static_cast<int>(t), table_.intern(updated), {}};
        for (size_t d = 0; d < updated.dims.size(); ++d) {
            // Axes of one dim may come from several tensors.
            for (const AxisRef& axis : gained_axes(old.dims[d].axes, updated.dims[d].axes)) {
                const int source = find_source(before, dims[d], axis);
                const int dim = static_cast<int>(d);
                if (change.gains.empty() || change.gains.back().dim != dim || change.gains.back().source != source)
                    change.gains.push_back({dim, {}, source});
                change.gains.back().axes.push_back(axis);
            }
        }
        outcome.push_back(std::move(change));
    }
    return outcome;
}

} // namespace shard
