#include "planner/partition/xla_ways.h"

#include "planner/partition/compute_halo.h"
#include "planner/propagate/projection.h"

#include <algorithm>

namespace shard {

namespace {

using AxisList = std::vector<AxisRef>;

class Chooser {
public:
    Chooser(const ComputeQuery& query, const IndexRule& rule)
        : query_(query), rule_(rule), axes_(rule.factors.size()), result_(project_result()) {
        for (size_t i = 0; i < rule.operands.size(); ++i)
            operands_.push_back(project(rule, rule.operands[i], query.operand_kept[i]));
    }

    std::vector<std::vector<AxisList>> choose() {
        std::vector<size_t> summed;
        for (size_t f = 0; f < rule_.factors.size(); ++f)
            if (rule_.factors[f].kind == FactorKind::reduction) summed.push_back(f);
        std::vector<std::vector<AxisList>> ways;
        if (summed.empty()) {
            take_result();
            if (query_.op->reshapes) {
                ways.push_back(axes_);
                for (AxisList& axes : axes_) axes.clear();
                take_operand(0);
            }
        } else if (takes_windows()) {
            take_result();
        } else if (const std::optional<size_t> only = only_operand()) {
            take_operand(*only);
        } else if (query_.op->op_class == OpDef::Class::contraction) {
            if (operands_.size() == 2) {
                take_contraction(summed);
            } else { // attention: its scores are split as the queries are
                take_operand(0);
                take_result();
            }
        } else if (query_.op->op_class == OpDef::Class::other && operands_.size() >= 2) {
            take_masked(summed);
        } else {
            return {};
        }
        ways.push_back(std::move(axes_));
        return ways;
    }

private:
    TensorProjection project_result() const { return project(rule_, rule_.results[0], query_.results_kept[0]); }

    // Of a window or an entry of a stack the dim is gathered.
    bool takes_windows() const {
        return query_.op->windows != OpDef::Windows::none || query_.op->of_stack == OpDef::OfStack::takes_entry;
    }

    // A gather from a table whose rows are split: each device gives what it has and zeros for the rest, and they are
    // added up; but not where the result wants the axes. What is scattered is scattered by each device and added up.
    void take_masked(const std::vector<size_t>& summed) {
        for (size_t f : summed)
            for (size_t i = 0; i < operands_.size(); ++i)
                for (const AxisRef& axis : axes_on(operands_[i], f))
                    if (i > 0 || !overlaps_any(axis, used_axes(query_.results_kept[0]))) give(f, {axis});
        take_result();
    }

    // The only operand with dims, if there is one.
    std::optional<size_t> only_operand() const {
        std::optional<size_t> only;
        for (size_t i = 0; i < rule_.operands.size(); ++i) {
            if (rule_.operands[i].empty()) continue;
            if (only) return std::nullopt;
            only = i;
        }
        return only;
    }

    static AxisList axes_on(const TensorProjection& tensor, size_t factor) {
        const FactorSharding* found = tensor.find(static_cast<int>(factor));
        return found == nullptr ? AxisList{} : found->axes;
    }
    static bool has(const TensorProjection& tensor, size_t factor) {
        return tensor.find(static_cast<int>(factor)) != nullptr;
    }

    bool is_free(const AxisRef& axis) const {
        return std::none_of(axes_.begin(), axes_.end(), [&](const AxisList& used) { return overlaps_any(axis, used); });
    }

    // The longest run of axes from the first on that no other factor has and that the factor can be split over.
    void give(size_t factor, const AxisList& wanted) {
        const Factor& of = rule_.factors[factor];
        if (of.blocked || of.kind == FactorKind::need_replication) return;
        for (const AxisRef& axis : wanted) {
            AxisList longer = axes_[factor];
            longer.push_back(axis);
            if (!is_free(axis) || !can_split(rule_, query_, factor, longer)) return;
            axes_[factor] = std::move(longer);
        }
    }

    // What is not decided yet.
    void take_result() {
        for (const FactorSharding& part : result_.factors)
            if (axes_[part.factor].empty()) give(static_cast<size_t>(part.factor), part.axes);
    }

    void take_operand(size_t operand) {
        for (const FactorSharding& part : operands_[operand].factors) give(static_cast<size_t>(part.factor), part.axes);
    }

