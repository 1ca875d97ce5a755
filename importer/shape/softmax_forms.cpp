#include "importer/shape/softmax_forms.h"

#include "importer/model/arguments.h"
#include "importer/shape/factored_dims.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// moved(y) - moved(max(y, dims)), as vmap leaves it: each transposed by itself.
std::optional<Taking::Reduced> shifted_apart(Taking& taking, const DraftEntry& difference) {
    const Draft& draft = taking.draft();
    const DraftId x = difference.operands[0];
    FactoredDims factors;
    const FactorDims dims = factors.fresh(draft.type(x).shape);
    std::vector<std::pair<DraftId, FactorDims>> sources = {{x, dims}};
    while (const DraftEntry* const entry = draft.entry_of(sources.back().first)) {
        std::optional<FactorDims> above = factors.above(draft, *entry, sources.back().second);
        if (!above) break;
        sources.emplace_back(entry->operands[0], std::move(*above));
    }
    DraftId largest = difference.operands[1];
    FactorDims kept = factors.aligned(draft.type(largest).shape, draft.type(x).shape, dims);
    const DraftEntry* entry = taking.made(largest);
    while (entry != nullptr && entry->op != "reduce_max") {
        std::optional<FactorDims> above = factors.above(draft, *entry, kept);
        if (!above) return std::nullopt;
        kept = std::move(*above);
        entry = taking.made(entry->operands[0]);
    }
    if (entry == nullptr) return std::nullopt;
    for (const auto& [value, own] : sources) {
        if (value != entry->operands[0]) continue;
        FactorDims rest = own, gone;
        const std::vector<i64> reduced = listed(entry->arguments, "dims");
        for (const i64 dim : reduced)
            if (dim >= 0 && dim < std::ssize(own)) std::swap(gone.emplace_back(), rest[static_cast<size_t>(dim)]);
        const Factors along = factors.all(gone);
        if (along.empty() || factors.all(rest) != factors.all(kept)) return std::nullopt;
        Taking::Reduced found{x, {}};
        Factors seen;
        for (size_t d = 0; d < dims.size(); ++d) {
            const Factors parts = factors.parts(dims[d]);
            if (parts.empty() || std::find(along.begin(), along.end(), parts[0]) == along.end()) continue;
            found.dims.push_back(static_cast<i64>(d));
            seen.insert(seen.end(), parts.begin(), parts.end());
        }
        return seen == along ? std::optional<Taking::Reduced>(std::move(found)) : std::nullopt;
    }
    return std::nullopt;
}

// x - max(x, dims)
std::optional<Taking::Reduced> shifted(Taking& taking, DraftId value) {
    const DraftEntry* const difference = taking.made_by(value, "sub");
    if (difference == nullptr) return std::nullopt;
    const size_t mark = taking.mark();
    const std::optional<Taking::Reduced> largest = taking.reduced(difference->operands[1], "reduce_max");
    if (largest && largest->of == difference->operands[0]) return largest;
    taking.back_to(mark);
    return shifted_apart(taking, *difference);
}

// sum(exp(value), dims), whatever the value.
std::optional<std::pair<DraftId, Taking::Reduced>> sum_of_exp(Taking& taking, DraftId value) {
    const std::optional<Taking::Reduced> sum = taking.sum(value);
    const DraftEntry* const exp = sum ? taking.made_by(sum->of, "exp") : nullptr;
    if (exp == nullptr) return std::nullopt;
    return std::pair(exp->operands[0], *sum);
}

std::optional<Composite> softmax(Taking& taking, const DraftEntry& root) {
    const auto sum = sum_of_exp(taking, root.operands[1]);
    if (!sum || sum->second.of != root.operands[0]) return std::nullopt;
    const std::optional<Taking::Reduced> x = shifted(taking, sum->first);
    if (!x || x->dims != sum->second.dims) return std::nullopt;
    return Composite{"softmax", {x->of}, fmt::format(", dim: {}", dims_text(x->dims))};
}

std::optional<Composite> log_softmax(Taking& taking, const DraftEntry& root) {
    const DraftEntry* log = taking.made_by(root.operands[1], "log");
    if (log == nullptr) { // the logarithm is taken before the dims are repeated
        const DraftEntry* const reshape = taking.made_by(root.operands[1], "reshape");
        log = reshape == nullptr ? nullptr : taking.made_by(reshape->operands[0], "log");
    }
    if (log == nullptr) return std::nullopt;
    const auto sum = sum_of_exp(taking, log->operands[0]);
    if (!sum || sum->first != root.operands[0] || !taking.broadcasts_against(root.operands[1], sum->second))
        return std::nullopt;
    const std::optional<Taking::Reduced> x = shifted(taking, sum->first);
    if (!x || x->dims != sum->second.dims) return std::nullopt;
    return Composite{"log_softmax", {x->of}, fmt::format(", dim: {}", dims_text(x->dims))};
}

// log(sum(exp(x - m))) + m, where m is the largest, or 0 if that is infinite.
std::optional<Composite> logsumexp(Taking& taking, const DraftEntry& root) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const size_t mark = taking.mark();
        const DraftId shift = root.operands[1 - i];
        const auto attempt = [&]() -> std::optional<Composite> {
            const DraftEntry* const log = taking.made_by(root.operands[i], "log");
            if (log == nullptr) return std::nullopt;
            DraftId sum_value = log->operands[0];
            if (const DraftEntry* const abs = taking.made_by(sum_value, "abs")) sum_value = abs->operands[0];
            const DraftEntry* const reduce = taking.made_by(sum_value, "reduce_sum");
            const DraftEntry* const exp = reduce == nullptr ? nullptr : taking.made_by(reduce->operands[0], "exp");
            const DraftEntry* const difference = exp == nullptr ? nullptr : taking.made_by(exp->operands[0], "sub");
            if (difference == nullptr) return std::nullopt;
            DraftId low = difference->operands[1];
            if (low != shift) {
                const DraftEntry* const reshape = taking.made_by(low, "reshape");
                if (reshape == nullptr || reshape->operands[0] != shift) return std::nullopt;
            }
            const DraftEntry* const chosen = taking.made_by(shift, "select");
            if (chosen == nullptr || !taking.is_number(chosen->operands[2], 0)) return std::nullopt;
            const DraftEntry* const finite = taking.made_by(chosen->operands[0], "is_finite");
            if (finite == nullptr || finite->operands[0] != chosen->operands[1]) return std::nullopt;
            const std::optional<Taking::Reduced> largest = taking.reduced(finite->operands[0], "reduce_max");
            if (!largest) {
                // Without the dims it does not broadcast; what the difference takes does.
                const DraftEntry* const max = taking.made_by(finite->operands[0], "reduce_max");
                if (max == nullptr || max->operands[0] != difference->operands[0] ||
                    max->arguments != reduce->arguments)
                    return std::nullopt;
                return Composite{"logsumexp", {max->operands[0]}, max->arguments};
            }
            const DraftEntry* const max = taking.draft().entry_of(finite->operands[0]);
            if (largest->of != difference->operands[0] || max == nullptr || max->op != "reduce_max" ||
                max->arguments != reduce->arguments)
                return std::nullopt;
            return Composite{"logsumexp", {largest->of}, max->arguments};
        };
        if (std::optional<Composite> found = attempt()) return found;
        taking.back_to(mark);
    }
    return std::nullopt;
}

} // namespace

std::vector<CompositeForm> softmax_forms() { return {{"div", softmax}, {"sub", log_softmax}, {"add", logsumexp}}; }

} // namespace shard
