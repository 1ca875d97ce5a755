#include "planner/partition/compute_sharding.h"

#include "planner/graph/first_places.h"
#include "planner/graph/memo_key.h"
#include "planner/partition/compute_halo.h"
#include "planner/partition/split_sums.h"
#include "planner/partition/xla_ways.h"
#include "planner/propagate/projection.h"
#include "plans/base/index_of.h"
#include "plans/kernel/kernel_cost.h"
#include "plans/kernel/kernel_in_place.h"

#include <algorithm>
#include <bit>

namespace shard {

namespace {

using AxisList = std::vector<AxisRef>;

constexpr size_t most_combinations = 4096;
// Ways that are priced where operands and results are split over few axes, and over very many: every way is priced by
// searches that grow with the axes that move.
constexpr size_t most_ways = 4096, fewest_ways = 16, few_axes = 5;

std::vector<TensorType> local_types(std::vector<TensorType> types, std::span<const Sharding> shardings) {
    for (size_t i = 0; i < types.size(); ++i) types[i].shape = local_shape(types[i].shape, shardings[i]);
    return types;
}

bool may_split(const Factor& factor) { return !factor.blocked && factor.kind != FactorKind::need_replication; }

// Per factor: no axes, then every prefix of what a tensor puts on it, in the order operands, results.
std::vector<std::vector<AxisList>> candidates_of(const IndexRule& rule, const ComputeQuery& query) {
    std::vector<std::vector<AxisList>> candidates(rule.factors.size(), {AxisList{}});
    auto add = [&](const TensorFactors& dims, const Sharding& sharding) {
        TensorProjection projection = project(rule, dims, sharding);
        for (const FactorSharding& part : projection.factors) {
            const Factor& factor = rule.factors[part.factor];
            if (!may_split(factor)) continue;
            std::vector<AxisList>& list = candidates[part.factor];
            for (size_t count = 1; count <= part.axes.size(); ++count) {
                AxisList prefix(part.axes.begin(), part.axes.begin() + static_cast<std::ptrdiff_t>(count));
                if (!can_split(rule, query, static_cast<size_t>(part.factor), prefix)) break;
                if (std::find(list.begin(), list.end(), prefix) == list.end()) list.push_back(std::move(prefix));
            }
        }
    };
    for (size_t i = 0; i < rule.operands.size(); ++i) {
        for (const OperandForm& form : query.operands[i].forms) add(rule.operands[i], form.sharding);
        add(rule.operands[i], query.operand_kept[i]);
    }
    for (size_t i = 0; i < rule.results.size(); ++i) add(rule.results[i], query.results_kept[i]);
    return candidates;
}

bool any_overlap(std::span<const AxisRef> a, std::span<const AxisRef> b) {
    return std::any_of(a.begin(), a.end(), [&](const AxisRef& ref) { return overlaps_any(ref, b); });
}

// In a dim of several factors only the last split one may be split in part: otherwise blocks would be strided.
bool is_plain(const IndexRule& rule, const TensorFactors& dims, const std::vector<AxisList>& factor_axes) {
    for (const DimFactors& factors : dims) {
        bool partly = false;
        for (int f : factors) {
            i64 parts = total_size(factor_axes[f]);
            if (parts > 1 && partly) return false;
            partly = partly || parts < rule.factors[f].size;
        }
    }
    return true;
}

Sharding sharding_over(const TensorFactors& dims, const std::vector<AxisList>& factor_axes) {
    Sharding sharding;
    for (const DimFactors& factors : dims) {
        DimSharding& dim = sharding.dims.emplace_back();
        for (int f : factors) {
            for (const AxisRef& ref : factor_axes[f]) append_axis(dim.axes, ref);
        }
    }
    return sharding;
}

AxisList all_axes(const std::vector<AxisList>& factor_axes) {
    AxisList all;
    for (const AxisList& axes : factor_axes) all.insert(all.end(), axes.begin(), axes.end());
    return all;
}

class Chooser {
public:
    Chooser(Redistributor& redistributor, const ComputeQuery& query, const IndexRule& rule,
            std::vector<ComputeSharding>* all = nullptr)
        : redistributor_(redistributor), query_(query), rule_(rule), all_(all), candidates_(candidates_of(rule, query)),
          factor_axes_(rule.factors.size()), first_places_(first_places(query.operand_values)),
          most_ways_(ways_for(query)), results_kept_(query.results_kept), wish_(results_kept_[0].partial) {
        if (query.sums_where_split) keep_split_sums(rule, query, candidates_);
        for (size_t f = 0; f < rule_.factors.size(); ++f) {
            if (rule_.factors[f].kind == FactorKind::reduction) reductions_.push_back(f);
        }
    }

