#include "plans/sharding/index_rule.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace shard {

namespace {

constexpr std::array<std::string_view, 4> kind_names = {"pass_through", "reduction", "need_replication", "permutation"};
constexpr std::string_view letters = "ijklmnopqrstuvwxyzabcdefghABCDEFGHIJKLMNOPQRSTUVWXYZ";

// One dim as written: its letters major to minor; empty for ".".
using DimText = std::string;
using TensorText = std::vector<DimText>;

TensorText parse_tensor(std::string_view text) {
    TensorText dims;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ' ') continue;
        if (text[i] == '.') {
            dims.emplace_back();
        } else if (text[i] == '(') {
            const size_t close = text.find(')', i);
            internal_check(close != std::string_view::npos && close > i + 1, "index rule: unbalanced parenthesis");
            dims.emplace_back(text.substr(i + 1, close - i - 1));
            i = close;
        } else {
            dims.emplace_back(1, text[i]);
        }
    }
    return dims;
}

std::vector<TensorText> parse_side(std::string_view text, size_t count) {
    std::vector<TensorText> tensors;
    if (count == 0) {
        internal_check(text.empty(), "index rule: more tensors than the op has");
        return tensors;
    }
    for (;;) {
        const size_t comma = text.find(',');
        tensors.push_back(parse_tensor(text.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    internal_check(tensors.size() == count, "index rule: number of tensors");
    return tensors;
}

struct Builder {
    IndexRule rule;
    std::map<char, int> by_letter;
    std::map<char, i64> sizes;

    int add(char letter, FactorKind kind, i64 size) {
        rule.factors.push_back({letter, kind, size, false});
        return static_cast<int>(rule.factors.size()) - 1;
    }

    // A dim that shares nothing. A result's is free to be sharded; an operand's has no counterpart, so all of it is
    // read.
    int add_private(i64 size, bool in_result) {
        return add('.', in_result || size == 1 ? FactorKind::pass_through : FactorKind::need_replication, size);
    }

    // Sizes that single letters tell; then groups with one unknown letter.
    void find_sizes(const TensorText& dims, const TensorType& type) {
        internal_check(dims.size() == type.shape.size(), "index rule: number of dims");
        for (size_t d = 0; d < dims.size(); ++d) {
            if (dims[d].size() != 1) continue;
            i64& size = sizes.try_emplace(dims[d][0], 1).first->second;
            if (type.shape[d] == 1) continue;
            internal_check(size == 1 || size == type.shape[d], "index rule: sizes disagree");
            size = type.shape[d];
        }
    }
    bool find_group_sizes(const TensorText& dims, const TensorType& type) {
        bool found = false;
        for (size_t d = 0; d < dims.size(); ++d) {
            if (dims[d].size() < 2) continue;
            i64 known = 1;
            std::string unknown;
            for (char letter : dims[d]) {
                const std::map<char, i64>::iterator it = sizes.find(letter);
                if (it == sizes.end())
                    unknown += letter;
                else
                    known *= it->second;
            }
            if (unknown.size() != 1 || known == 0) continue;
            internal_check(type.shape[d] % known == 0, "index rule: sizes disagree");
            sizes[unknown[0]] = type.shape[d] / known;
            found = true;
        }
        return found;
    }

    TensorFactors make_tensor(const TensorText& dims, const TensorType& type, bool in_result) {
        TensorFactors result;
        for (size_t d = 0; d < dims.size(); ++d) {
            DimFactors factors;
            i64 product = 1;
            for (char letter : dims[d]) {
                const std::map<char, i64>::iterator size = sizes.find(letter);
                internal_check(size != sizes.end(), "index rule: a size cannot be found");
                if (dims[d].size() == 1 && size->second != type.shape[d]) break; // a size-1 dim: private
                const std::map<char, int>::iterator known = by_letter.find(letter);
                int factor = known == by_letter.end() ? -1 : known->second;
                if (factor < 0) factor = by_letter[letter] = add(letter, FactorKind::reduction, size->second);
                if (in_result) rule.factors[factor].kind = FactorKind::pass_through;
                factors.push_back(factor);
                product *= size->second;
            }
            if (factors.empty()) factors.push_back(add_private(product = type.shape[d], in_result));
            internal_check(product == type.shape[d], "index rule: sizes disagree");
            result.push_back(std::move(factors));
        }
        return result;
    }
};

// Private factors take letters that nobody wrote.
void name_private(IndexRule& rule) {
    std::string written;
    for (const Factor& factor : rule.factors)
        if (factor.letter != '.') written += factor.letter;
    size_t next = 0;
    for (Factor& factor : rule.factors) {
        if (factor.letter != '.') continue;
        while (next < letters.size() && written.find(letters[next]) != std::string::npos) ++next;
        factor.letter = next < letters.size() ? letters[next++] : '?';
    }
}

std::string side_text(const IndexRule& rule, const std::vector<TensorFactors>& tensors) {
    std::string result = "(";
    for (size_t t = 0; t < tensors.size(); ++t) {
        result += t > 0 ? ",[" : "[";
        for (size_t d = 0; d < tensors[t].size(); ++d) {
            if (d > 0) result += ", ";
            for (int factor : tensors[t][d]) result += rule.factors[factor].letter;
        }
        result += ']';
    }
    return result + ")";
}

template<typename Predicate>
std::string set_text(const IndexRule& rule, std::string_view title, Predicate holds) {
    std::string list;
    for (const Factor& factor : rule.factors)
        if (holds(factor)) list += (list.empty() ? "" : ", ") + std::string(1, factor.letter);
    return list.empty() ? "" : fmt::format(" {}={{{}}}", title, list);
}

} // namespace

std::string_view name(FactorKind kind) { return kind_names[static_cast<size_t>(kind)]; }

IndexRule make_rule(std::string_view notation, std::span<const TensorType> operands,
                    std::span<const TensorType> results) {
    const size_t arrow = notation.find("->");
    internal_check(arrow != std::string_view::npos, "index rule: no arrow");
    const std::vector<TensorText> left = parse_side(notation.substr(0, arrow), operands.size());
    const std::vector<TensorText> right = parse_side(notation.substr(arrow + 2), results.size());

    Builder builder;
    for (size_t t = 0; t < left.size(); ++t) builder.find_sizes(left[t], operands[t]);
    for (size_t t = 0; t < right.size(); ++t) builder.find_sizes(right[t], results[t]);
    for (bool found = true; found;) {
        found = false;
        for (size_t t = 0; t < left.size(); ++t) found = builder.find_group_sizes(left[t], operands[t]) || found;
        for (size_t t = 0; t < right.size(); ++t) found = builder.find_group_sizes(right[t], results[t]) || found;
    }
    for (size_t t = 0; t < left.size(); ++t)
        builder.rule.operands.push_back(builder.make_tensor(left[t], operands[t], false));
    for (size_t t = 0; t < right.size(); ++t)
        builder.rule.results.push_back(builder.make_tensor(right[t], results[t], true));
    name_private(builder.rule);
    return std::move(builder.rule);
}

void set_kind(IndexRule& rule, char letter, FactorKind kind, bool blocked) {
    for (Factor& factor : rule.factors)
        if (factor.letter == letter) {
            factor.kind = kind;
            factor.blocked = blocked;
            return;
        }
    internal_error("index rule: set_kind of a letter that is not there");
}

IndexRule pointwise_rule(std::span<const TensorType> operands, std::span<const TensorType> results) {
    size_t rank = 0;
    for (const TensorType& type : operands) rank = std::max(rank, type.shape.size());
    for (const TensorType& type : results) rank = std::max(rank, type.shape.size());
    internal_check(rank <= letters.size(), "index rule: too many dims");
    // By position, counted from the last dim: its size, and its factor once there is one.
    std::vector<i64> sizes(rank, 1);
    std::vector<int> shared(rank, -1);
    for (const std::span<const TensorType> side : {operands, results})
        for (const TensorType& type : side)
            for (size_t d = 0, at = rank - type.shape.size(); at < rank; ++d, ++at) {
                if (type.shape[d] == 1) continue;
                internal_check(sizes[at] == 1 || sizes[at] == type.shape[d], "index rule: sizes disagree");
                sizes[at] = type.shape[d];
            }
    Builder builder;
    const auto factors_of = [&](const TensorType& type, bool in_result) {
        TensorFactors factors(type.shape.size());
        for (size_t d = 0, at = rank - type.shape.size(); at < rank; ++d, ++at) {
            if (sizes[at] != type.shape[d]) {
                factors[d] = {builder.add_private(type.shape[d], in_result)};
                continue;
            }
            if (shared[at] < 0) shared[at] = builder.add(letters[at], FactorKind::reduction, sizes[at]);
            if (in_result) builder.rule.factors[shared[at]].kind = FactorKind::pass_through;
            factors[d] = {shared[at]};
        }
        return factors;
    };
    for (const TensorType& type : operands) builder.rule.operands.push_back(factors_of(type, false));
    for (const TensorType& type : results) builder.rule.results.push_back(factors_of(type, true));
    name_private(builder.rule);
    return std::move(builder.rule);
}

std::string text(const IndexRule& rule) {
    std::string sizes;
    for (const Factor& factor : rule.factors)
        sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ", ", factor.letter, factor.size);
    std::string result =
        fmt::format("{}->{} {{{}}}", side_text(rule, rule.operands), side_text(rule, rule.results), sizes);
    for (FactorKind kind : {FactorKind::reduction, FactorKind::need_replication, FactorKind::permutation})
        result += set_text(rule, name(kind), [&](const Factor& factor) { return factor.kind == kind; });
    return result + set_text(rule, "blocked", [](const Factor& factor) { return factor.blocked; });
}

} // namespace shard
