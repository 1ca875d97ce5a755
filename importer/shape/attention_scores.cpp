#include "importer/shape/attention_scores.h"

#include "importer/model/arguments.h"
#include "plans/base/parse_number.h"

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

using Array = AttentionScores::Array;

// The letters of an einsum of two operands; a dot has none.
struct Product {
    std::array<DraftId, 2> operands = {-1, -1};
    std::array<std::string, 2> letters;
    std::string made;
};

std::optional<Product> product_of(const Draft& draft, const DraftEntry& entry) {
    if (entry.operands.size() != 2) return std::nullopt;
    Product product{{entry.operands[0], entry.operands[1]}, {}, {}};
    const auto rank = [&](size_t i) { return draft.type(entry.operands[i]).shape.size(); };
    if (entry.op == "dot") {
        if (rank(0) < 1 || rank(0) > 20 || rank(1) != 2) return std::nullopt;
        for (size_t d = 0; d < rank(0); ++d) product.letters[0] += static_cast<char>('a' + d);
        product.made = product.letters[0];
        product.made.back() = 'z';
        product.letters[1] = {product.letters[0].back(), 'z'};
        return product;
    }
    if (entry.op != "einsum") return std::nullopt;
    size_t part = 0;
    for (const char c : entry.literal) {
        if (c == ',' || c == '>') ++part;
        if (c < 'a' || c > 'z') continue;
        (part == 0 ? product.letters[0] : part == 1 ? product.letters[1] : product.made) += c;
    }
    const auto is_plain = [](std::string letters) {
        std::sort(letters.begin(), letters.end());
        return std::adjacent_find(letters.begin(), letters.end()) == letters.end();
    };
    if (product.letters[0].size() != rank(0) || product.letters[1].size() != rank(1) || !is_plain(product.letters[0]) ||
        !is_plain(product.letters[1]))
        return std::nullopt;
    return product;
}

class Search {
public:
    Search(Taking& taking, FactoredDims& factors) : taking_(taking), draft_(taking.draft()), factors_(factors) {}

    std::optional<AttentionScores> run(const DraftEntry& root) {
        const DraftType& type = draft_.type(root.results[0]);
        if (!is_floating(type.dtype) || element_count(type.shape) == 0 || taking_.is_moved_on(root.results[0]))
            return std::nullopt;
        found_.dtype = type.dtype;
        found_.result = {root.results[0], factors_.fresh(type.shape)};
        Array made = found_.result;
        const DraftEntry* entry = made_by_more_than_moves(made, &root);
        if (entry != nullptr && entry->op == "div") {
            sums_ = operand(made, *entry, 1);
            const Array weighted = operand(made, *entry, 0);
            if (!is_whole(weighted, made)) return std::nullopt;
            made = weighted;
            entry = made_by_more_than_moves(made, taking_.made(made.value));
        }
        const std::optional<Product> product = entry == nullptr ? std::nullopt : product_of(draft_, *entry);
        if (!product) return std::nullopt;
        for (const size_t weights : {size_t{0}, size_t{1}}) {
            const size_t mark = taking_.mark();
            const AttentionScores before = found_;
            if (values(*product, weights, made.dims)) return std::move(found_);
            found_ = before;
            taking_.back_to(mark);
        }
        return std::nullopt;
    }

private:
    // The entry that makes the array, above what only moves it; null of an input.
    const DraftEntry* made_by_more_than_moves(Array& array, const DraftEntry* entry) {
        while (entry != nullptr) {
            const std::optional<FactorDims> above = factors_.above(draft_, *entry, array.dims);
            if (!above) break;
            array = {entry->operands[0], *above};
            entry = taking_.made(array.value);
        }
        return entry;
    }

