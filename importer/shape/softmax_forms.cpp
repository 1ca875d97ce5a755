#include "importer/shape/softmax_forms.h"

#include <fmt/format.h>

namespace shard {

namespace {

// x - max(x, dims)
std::optional<Taking::Reduced> shifted(Taking& taking, DraftId value) {
    const DraftEntry* const difference = taking.made_by(value, "sub");
    if (difference == nullptr) return std::nullopt;
    const std::optional<Taking::Reduced> largest = taking.reduced(difference->operands[1], "reduce_max");
    return largest && largest->of == difference->operands[0] ? largest : std::nullopt;
}

// sum(exp(value), dims), whatever the value.
std::optional<std::pair<DraftId, Taking::Reduced>> sum_of_exp(Taking& taking, DraftId value) {
    const std::optional<Taking::Reduced> sum = taking.reduced(value, "reduce_sum");
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