    ComputeSharding choose() {
        if (redistributor_.is_as_xla() && all_ == nullptr) choose_as_xla();
        if (best_) return std::move(*best_);
        limit_candidates();
        combine(0);
        if (!best_ && !wish_.empty()) {
            wish_.clear();
            for (Sharding& kept : results_kept_) kept.partial.clear();
            combine(0);
        }
        internal_check(best_.has_value(), "an op can be computed on whole operands");
        return std::move(*best_);
    }

private:
    // XLA reduces every sum where it is made; the adds of two such sums then become one reduction behind the add, which
    // its all-reduce reassociation does.
    void choose_as_xla() {
        const std::vector<OperandChoice>& operands = query_.operands;
        const auto is_like_first = [&](const OperandChoice& operand) {
            return operand.pending && operands[0].pending && same_layout(*operand.pending, *operands[0].pending);
        };
        if (query_.op->jointly_linear && operands.size() > 1 && operands[0].pending &&
            operands[0].pending->reduce == ReduceOp::sum &&
            std::all_of(operands.begin(), operands.end(), is_like_first)) {
            const TensorProjection made = project(rule_, rule_.operands[0], *operands[0].pending);
            for (const FactorSharding& part : made.factors) factor_axes_[static_cast<size_t>(part.factor)] = part.axes;
            consider_if_plain(std::vector<bool>(operands.size(), true));
            if (best_) return;
        }
        for (const std::vector<AxisList>& axes : factor_axes_as_xla(query_, rule_)) {
            factor_axes_ = axes;
            if (!best_) consider_if_plain(std::vector<bool>(operands.size(), false));
        }
        for (AxisList& list : factor_axes_) list.clear();
    }

    void consider_if_plain(const std::vector<bool>& pass) {
        if (all_are_plain()) consider(pass);
    }

    bool all_are_plain() const {
        const auto plain = [&](const TensorFactors& dims) { return is_plain(rule_, dims, factor_axes_); };
        return std::all_of(rule_.operands.begin(), rule_.operands.end(), plain) &&
               std::all_of(rule_.results.begin(), rule_.results.end(), plain);
    }

    // An op with very many factors on very many axes keeps the candidates of the largest tensors only.
    void limit_candidates() {
        size_t combinations = 1;
        for (std::vector<AxisList>& list : candidates_) {
            while (list.size() > 2 && combinations * list.size() > most_combinations) list.pop_back();
            combinations *= list.size();
        }
    }

    static size_t ways_for(const ComputeQuery& query) {
        size_t axes = 0;
        for (const OperandChoice& operand : query.operands) {
            size_t most = 0;
            for (const OperandForm& form : operand.forms) most = std::max(most, used_axes(form.sharding).size());
            axes += most;
        }
        for (const Sharding& kept : query.results_kept) axes += used_axes(kept).size();
        return std::max(fewest_ways, axes <= few_axes ? most_ways : most_ways >> std::min<size_t>(axes - few_axes, 12));
    }

