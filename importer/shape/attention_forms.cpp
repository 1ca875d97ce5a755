#include "importer/shape/attention_forms.h"

#include "importer/shape/attention_mask.h"
#include "importer/shape/attention_scores.h"
#include "importer/shape/step_builder.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

using Array = AttentionScores::Array;
using Term = AttentionScores::Term;

// In place of hidden scores. Where every query sees a key nothing is left of them, e^-10000; beside a bias that may hide
// too, and of queries that see none, they have to be so low that whatever is added to them changes nothing.
constexpr double low = -1e4, lowest = -1e30;

class Recognised {
public:
    explicit Recognised(Taking& taking) : taking_(taking), draft_(taking.draft()), steps_(draft_, factors_) {}

    std::optional<Composite> run(const DraftEntry& root) {
        std::optional<AttentionScores> scores = attention_scores(taking_, factors_, root);
        if (!scores) return std::nullopt;
        scores_ = std::move(*scores);
        if (!read_terms()) return std::nullopt;
        const Factors dims = factors_.all(scores_.result.dims);
        if (!give_roles(dims, true) && !give_roles(dims, false)) return std::nullopt;
        if (!take_positions()) as_bias_ = true, compared_.clear();
        if (!choose_queries()) return std::nullopt;
        const FactorDims of_values = {batch_, queries_, joined(heads_, group_), value_width_};
        std::vector<DraftId> operands = {
            steps_.moved(q_.value, q_.dims, {batch_, queries_, joined(heads_, group_), width_}),
            steps_.moved(k_.value, k_.dims, {batch_, keys_, heads_, width_}),
            steps_.moved(v_.value, v_.dims, {batch_, keys_, heads_, value_width_})};
        if (!add_pairs(operands) || !add_drop(operands)) return std::nullopt;
        const DraftId made = steps_.add("attention", operands, arguments(), {scores_.dtype, factors_.shape(of_values)});
        steps_.moved(made, of_values, scores_.result.dims);
        return std::move(steps_).composite();
    }

private:
    static Factors joined(Factors a, const Factors& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    }
    static bool has(const Factors& factors, int factor) {
        return std::find(factors.begin(), factors.end(), factor) != factors.end();
    }
    static bool are_same(Factors a, Factors b) {
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        return a == b;
    }

    // Further up, through what only moves, casts or scales, to the last value of the type that all have.
    std::optional<Array> source(Array array, bool through_broadcasts, double* scale) {
        std::optional<Array> best;
        double factor = 1;
        while (true) {
            if (draft_.type(array.value).dtype == scores_.dtype) {
                best = array;
                if (scale != nullptr) *scale *= factor;
                factor = 1;
            }
            const DraftEntry* const entry = draft_.entry_of(array.value);
            if (entry == nullptr) break;
            if (const std::optional<FactorDims> above =
                    factors_.above(draft_, *entry, array.dims, {through_broadcasts, true})) {
                array = {entry->operands[0], *above};
                continue;
            }
            const bool is_cast = entry->op == "cast" && is_floating(draft_.type(entry->operands[0]).dtype) &&
                                 byte_size(draft_.type(entry->operands[0]).dtype) <
                                     byte_size(draft_.type(array.value).dtype); // in which nothing is rounded
            if (is_cast) {
                array.value = entry->operands[0];
                continue;
            }
            if (scale == nullptr || (entry->op != "mul" && entry->op != "div")) break;
            const size_t at = taking_.number(entry->operands[1]) || entry->op == "div" ? 1 : 0;
            const std::optional<double> number = taking_.number(entry->operands[at]);
            if (!number || *number == 0 || !std::isfinite(*number)) break;
            factor *= entry->op == "div" ? 1 / *number : *number;
            array.value = entry->operands[1 - at];
        }
        return best;
    }