    // The dims of both operands, of the result's. What is contracted is a factor of its own; at most one dim is.
    struct Operands {
        std::array<FactorDims, 2> dims;
        Factors contracted;
    };
    std::optional<Operands> operands_of(const Product& product, const FactorDims& made) {
        Operands found;
        std::array<size_t, 26> contracted_to{};
        for (const size_t side : {size_t{0}, size_t{1}}) {
            const Shape& shape = draft_.type(product.operands[side]).shape;
            for (size_t d = 0; d < shape.size(); ++d) {
                const char letter = product.letters[side][d];
                const size_t at = product.made.find(letter);
                if (at != std::string::npos) {
                    if (at >= made.size()) return std::nullopt;
                    found.dims[side].push_back(made[at]);
                    continue;
                }
                size_t& seen = contracted_to[static_cast<size_t>(letter - 'a')];
                if (++seen == 1 && shape[d] != 1) {
                    if (!found.contracted.empty() || shape[d] == 0) return std::nullopt;
                    found.contracted = {factors_.factor(shape[d])};
                    contracted_ = letter;
                }
                found.dims[side].push_back(shape[d] == 1 ? Factors() : found.contracted);
                if (shape[d] != 1 && contracted_ != letter) return std::nullopt;
            }
        }
        const bool in_both = found.contracted.empty() || (product.letters[0].find(contracted_) != std::string::npos &&
                                                          product.letters[1].find(contracted_) != std::string::npos);
        return in_both ? std::optional<Operands>(std::move(found)) : std::nullopt;
    }

    // Those of one that the other lacks.
    Factors only(const FactorDims& of, const FactorDims& other) const {
        Factors found = factors_.all(of);
        const Factors rest = factors_.all(other);
        std::erase_if(found, [&](int factor) { return std::find(rest.begin(), rest.end(), factor) != rest.end(); });
        return found;
    }

    bool values(const Product& product, size_t weights, const FactorDims& made) {
        const std::optional<Operands> operands = operands_of(product, made);
        if (!operands || operands->contracted.empty()) return false;
        found_.keys = operands->contracted;
        found_.v = {product.operands[1 - weights], operands->dims[1 - weights]};
        found_.value_width = only(found_.v.dims, operands->dims[weights]);
        return softmax({product.operands[weights], operands->dims[weights]});
    }

    // What an entry that moves or casts takes; nullopt if it does something else.
    std::optional<Array> carried(const Array& array, const DraftEntry& entry) {
        if (entry.op == "cast" && is_floating(draft_.type(entry.operands[0]).dtype))
            return Array{entry.operands[0], array.dims};
        const std::optional<FactorDims> above = factors_.above(draft_, entry, array.dims);
        return above ? std::optional<Array>({entry.operands[0], *above}) : std::nullopt;
    }

    bool softmax(Array weights) {
        double growth = 1; // of weights
        while (const DraftEntry* const entry = taking_.made(weights.value)) {
            if (sums_ && entry->op == "exp") return is_growth(growth) && exponentials(weights, *entry);
            if (!sums_ && entry->op == "softmax") {
                weights.value = entry->operands[0];
                return are_keys(listed(entry->arguments, "dim"), weights.dims) && is_growth(growth) &&
                       scores(weights, false);
            }
            std::optional<Array> above = carried(weights, *entry);
            if (!above) above = dropped(weights, *entry, growth);
            for (const size_t zero : {size_t{1}, size_t{2}}) {
                if (above || entry->op != "select" || !taking_.is_number(entry->operands[zero], 0) ||
                    found_.zeroed.mask.value >= 0)
                    continue;
                above = operand(weights, *entry, 3 - zero);
                if (!is_whole(*above, weights)) return false;
                found_.zeroed = {{}, operand(weights, *entry, 0), zero == 1, entry->operands[zero]};
            }
            if (!above) return false;
            weights = *above;
        }
        return false;
    }

    // exp(x - max(x)), whose sums over the keys are what is divided by at last.
    bool exponentials(const Array& weights, const DraftEntry& exp) {
        const DraftEntry* const below = taking_.made_by(exp.operands[0], "sub");
        if (below == nullptr || found_.drop.key >= 0 || found_.zeroed.mask.value >= 0) return false;
        const std::optional<Taking::Reduced> most = taking_.reduced(below->operands[1], "reduce_max");
        if (!most || most->of != below->operands[0] || !are_keys(most->dims, weights.dims)) return false;
        const DType own = draft_.type(weights.value).dtype;
        const DraftEntry* sum = made_by_more_than_moves(*sums_, taking_.made(sums_->value));
        DraftId summed = weights.value;
        if (sum != nullptr && sum->op == "cast" && own != computed_as(own)) { // narrow numbers are summed up in f32
            sums_->value = sum->operands[0];
            sum = made_by_more_than_moves(*sums_, taking_.made(sums_->value));
            const DraftEntry* const wide = sum == nullptr ? nullptr : taking_.made_by(sum->operands[0], "cast");
            if (wide == nullptr || wide->operands[0] != summed || draft_.type(sums_->value).dtype != computed_as(own))
                return false;
            summed = sum->operands[0];
        }
        if (sum == nullptr || sum->op != "reduce_sum" || sum->operands[0] != summed) return false;
        const std::vector<i64> dims = listed(sum->arguments, "dims");
        FactorDims rest = weights.dims; // in their order: sums that are turned are those of other weights
        for (size_t i = dims.size(); i-- > 0;) rest.erase(rest.begin() + dims[i]);
        if (!are_keys(dims, weights.dims) || factors_.all(rest) != factors_.all(sums_->dims)) return false;
        return scores({below->operands[0], weights.dims}, false);
    }