    static AxisList agreed(const AxisList& a, const AxisList& b) {
        return {a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first};
    }

    void take_contraction(const std::vector<size_t>& summed) {
        const TensorProjection &left = operands_[0], &right = operands_[1];
        for (size_t f : summed) give(f, agreed(axes_on(left, f), axes_on(right, f)));
        for (const bool with_result : {true, false}) // batch dims: as two of the three have them
            for (size_t f = 0; f < axes_.size(); ++f)
                if (axes_[f].empty() && has(left, f) && has(right, f) && has(result_, f)) {
                    const AxisList &l = axes_on(left, f), &r = axes_on(right, f), &z = axes_on(result_, f);
                    AxisList wanted = agreed(l, r);
                    for (const AxisList& two : {agreed(l, z), agreed(r, z)})
                        if (two.size() > wanted.size()) wanted = two;
                    give(f, with_result ? wanted : z);
                }
        for (const TensorProjection* operand : {&left, &right}) // free dims that need no step
            for (const FactorSharding& part : operand->factors)
                if (is_free_dim(part.factor)) give(part.factor, agreed(part.axes, axes_on(result_, part.factor)));
        for (const FactorSharding& part : result_.factors) {
            AxisList rest(part.axes.begin() +
                              static_cast<std::ptrdiff_t>(std::min(axes_[part.factor].size(), part.axes.size())),
                          part.axes.end());
            give(part.factor, rest);
        }
        take_larger_half(summed);
    }

    bool is_free_dim(int factor) const {
        return has(result_, factor) && has(operands_[0], factor) != has(operands_[1], factor);
    }

    // Summed axes of one operand alone: the other is cut along them if the one has more elements than the result, which
    // is then reduced; else the one is gathered.
    void take_larger_half(const std::vector<size_t>& summed) {
        for (size_t f : summed) {
            if (!axes_[f].empty()) continue;
            for (size_t i : {size_t{0}, size_t{1}}) {
                const AxisList axes = axes_on(operands_[i], f);
                if (axes.empty() || !axes_on(operands_[1 - i], f).empty()) continue;
                if (query_.operand_types[i].elements() > query_.result_types[0].elements()) give(f, axes);
            }
        }
    }

    const ComputeQuery& query_;
    const IndexRule& rule_;
    std::vector<AxisList> axes_; // by factor
    TensorProjection result_;
    std::vector<TensorProjection> operands_;
};

} // namespace

std::vector<std::vector<AxisList>> factor_axes_as_xla(const ComputeQuery& query, const IndexRule& rule) {
    return Chooser(query, rule).choose();
}

std::vector<Sharding> xla_sum_stages(const OpDef* op, const Sharding& pending) {
    std::vector<Sharding> stages;
    if (op == nullptr || (op->op_class == OpDef::Class::contraction && op->overlaps == nullptr)) return stages;
    Sharding at = pending;
    while (!at.partial.empty()) {
        if (op->overlaps == nullptr)
            at.partial.clear();
        else
            at.partial.pop_back();
        if (at.partial.empty()) at.reduce = ReduceOp::sum;
        stages.push_back(at);
    }
    return stages;
}

std::optional<Sharding> xla_way_stop(const ComputeQuery& query, const IndexRule& rule, const ComputeSharding& choice,
                                     size_t operand) {
    if (operand == 0 || query.op->op_class != OpDef::Class::other || rule.operands.size() != 2) return std::nullopt;
    AxisList summed;
    for (size_t f = 0; f < rule.factors.size(); ++f)
        if (rule.factors[f].kind == FactorKind::reduction)
            summed.insert(summed.end(), choice.factor_axes[f].begin(), choice.factor_axes[f].end());
    Sharding stop = query.operand_kept[operand];
    if (summed.size() != 1 || used_axes(stop).empty() || !used_axes(choice.operands[operand]).empty())
        return std::nullopt;
    const i64 blocks = total_size(used_axes(stop));
    if (summed[0].size % blocks != 0) return std::nullopt;
    AxisRef rows{summed[0].axis, summed[0].pre, 1};
    for (DimSharding& dim : stop.dims) {
        const i64 here = shard_count(dim);
        dim.axes.clear();
        if (here > 1) dim.axes = {AxisRef{rows.axis, rows.pre, here}};
        rows.pre *= here;
    }
    return stop;
}

} // namespace shard