    // Which dims are the batch, heads of keys, and those of queries alone. A dim of the result is one of them, or heads of
    // keys and, within each, those of queries that share it.
    bool give_roles(const Factors& dims, bool through_broadcasts) {
        scale_ = scores_.scale;
        const std::optional<Array> q = source(scores_.q, false, &scale_),
                                   k = source(scores_.k, through_broadcasts, &scale_),
                                   v = source(scores_.v, through_broadcasts, nullptr);
        if (!q || !k || !v) return false;
        q_ = *q, k_ = *k, v_ = *v;
        keys_ = factors_.parts(scores_.keys);
        width_ = factors_.parts(scores_.width);
        value_width_ = factors_.parts(scores_.value_width);
        const Factors of_k = factors_.all(k_.dims);
        std::vector<Factors> shared;
        alone_.clear();
        heads_.clear();
        group_.clear();
        for (const int dim : dims) {
            const Factors parts = factors_.parts({dim});
            if (has(value_width_, parts.front())) continue;
            Factors of_keys, own;
            for (const int part : parts) (has(of_k, part) ? of_keys : own).push_back(part);
            if (own.empty()) {
                shared.push_back(of_keys);
            } else if (of_keys.empty()) {
                alone_.push_back(own);
            } else {
                if (!heads_.empty() || joined(of_keys, own) != parts) return false;
                heads_ = of_keys, group_ = own;
            }
        }
        const auto place = [&](int factor) { return std::find(of_k.begin(), of_k.end(), factor) - of_k.begin(); };
        std::sort(shared.begin(), shared.end(),
                  [&](const Factors& a, const Factors& b) { return place(a.front()) < place(b.front()); });
        // Of several the last are heads, of one only if it stands behind the keys.
        if (heads_.empty() && !shared.empty() &&
            (shared.size() > 1 || place(shared[0].front()) > place(keys_.front()))) {
            heads_ = shared.back();
            shared.pop_back();
        }
        batch_.clear();
        for (const Factors& each : shared) batch_ = joined(batch_, each);
        Factors of_queries = joined(joined(batch_, heads_), joined(group_, width_)), of_keys = joined(batch_, heads_);
        for (const Factors& each : alone_) of_queries = joined(of_queries, each);
        of_keys = joined(of_keys, keys_);
        return are_same(factors_.all(q_.dims), of_queries) && are_same(of_k, joined(of_keys, width_)) &&
               are_same(factors_.all(v_.dims), joined(of_keys, value_width_));
    }

    // Of the dims that queries have alone, those that are counted; the others are heads that share keys.
    bool choose_queries() {
        queries_.clear();
        if (alone_.size() > (group_.empty() ? 2u : 1u)) return false;
        size_t chosen = 0;
        if (alone_.size() == 2) {
            const Factors of_q = factors_.all(q_.dims);
            const auto place = [&](const Factors& dim, bool last = false) {
                return std::find(of_q.begin(), of_q.end(), last ? dim.back() : dim.front()) - of_q.begin();
            };
            const auto is_behind_heads = [&](const Factors& dim) {
                return !heads_.empty() && place(dim) == place(heads_, true) + 1;
            };
            const bool first_fits = factors_.size(alone_[0]) == factors_.size(keys_),
                       second_fits = factors_.size(alone_[1]) == factors_.size(keys_);
            chosen = place(alone_[0]) < place(alone_[1]) ? 0 : 1;
            if (first_fits != second_fits) chosen = first_fits ? 0 : 1;
            if (is_behind_heads(alone_[0]) != is_behind_heads(alone_[1])) chosen = is_behind_heads(alone_[0]) ? 1 : 0;
            if (!compared_.empty()) chosen = alone_[0] == compared_ ? 0 : 1;
            group_ = alone_[1 - chosen];
        }
        if (!alone_.empty()) queries_ = alone_[chosen];
        return compared_.empty() || queries_ == compared_;
    }

    // --- what stands between the products ---

    struct ReadTerm {
        const Term* term = nullptr;
        AttentionMask mask;
        double number = 0;     // of a mask
        bool is_mask = false;  // or a bias
        bool is_added = false; // a mask that is a bias
    };

    bool read_terms() {
        AttentionMaskReader reader(draft_, factors_, scores_.keys);
        for (std::vector<Term>::const_reverse_iterator term = scores_.terms.rbegin(); term != scores_.terms.rend();
             ++term) {
            ReadTerm read;
            read.term = &*term;
            if (term->mask.value >= 0) {
                read.mask = reader.read({term->mask.value, term->mask.dims, term->is_negated});
                read.number = *taking_.number(term->number);
                read.is_mask = true;
            } else if (std::optional<AttentionMaskReader::Added> added =
                           reader.read_added(term->bias.value, term->bias.dims)) {
                read.mask = std::move(added->mask);
                read.number = added->number;
                read.is_mask = read.is_added = true;
            }
            terms_.push_back(std::move(read));
        }
        return scores_.zeroed.mask.value < 0 || is_zeroed();
    }

    // Whether the one mask is also that behind the softmax.
    bool is_zeroed() {
        const Term& zeroed = scores_.zeroed;
        size_t masks = 0;
        for (const ReadTerm& each : terms_) {
            if (!each.is_mask) continue;
            ++masks;
            const Term& term = *each.term;
            if (term.mask.value != zeroed.mask.value || term.is_negated != zeroed.is_negated ||
                term.mask.dims.size() != zeroed.mask.dims.size())
                return false;
            for (size_t d = 0; d < term.mask.dims.size(); ++d)
                if (factors_.parts(term.mask.dims[d]) != factors_.parts(zeroed.mask.dims[d])) return false;
        }
        return masks == 1;
    }