    bool are_keys(const std::vector<i64>& dims, const FactorDims& of) const {
        FactorDims along;
        for (const i64 dim : dims) {
            if (dim < 0 || dim >= std::ssize(of)) return false;
            along.push_back(of[static_cast<size_t>(dim)]);
        }
        return factors_.all(along) == factors_.parts(found_.keys);
    }

    // What a part of dropout takes: select(drawn, x, 0), x * drawn, and x by a number, as drawn itself may be.
    std::optional<Array> dropped(const Array& weights, const DraftEntry& entry, double& growth) {
        if (const std::optional<std::pair<DraftId, double>> factor = factor_of(entry)) {
            growth *= factor->second;
            return Array{factor->first, weights.dims};
        }
        const bool is_select = entry.op == "select" && taking_.is_number(entry.operands[2], 0);
        if (!is_select && entry.op != "mul") return std::nullopt;
        for (const size_t drawn : {size_t{0}, size_t{1}}) {
            if (is_select && drawn != 0) break;
            const Array rest = operand(weights, entry, 1 - drawn);
            if (is_whole(rest, weights) && is_drawn(operand(weights, entry, drawn), growth)) return rest;
        }
        return std::nullopt;
    }

    bool is_drawn(Array mask, double& growth) {
        double own = 1;
        for (int left = 20; found_.drop.key < 0 && left > 0; --left) {
            const DraftEntry* const entry = draft_.entry_of(mask.value);
            if (entry == nullptr) return false;
            if (entry->op == "bernoulli") {
                if (!read_drop(*entry)) return false;
                found_.drop.dims = std::move(mask.dims);
                growth *= own;
                return true;
            }
            if (std::optional<FactorDims> above = factors_.above(draft_, *entry, mask.dims, {true, false})) {
                mask = {entry->operands[0], std::move(*above)};
            } else if (const std::optional<std::pair<DraftId, double>> factor = factor_of(*entry)) {
                mask.value = factor->first;
                own *= factor->second;
            } else if (entry->op == "cast") {
                mask.value = entry->operands[0];
            } else {
                return false;
            }
        }
        return false;
    }

    bool read_drop(const DraftEntry& bernoulli) {
        constexpr std::string_view before = ", probability: ", behind = ", bits: legacy";
        std::string_view text = bernoulli.arguments;
        if (bernoulli.operands.size() != 1 || !text.starts_with(before)) return false;
        if (draft_.type(bernoulli.operands[0]).shape != Shape{2}) return false; // attention takes no key of rbg
        found_.drop.is_legacy = text.ends_with(behind);
        text.remove_prefix(before.size());
        if (found_.drop.is_legacy) text.remove_suffix(behind.size());
        const std::optional<double> probability = parse_number<double>(text);
        if (!probability || *probability <= 0 || *probability >= 1) return false;
        found_.drop.probability = *probability;
        found_.drop.key = bernoulli.operands[0];
        return true;
    }

    // Whether weights grow as those that stay do, up to the rounding of their type.
    bool is_growth(double growth) const {
        if (found_.drop.key < 0) return growth == 1;
        return std::fabs(growth * found_.drop.probability - 1) < (byte_size(found_.dtype) < 4 ? 1.0 / 256 : 1e-6);
    }

    // An operand of an op that goes element by element; of scores only as a whole.
    Array operand(const Array& array, const DraftEntry& entry, size_t i) const {
        const DraftId of = entry.operands[i];
        return {of, factors_.aligned(draft_.type(of).shape, draft_.type(array.value).shape, array.dims)};
    }
    bool is_whole(const Array& part, const Array& array) const {
        return !draft_[part.value].number && factors_.all(part.dims) == factors_.all(array.dims);
    }