    void combine(size_t factor) {
        if (best_ && ways_ >= most_ways_) return;
        if (factor == rule_.factors.size()) return consider_passes();
        // The most axes first: such ways are often good, and a good way found early rules others out before they are
        // searched.
        for (size_t i = candidates_[factor].size(); i-- > 0;) {
            const AxisList& axes = candidates_[factor][i];
            if (any_overlap(axes, all_axes(factor_axes_))) continue;
            factor_axes_[factor] = axes;
            combine(factor + 1);
            factor_axes_[factor].clear();
        }
    }

    // With every choice of partial sums to let through; through comes first, so that on equal cost a sum is reduced
    // later.
    void consider_passes() {
        if (!all_are_plain()) return;
        const size_t count = query_.operands.size();
        const AxisList used = all_axes(factor_axes_);
        auto passes = [&](size_t i) {
            const std::optional<Sharding>& pending = query_.operands[i].pending;
            return pending && pending->reduce == ReduceOp::sum && !any_overlap(pending->partial, used);
        };
        if (redistributor_.is_as_xla()) return consider(std::vector<bool>(count, false));
        bool together = query_.op->jointly_linear && count > 0;
        for (size_t i = 0; together && i < count; ++i) {
            together = passes(i) && query_.operands[i].pending->partial == query_.operands[0].pending->partial;
        }
        if (together) consider(std::vector<bool>(count, true));
        for (int i : linear_operands(*query_.op, query_.operand_types, query_.result_types)) {
            if (i < 0 || static_cast<size_t>(i) >= count || !passes(i)) continue;
            if (std::count(query_.operand_values.begin(), query_.operand_values.end(), query_.operand_values[i]) > 1) {
                continue; // the same partial sum in two places is not linear
            }
            std::vector<bool> pass(count, false);
            pass[i] = true;
            consider(pass);
            together = together || (query_.sums_where_split && !is_scattered_at_once(query_, i));
        }
        if (!(query_.sums_where_split && together) || !best_) consider(std::vector<bool>(count, false));
    }

    void consider(const std::vector<bool>& pass) {
        ++ways_;
        ComputeSharding choice;
        choice.factor_axes = factor_axes_;
        AxisList partial;
        for (size_t f : reductions_) partial.insert(partial.end(), factor_axes_[f].begin(), factor_axes_[f].end());
        if (!partial.empty() && rule_.reduce != ReduceOp::sum && std::count(pass.begin(), pass.end(), true) > 0) return;
        ReduceOp reduce = partial.empty() ? ReduceOp::sum : rule_.reduce;
        for (size_t i = 0; i < query_.operands.size(); ++i) {
            Sharding required = sharding_over(rule_.operands[i], factor_axes_);
            for (size_t d = 0; d < required.dims.size(); ++d) // along a permutation sizes differ
                if (query_.operand_types[i].shape[d] % shard_count(required.dims[d]) != 0) required.dims[d] = {};
            if (pass[i]) {
                required.partial = query_.operands[i].pending->partial;
                required.reduce = ReduceOp::sum;
                if (i == first_of(pass))
                    partial.insert(partial.end(), required.partial.begin(), required.partial.end());
            }
            choice.operands.push_back(std::move(required));
        }
        std::sort(partial.begin(), partial.end());
        for (const TensorFactors& dims : rule_.results) {
            Sharding made = sharding_over(dims, factor_axes_);
            for (const AxisRef& ref : partial) append_axis(made.partial, ref);
            made.reduce = reduce;
            choice.results.push_back(std::move(made));
        }
        if (!wish_.empty() && choice.results[0].partial != wish_) return;
        if (!price_operands(choice, pass)) return;
        for (size_t i = 0; i < choice.results.size(); ++i)
            choice.cost.add(redistributor_.find(query_.result_types[i], choice.results[i], results_kept_[i]));
        if (cannot_win(choice)) return; // the kernel can only add
        if (!price_kernel(choice)) return;
        if (all_ != nullptr) all_->push_back(choice);
        if (!best_ || cheaper(choice.cost, best_->cost, redistributor_.prefer())) best_ = std::move(choice);
    }

    static size_t first_of(const std::vector<bool>& pass) { return index_of(pass, true); }