    // Whether it is made of parameters and constants alone: no mask of padding.
    bool is_learned(DraftId value) const {
        std::vector<DraftId> left = {value};
        for (size_t looked_at = 0; looked_at < left.size(); ++looked_at) {
            const DraftValue& of = draft_[left[looked_at]];
            if (looked_at > 100 || (of.is_input && !of.is_param)) return false;
            if (const DraftEntry* const entry = draft_.entry_of(left[looked_at]))
                left.insert(left.end(), entry->operands.begin(), entry->operands.end());
        }
        return true;
    }

    // Bounds of the masks that compare positions, as `causal` and `window`. Not if they are none, or if queries that see
    // no key then have another result.
    bool take_positions() {
        bool is_biased = false;
        for (const ReadTerm& each : terms_) {
            is_biased = is_biased || (!each.is_mask && !is_learned(each.term->bias.value));
            if (!each.is_mask) continue;
            const AttentionMask& mask = each.mask;
            if (!mask.is_plain() && !std::isinf(each.number) && scores_.zeroed.mask.value < 0) return false;
            if (const Factors queries = factors_.parts(mask.queries); !queries.empty()) {
                if (!compared_.empty() && compared_ != queries) return false;
                compared_ = queries;
            }
            if (mask.segments.value >= 0) {
                if (segments_.value >= 0) return false;
                segments_ = {mask.segments.value, mask.segments.dims};
            }
        }
        for (const ReadTerm& each : terms_)
            if (each.is_mask && each.number > (is_biased ? lowest : low)) return false;
        if (compared_.empty()) return true;
        if (std::find(alone_.begin(), alone_.end(), compared_) == alone_.end()) return false;
        const i64 queries = factors_.size(compared_), keys = factors_.size(keys_);
        const i64 none = 1 - keys, all = queries - 1; // of what is compared, as if it were not
        i64 least = none, most = all;
        for (const ReadTerm& each : terms_) {
            least = std::max(least, each.mask.low.value_or(none));
            most = std::min(most, each.mask.high.value_or(all));
        }
        if (segments_.value >= 0 && (queries != keys || least > 0 || most < 0)) return false;
        if (least == none && most == all) return true;
        causal_ = least == 0;
        if (!causal_ && least != -most) return false;
        if (most < 0 || queries - most > keys) return false;
        window_ = most < all || !causal_ ? most + 1 : 0;
        return true;
    }

    // (batch, heads, queries, keys), each whole or 1; nullopt if a part of one is missing.
    std::optional<FactorDims> pairs_of(const FactorDims& dims) const {
        const Factors own = factors_.all(dims);
        FactorDims pairs;
        size_t count = 0;
        for (const Factors& role : {batch_, joined(heads_, group_), queries_, keys_}) {
            const bool has_all = std::all_of(role.begin(), role.end(), [&](int factor) { return has(own, factor); });
            pairs.push_back(has_all ? role : Factors());
            count += pairs.back().size();
        }
        return count == own.size() ? std::optional<FactorDims>(std::move(pairs)) : std::nullopt;
    }

    std::optional<DraftId> as_pairs(Array array) {
        while (const DraftEntry* const entry = draft_.entry_of(array.value)) {
            std::optional<FactorDims> above = factors_.above(draft_, *entry, array.dims, {true, false});
            if (!above) break;
            array = {entry->operands[0], std::move(*above)};
        }
        const std::optional<FactorDims> pairs = pairs_of(array.dims);
        if (!pairs) return std::nullopt;
        return steps_.moved(array.value, array.dims, *pairs);
    }

    bool add_pairs(std::vector<DraftId>& operands) {
        std::optional<DraftId> bias, mask;
        for (const ReadTerm& each : terms_) {
            if (!each.is_mask || (as_bias_ && each.is_added)) {
                if (!add_bias(each.term->bias, bias)) return false;
            } else if (as_bias_) {
                if (scores_.zeroed.mask.value >= 0 || each.number > lowest || !choose_bias(each, bias)) return false;
            } else {
                for (const AttentionMask::Part& part : each.mask.rest)
                    if (!add_mask(part, mask)) return false;
            }
        }
        if (bias) operands.push_back(*bias);
        if (mask) operands.push_back(*mask);
        if (!as_bias_ && segments_.value >= 0) {
            if (!are_same(factors_.all(segments_.dims), joined(batch_, queries_))) return false;
            const DraftId both = steps_.moved(segments_.value, segments_.dims, {batch_, queries_});
            operands.insert(operands.end(), {both, both});
        }
        return true;
    }