    // Up to the product of q and k. Once they are scaled or capped, nothing else may be added.
    bool scores(const Array& array, bool is_scaled) {
        if (--left_ < 0) return false;
        const DraftEntry* const entry = taking_.made(array.value);
        if (entry == nullptr) return false;
        if (const std::optional<Array> above = carried(array, *entry)) return scores(*above, is_scaled);
        if (!is_scaled && entry->op == "select") return masked(array, *entry);
        if (!is_scaled && entry->op == "add") return biased(array, *entry);
        if (entry->op == "mul" || entry->op == "div") return scaled(array, *entry, is_scaled);
        const std::optional<Product> product = product_of(draft_, *entry);
        return product && queries_and_keys(*product, array.dims);
    }

    bool masked(const Array& array, const DraftEntry& entry) {
        for (const size_t hidden : {size_t{1}, size_t{2}}) {
            const Array rest = operand(array, entry, 3 - hidden);
            if (!taking_.number(entry.operands[hidden]) || !is_whole(rest, array)) continue;
            found_.terms.push_back({{}, operand(array, entry, 0), hidden == 1, entry.operands[hidden]});
            return scores(rest, false);
        }
        return false;
    }

    bool biased(const Array& array, const DraftEntry& entry) {
        for (const size_t i : {size_t{0}, size_t{1}}) {
            const Array rest = operand(array, entry, i), bias = operand(array, entry, 1 - i);
            if (!is_whole(rest, array) || draft_[bias.value].number) continue;
            const size_t mark = taking_.mark();
            const AttentionScores before = found_;
            found_.terms.push_back({bias, {}, false, -1});
            if (scores(rest, false)) return true;
            found_ = before;
            taking_.back_to(mark);
        }
        return false;
    }

    // x * number or x / number: x and the factor.
    std::optional<std::pair<DraftId, double>> factor_of(const DraftEntry& entry) const {
        if (entry.op != "mul" && entry.op != "div") return std::nullopt;
        for (const size_t i : {size_t{0}, size_t{1}}) {
            const std::optional<double> number = taking_.number(entry.operands[i]);
            if (!number || (entry.op == "div" && (i == 0 || *number == 0)) || !std::isfinite(*number)) continue;
            return std::pair(entry.operands[1 - i], entry.op == "div" ? 1 / *number : *number);
        }
        return std::nullopt;
    }

    bool scaled(const Array& array, const DraftEntry& entry, bool is_scaled) {
        const std::optional<std::pair<DraftId, double>> factor = factor_of(entry);
        if (!factor) return false;
        const Array rest = {factor->first, array.dims};
        if (!is_scaled && entry.op == "mul" && capped(rest, factor->second)) return true;
        found_.scale *= factor->second;
        return scores(rest, true);
    }

    // tanh(x / cap), of what is cap * that.
    bool capped(const Array& array, double cap) {
        const size_t mark = taking_.mark();
        const AttentionScores before = found_;
        const DraftEntry* const tanh = taking_.made_by(array.value, "tanh");
        const DraftEntry* const quotient = tanh == nullptr ? nullptr : taking_.made(tanh->operands[0]);
        const std::optional<std::pair<DraftId, double>> factor =
            quotient == nullptr ? std::nullopt : factor_of(*quotient);
        if (factor && cap > 0 && std::fabs(factor->second * cap - 1) < 1e-6) {
            found_.soft_cap = cap;
            if (scores({factor->first, array.dims}, true)) return true;
        }
        found_ = before;
        taking_.back_to(mark);
        return false;
    }

    bool queries_and_keys(const Product& product, const FactorDims& made) {
        const std::optional<Operands> operands = operands_of(product, made);
        if (!operands) return false;
        const Factors keys = factors_.parts(found_.keys);
        found_.width = operands->contracted;
        for (const size_t k : {size_t{0}, size_t{1}}) {
            if (only(operands->dims[k], operands->dims[1 - k]) != keys) continue;
            found_.q = {product.operands[1 - k], operands->dims[1 - k]};
            found_.k = {product.operands[k], operands->dims[k]};
            return true;
        }
        return false;
    }

    Taking& taking_;
    const Draft& draft_;
    FactoredDims& factors_;
    AttentionScores found_;
    std::optional<Array> sums_; // by which the weighted values are divided, where weights are not
    char contracted_ = ' ';
    int left_ = 100; // entries between the products, so that sums of sums end
};

} // namespace

std::optional<AttentionScores> attention_scores(Taking& taking, FactoredDims& factors, const DraftEntry& root) {
    return Search(taking, factors).run(root);
}

} // namespace shard