    bool cannot_win(const ComputeSharding& choice) const {
        if (redistributor_.prefer() == Prefer::bytes)
            return all_ == nullptr && best_ && choice.cost.wire_bytes > best_->cost.wire_bytes;
        return redistributor_.prefer() == Prefer::time && all_ == nullptr && best_ &&
               choice.cost.seconds > best_->cost.seconds * (1 + 1e-6);
    }

    // False as soon as the operands alone cost too much.
    bool price_operands(ComputeSharding& choice, const std::vector<bool>& pass) {
        for (size_t i = 0; i < query_.operands.size(); ++i) {
            bool seen = false;
            for (size_t j = first_places_[i]; j < i && !seen; ++j) {
                seen = query_.operand_values[j] == query_.operand_values[i] &&
                       same_layout(choice.operands[j], choice.operands[i]);
            }
            if (seen) continue;
            if (pass[i]) {
                choice.cost.add(
                    redistributor_.find(query_.operand_types[i], *query_.operands[i].pending, choice.operands[i]));
            } else if (!query_.operands[i].forms.empty()) {
                choice.cost.add(
                    cheapest_form(redistributor_, query_.operand_types[i], query_.operands[i].forms, choice.operands[i])
                        .cost);
            }
            if (cannot_win(choice)) return false;
        }
        return true;
    }

    // False if there is no kernel for these blocks.
    bool price_kernel(ComputeSharding& choice) {
        std::vector<TensorType> operands = local_types(query_.operand_types, choice.operands);
        const std::vector<TensorType> results = local_types(query_.result_types, choice.results);
        const size_t moves = query_.op->overlaps ? 0 : split_permutations(rule_, choice.factor_axes).size();
        if (moves > 1) return false;
        if (!price_overlaps(choice, operands)) return false;
        if (moves == 0) {
            choice.kernel = query_.op->lower(LowerContext{query_.operand_types, query_.result_types, operands, results,
                                                          *query_.attributes, rule_, choice.factor_axes});
        } else {
            const std::optional<Halo> sent = halo_of(query_, rule_, choice);
            if (!sent) return false;
            choice.kernel = sent->assemble;
            for (const Halo::Message& message : sent->messages) {
                choice.cost.add(message_cost(message, operands[message.operand]));
                operands.push_back(message.type);
            }
        }
        choice.cost.add(kernel_cost(choice.kernel, operands, results[0]));
        return true;
    }

    // What devices send each other before an op with windows, which then reads blocks of other types.
    bool price_overlaps(ComputeSharding& choice, std::vector<TensorType>& operands) {
        const std::optional<std::vector<OverlapStage>> stages = overlap_stages(query_, rule_, choice);
        if (!stages) return false;
        for (const OverlapStage& stage : *stages) {
            std::vector<TensorType> parts = {operands[stage.operand]};
            for (const Halo::Message& message : stage.halo.messages) {
                choice.cost.add(message_cost(message, parts[0]));
                parts.push_back(message.type);
            }
            choice.cost.add(kernel_cost(stage.halo.assemble, parts, stage.type));
            operands[stage.operand] = stage.type;
        }
        return true;
    }

    PlanCost message_cost(const Halo::Message& message, const TensorType& operand) const {
        PlanCost cost;
        if (message.cut) cost.add(kernel_cost(*message.cut, std::span(&operand, 1), message.type));
        if (!message.exchange) return cost;
        const Collective& exchange = *message.exchange;
        const i64 bytes = message.type.bytes();
        cost.seconds += exchange.def->seconds(exchange, redistributor_.mesh(), redistributor_.hardware(), bytes);
        cost.wire_bytes += exchange.def->wire_bytes_total(exchange, redistributor_.mesh(), bytes);
        cost.collectives = 1;
        return cost;
    }