    // What is drawn has its numbers in the order of (batch, heads, queries, keys), or of the last two alone.
    bool add_drop(std::vector<DraftId>& operands) {
        const AttentionScores::Drop& drop = scores_.drop;
        if (drop.key < 0) return true;
        const Factors drawn = factors_.all(drop.dims), own = factors_.parts(joined(queries_, keys_)),
                      all = joined(factors_.parts(joined(batch_, joined(heads_, group_))), own);
        if (drawn != all && drawn != own) return false;
        // A rate of which the probability comes again.
        const float probability = static_cast<float>(drop.probability);
        const std::string texts[] = {fmt::format("{:.6g}", 1 - drop.probability),
                                     fmt::format("{}", 1 - drop.probability)};
        const auto* const rate = std::find_if(std::begin(texts), std::end(texts), [&](const std::string& text) {
            return static_cast<float>(1 - parse_number<double>(text).value_or(0)) == probability;
        });
        if (rate == std::end(texts)) return false;
        dropped_ = fmt::format(", dropout: {}{}{}", *rate, drawn == all ? "" : ", broadcast_dropout: true",
                               drop.is_legacy ? ", bits: legacy" : "");
        operands.push_back(drop.key);
        return true;
    }

    Shape shape_of_both(DraftId a, DraftId b) const {
        Shape shape = steps_.type(a).shape;
        const Shape& other = steps_.type(b).shape; // of as many dims, or a number
        for (size_t d = 0; d < other.size(); ++d) shape[d] = std::max(shape[d], other[d]);
        return shape;
    }

    bool add_bias(const Array& array, std::optional<DraftId>& bias) {
        const std::optional<DraftId> more = as_pairs(array);
        if (!more) return false;
        if (bias && steps_.type(*bias).dtype != steps_.type(*more).dtype) return false;
        bias = bias ? steps_.add("add", {*bias, *more}, {}, {steps_.type(*bias).dtype, shape_of_both(*bias, *more)})
                    : *more;
        return true;
    }

    // The number where the mask hides, else the bias so far.
    bool choose_bias(const ReadTerm& each, std::optional<DraftId>& bias) {
        const std::optional<DraftId> chosen = as_pairs(each.term->mask);
        const DType dtype = draft_.type(each.term->number).dtype;
        if (!chosen || (bias && steps_.type(*bias).dtype != dtype)) return false;
        if (!bias) {
            const std::string typed = dtype == DType::f32 ? "" : fmt::format(", dtype: {}", name(dtype));
            bias = steps_.add("constant", {}, typed, {dtype, {}}, "0");
        }
        std::vector<DraftId> operands = {*chosen, *bias, each.term->number};
        if (each.term->is_negated) std::swap(operands[1], operands[2]);
        bias = steps_.add("select", operands, {}, {dtype, shape_of_both(*chosen, *bias)});
        return true;
    }

    bool add_mask(const AttentionMask::Part& part, std::optional<DraftId>& mask) {
        std::optional<DraftId> seen = as_pairs({part.value, part.dims});
        if (!seen) return false;
        if (const DType dtype = steps_.type(*seen).dtype; dtype != DType::boolean)
            seen = steps_.add("gt", {*seen, taking_.as_operand(dtype, {})}, {},
                              {DType::boolean, steps_.type(*seen).shape});
        if (part.is_negated) seen = steps_.add("not", {*seen}, {}, steps_.type(*seen));
        mask = mask ? steps_.add("and", {*mask, *seen}, {}, {DType::boolean, shape_of_both(*mask, *seen)}) : *seen;
        return true;
    }

    std::string arguments() const {
        std::string text;
        if (!as_bias_ && causal_) text += ", causal: true";
        if (!as_bias_ && window_ > 0) text += fmt::format(", window: {}", window_);
        const double usual = 1 / std::sqrt(static_cast<double>(factors_.size(width_)));
        if (std::fabs(scale_ - usual) > 1e-6 * usual)
            text += fmt::format(", scale: {}", number_text(DType::f32, {static_cast<float>(scale_), 0}));
        if (scores_.soft_cap > 0)
            text += fmt::format(", soft_cap: {}", number_text(DType::f32, {static_cast<float>(scores_.soft_cap), 0}));
        return text + dropped_;
    }

    Taking& taking_;
    const Draft& draft_;
    FactoredDims factors_;
    StepBuilder steps_;
    AttentionScores scores_;
    Array q_, k_, v_;
    double scale_ = 1;
    std::vector<Factors> alone_;    // of queries: by dim of the result
    Factors batch_, heads_, group_; // heads of keys, and how many of queries share one
    Factors queries_, keys_, width_, value_width_;
    std::vector<ReadTerm> terms_; // the first first
    Factors compared_;            // the queries that masks compare
    Array segments_;
    bool as_bias_ = false; // masks too
    bool causal_ = false;
    i64 window_ = 0;
    std::string dropped_; // arguments
};

std::optional<Composite> attention(Taking& taking, const DraftEntry& root) { return Recognised(taking).run(root); }

} // namespace

std::vector<CompositeForm> attention_forms() {
    return {{"einsum", attention},
            {"dot", attention},
            {"transpose", attention},
            {"reshape", attention},
            {"div", attention}};
}

} // namespace shard