    PlanCost kernel_cost(const Kernel& kernel, std::span<const TensorType> operands, const TensorType& result) const {
        int in_place = -1; // memory is laid out later: a move is taken to be where it can be
        for (size_t i = operands.size(); i-- > 0;)
            if (can_run_in_place(kernel, i, operands[i], result)) in_place = static_cast<int>(i);
        PlanCost cost;
        cost.flops = flops(kernel, operands, result);
        cost.local_bytes = kernel_bytes(kernel, operands, result, in_place);
        cost.seconds =
            kernel_seconds(redistributor_.hardware(), kernel, operands, result, cost.flops, cost.local_bytes);
        return cost;
    }

    Redistributor& redistributor_;
    const ComputeQuery& query_;
    const IndexRule& rule_;
    std::vector<ComputeSharding>* all_; // where every way goes, if anybody asks
    std::vector<std::vector<AxisList>> candidates_;
    std::vector<AxisList> factor_axes_;
    std::vector<size_t> first_places_; // of the operands' values
    std::vector<size_t> reductions_;
    size_t ways_ = 0, most_ways_;
    std::vector<Sharding> results_kept_;
    std::vector<AxisRef> wish_; // over which the result is to be left partial
    std::optional<ComputeSharding> best_;
};

} // namespace

FormChoice cheapest_form(Redistributor& redistributor, const TensorType& type, std::span<const OperandForm> forms,
                         const Sharding& to) {
    std::optional<FormChoice> best;
    for (size_t i = 0; i < forms.size(); ++i) {
        FormChoice choice{i, forms[i].base};
        choice.cost.add(redistributor.find(type, forms[i].sharding, to));
        if (!best || cheaper(choice.cost, best->cost, redistributor.prefer())) best = choice;
    }
    internal_check(best.has_value(), "an operand has a form");
    return *best;
}

ComputeSharding choose_compute_sharding(Redistributor& redistributor, const ComputeQuery& query,
                                        const IndexRule& rule) {
    return Chooser(redistributor, query, rule).choose();
}

Attributes local_attributes(const ComputeQuery& query, const IndexRule& rule, const ComputeSharding& choice) {
    const std::vector<TensorType> operands = overlapped_types(query, rule, choice),
                                  results = local_types(query.result_types, choice.results);
    return local_attributes(*query.op, {query.operand_types, query.result_types, operands, results, *query.attributes,
                                        rule, choice.factor_axes});
}

std::vector<ComputeSharding> all_compute_shardings(Redistributor& redistributor, const ComputeQuery& query,
                                                   const IndexRule& rule) {
    std::vector<ComputeSharding> all;
    Chooser(redistributor, query, rule, &all).choose();
    const Prefer prefer = redistributor.prefer();
    std::stable_sort(all.begin(), all.end(), [prefer](const ComputeSharding& a, const ComputeSharding& b) {
        return cheaper(a.cost, b.cost, prefer);
    });
    return all;
}

namespace {

void add(MemoKey& key, const PlanCost& cost) {
    key.add(std::bit_cast<i64>(cost.seconds)).add(cost.wire_bytes).add(cost.collectives);
    key.add(cost.flops).add(cost.local_bytes);
}

} // namespace

std::string memo_key(const ComputeQuery& query) {
    MemoKey key;
    key.add(query.op->name).add(*query.attributes).add(static_cast<i64>(query.sums_where_split));
    const std::vector<size_t> places = first_places(query.operand_values); // which operands are one value
    for (size_t i = 0; i < query.operands.size(); ++i) {
        key.add(query.operand_types[i]).add(query.operand_kept[i]).add(static_cast<i64>(places[i]));
        const OperandChoice& operand = query.operands[i];
        key.add(static_cast<i64>(operand.forms.size())).add(static_cast<i64>(operand.pending.has_value()));
        for (const OperandForm& form : operand.forms) add(key.add(form.sharding), form.base);
        if (operand.pending) key.add(*operand.pending);
    }
    for (size_t i = 0; i < query.result_types.size(); ++i) key.add(query.result_types[i]).add(query.results_kept[i]);
    return key.text();
}

} // namespace shard
