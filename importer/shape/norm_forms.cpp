#include "importer/shape/norm_forms.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

struct Norm {
    bool is_layer_norm = false, is_fast = false;
    DraftId x = -1;
    std::vector<i64> dims;
    double eps = 0;
};

// mean(x * x), or max(0, mean(x * x)), which is the same: equinox has it.
bool take_variance(Taking& taking, DraftId value, DraftId normalized, Norm& norm) {
    const size_t mark = taking.mark();
    const DraftEntry* const least = taking.made_by(value, "max");
    const std::optional<DraftId> of_least = least == nullptr ? std::nullopt : taking.beside_number(*least, 0);
    if (const std::optional<Taking::Reduced> mean = taking.mean_that_gets_ones(of_least.value_or(value))) {
        const DraftEntry* const square = taking.made_by(mean->of, "mul");
        if (square == nullptr || square->operands[0] != square->operands[1]) return false;
        norm.dims = mean->dims;
        if (square->operands[0] == normalized) { // rms_norm, or what is centered has been taken already
            norm.x = normalized;
            return true;
        }
        if (!norm.is_layer_norm) return false;
        // x - mean, made a second time.
        const DraftEntry* const again = taking.made_by(square->operands[0], "sub");
        const DraftEntry* const centered = taking.draft().entry_of(normalized);
        if (again == nullptr || centered == nullptr || centered->op != "sub" ||
            again->operands[0] != centered->operands[0])
            return false;
        const std::optional<Taking::Reduced> second = taking.mean(again->operands[1]);
        norm.x = normalized;
        return second && second->of == again->operands[0] && second->dims == norm.dims;
    }
    taking.back_to(mark);
    return false;
}

// Of rsqrt(variance + eps), the variance.
std::optional<DraftId> take_root(Taking& taking, DraftId value, Norm& norm) {
    const DraftEntry* const root = taking.made_by(taking.without_ones(value), "rsqrt");
    const DraftEntry* const sum = root == nullptr ? nullptr : taking.made_by(root->operands[0], "add");
    if (sum == nullptr) return std::nullopt;
    for (const size_t i : {size_t{0}, size_t{1}})
        if (const std::optional<double> eps = taking.number(sum->operands[1 - i])) {
            norm.eps = *eps;
            return sum->operands[i];
        }
    return std::nullopt;
}

// A mean without dims of size 1: what it is of, and the arguments of its sum.
std::optional<std::pair<DraftId, std::string>> take_mean(Taking& taking, DraftId value) {
    const DraftEntry* const quotient = taking.made_by(value, "div");
    const DraftEntry* const sum = quotient == nullptr ? nullptr : taking.made_by(quotient->operands[0], "reduce_sum");
    if (sum == nullptr) return std::nullopt;
    const double count = static_cast<double>(element_count(taking.draft().type(sum->operands[0]).shape)) /
                         static_cast<double>(element_count(taking.draft().type(value).shape));
    if (!taking.is_number(quotient->operands[1], count)) return std::nullopt;
    return std::pair(sum->operands[0], sum->arguments);
}

// max(0, mean(x * x) - mean(x) * mean(x)), with dims as 1 or not.
bool take_fast_variance(Taking& taking, DraftId value, DraftId x, Norm& norm) {
    DraftId inner = value;
    if (const DraftEntry* const reshape = taking.made_by(inner, "reshape")) inner = reshape->operands[0];
    const DraftEntry* const least = taking.made_by(inner, "max");
    const std::optional<DraftId> rest = least == nullptr ? std::nullopt : taking.beside_number(*least, 0);
    const DraftEntry* const difference = rest ? taking.made_by(*rest, "sub") : nullptr;
    const DraftEntry* const squared = difference == nullptr ? nullptr : taking.made_by(difference->operands[1], "mul");
    if (squared == nullptr || squared->operands[0] != squared->operands[1]) return false;
    const auto squares = take_mean(taking, difference->operands[0]), means = take_mean(taking, squared->operands[0]);
    if (!squares || !means || squares->second != means->second || means->first != x) return false;
    const DraftEntry* const square = taking.made_by(squares->first, "mul");
    return square != nullptr && square->operands[0] == x && square->operands[1] == x &&
           means->second == fmt::format(", dims: {}", list_text(norm.dims));
}

// normalized * rsqrt(...), of which one factor may have been multiplied by the scale.
std::optional<Norm> take_norm(Taking& taking, DraftId value, DraftId root) {
    Norm norm;
    const std::optional<DraftId> variance = take_root(taking, root, norm);
    if (!variance) return std::nullopt;
    const Draft& draft = taking.draft();
    const DraftEntry* const centered = draft.entry_of(value);
    if (centered != nullptr && centered->op == "sub") {
        const size_t mark = taking.mark();
        taking.made_by(value, "sub");
        const std::optional<Taking::Reduced> mean = taking.mean(centered->operands[1]);
        if (mean && mean->of == centered->operands[0]) {
            norm.is_layer_norm = true;
            norm.dims = mean->dims;
            const size_t before = taking.mark();
            if (take_variance(taking, *variance, value, norm) && norm.dims == mean->dims) {
                norm.x = mean->of;
                return taking.broadcasts_against(root, *mean) ? std::optional<Norm>(norm) : std::nullopt;
            }
            taking.back_to(before);
            norm.is_fast = true;
            norm.dims = mean->dims;
            norm.x = mean->of;
            if (take_fast_variance(taking, *variance, mean->of, norm) && taking.broadcasts_against(root, *mean))
                return norm;
            norm = Norm{false, false, -1, {}, norm.eps};
        }
        taking.back_to(mark);
    }
    if (!take_variance(taking, *variance, value, norm) || norm.x != value) return std::nullopt;
    return taking.broadcasts_against(root, {value, norm.dims}) ? std::optional<Norm>(norm) : std::nullopt;
}

// A value with the sizes of x along the dims, which are the last.
bool is_scale(const Draft& draft, DraftId scale, const Norm& norm) {
    const Shape& shape = draft.type(norm.x).shape;
    Shape sizes;
    for (size_t i = 0; i < norm.dims.size(); ++i) {
        if (norm.dims[i] != std::ssize(shape) - std::ssize(norm.dims) + static_cast<i64>(i)) return false;
        sizes.push_back(shape[static_cast<size_t>(norm.dims[i])]);
    }
    return draft.type(scale).shape == sizes && !draft[scale].number &&
           draft.type(scale).dtype == draft.type(norm.x).dtype;
}

Composite composite_of(const Draft& draft, const Norm& norm, std::vector<DraftId> more) {
    more.insert(more.begin(), norm.x);
    std::string arguments;
    if (norm.dims != std::vector<i64>{std::ssize(draft.type(norm.x).shape) - 1})
        arguments += fmt::format(", dim: {}", dims_text(norm.dims));
    arguments += fmt::format(", eps: {}", number_text(draft.type(norm.x).dtype, {norm.eps, 0}));
    if (norm.is_fast) arguments += ", fast_variance: true";
    return {norm.is_layer_norm ? "layer_norm" : "rms_norm", std::move(more), arguments};
}

// Both without scale.
std::optional<Composite> plain(Taking& taking, const DraftEntry& root) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const size_t mark = taking.mark();
        if (const std::optional<Norm> norm = take_norm(taking, root.operands[i], root.operands[1 - i]))
            return composite_of(taking.draft(), *norm, {});
        taking.back_to(mark);
    }
    return std::nullopt;
}

// x * (rsqrt * scale)
std::optional<Composite> scaled_root(Taking& taking, const DraftEntry& root) {
    for (const size_t i : {size_t{0}, size_t{1}})
        for (const size_t j : {size_t{0}, size_t{1}}) {
            const size_t mark = taking.mark();
            const DraftEntry* const factor = taking.made_by(root.operands[1 - i], "mul");
            if (factor != nullptr)
                if (const std::optional<Norm> norm = take_norm(taking, root.operands[i], factor->operands[j]);
                    norm && is_scale(taking.draft(), factor->operands[1 - j], *norm))
                    return composite_of(taking.draft(), *norm, {factor->operands[1 - j]});
            taking.back_to(mark);
        }
    return std::nullopt;
}

// (x * scale) * rsqrt: what is multiplied first.
std::optional<Composite> scaled_value(Taking& taking, const DraftEntry& root) {
    for (const size_t i : {size_t{0}, size_t{1}})
        for (const size_t j : {size_t{0}, size_t{1}}) {
            const size_t mark = taking.mark();
            const DraftEntry* const factor = taking.made_by(root.operands[i], "mul");
            if (factor != nullptr)
                if (const std::optional<Norm> norm = take_norm(taking, factor->operands[j], root.operands[1 - i]);
                    norm && is_scale(taking.draft(), factor->operands[1 - j], *norm))
                    return composite_of(taking.draft(), *norm, {factor->operands[1 - j]});
            taking.back_to(mark);
        }
    return std::nullopt;
}

// mean((x - mean(x))^2, dims)
bool is_variance(Taking& taking, DraftId value, const Taking::Reduced& mean) {
    const std::optional<Taking::Reduced> squares = taking.mean(value);
    const DraftEntry* const square = squares ? taking.made_by(squares->of, "mul") : nullptr;
    if (square == nullptr || square->operands[0] != square->operands[1] || squares->dims != mean.dims) return false;
    const DraftEntry* const centered = taking.made_by(square->operands[0], "sub");
    if (centered == nullptr || centered->operands[0] != mean.of) return false;
    const std::optional<Taking::Reduced> again = taking.mean(centered->operands[1]);
    return again && again->of == mean.of && again->dims == mean.dims;
}

// x * f + (bias - mean * f), where f = rsqrt(variance + eps) * scale: as keras writes it.
std::optional<Composite> distributed(Taking& taking, const DraftEntry& root) {
    const Draft& draft = taking.draft();
    for (size_t choice = 0; choice < 16; ++choice) {
        const auto pick = [choice](size_t bit) { return choice >> bit & 1; };
        const size_t mark = taking.mark();
        const auto attempt = [&]() -> std::optional<Composite> {
            const DraftEntry* const scaled = taking.made_by(root.operands[pick(0)], "mul");
            const DraftEntry* const rest = taking.made_by(root.operands[1 - pick(0)], "add");
            if (scaled == nullptr || rest == nullptr) return std::nullopt;
            const DraftId x = scaled->operands[pick(1)], factor = scaled->operands[1 - pick(1)];
            const DraftEntry* const shift = taking.made_by(rest->operands[pick(2)], "mul");
            const DraftEntry* const product = taking.made_by(factor, "mul");
            const std::optional<DraftId> other = shift == nullptr ? std::nullopt : taking.beside(*shift, factor);
            const DraftEntry* const negated = other ? taking.made_by(*other, "neg") : nullptr;
            if (product == nullptr || negated == nullptr) return std::nullopt;
            const std::optional<Taking::Reduced> mean = taking.mean(negated->operands[0]);
            Norm norm;
            const std::optional<DraftId> variance = take_root(taking, product->operands[pick(3)], norm);
            if (!mean || mean->of != x || !variance || !is_variance(taking, *variance, *mean) ||
                !taking.broadcasts_against(*variance, *mean))
                return std::nullopt;
            norm.is_layer_norm = true;
            norm.x = x;
            norm.dims = mean->dims;
            const DraftId scale = product->operands[1 - pick(3)], bias = rest->operands[1 - pick(2)];
            if (!is_scale(draft, scale, norm) || !is_scale(draft, bias, norm)) return std::nullopt;
            return composite_of(draft, norm, {scale, bias});
        };
        if (std::optional<Composite> found = attempt()) return found;
        taking.back_to(mark);
    }
    return std::nullopt;
}

// What is repeated for each channel of a group: of (batch, 1, 1, groups * channels) the (batch, groups).
std::optional<DraftId> take_by_group(Taking& taking, DraftId value, const Shape& of) {
    const Draft& draft = taking.draft();
    Shape whole(of.size(), 1);
    whole.front() = of.front();
    whole.back() = of.back();
    DraftId inner = value;
    while (const DraftEntry* const reshape = taking.made_by(inner, "reshape")) inner = reshape->operands[0];
    const DraftEntry* const repeated = taking.made_by(inner, "broadcast");
    if (repeated == nullptr || draft.type(value).shape != whole || !repeated->arguments.ends_with(", dims: [0, 1]"))
        return std::nullopt;
    const Shape &shape = draft.type(inner).shape, &by_group = draft.type(repeated->operands[0]).shape;
    const bool fits = shape.size() == 3 && by_group == Shape{shape[0], shape[1]} && shape[0] == whole.front() &&
                      shape[1] * shape[2] == whole.back();
    return fits ? std::optional<DraftId>(repeated->operands[0]) : std::nullopt;
}

// (x - mean) * (rsqrt(variance + eps) * scale) by groups of channels, as Flax has GroupNorm: a layer norm of x with its
// channels as (groups, channels), over all dims but those of the batch and of groups.
std::optional<Composite> group_norm(Taking& taking, const DraftEntry& root) {
    const Draft& draft = taking.draft();
    for (size_t choice = 0; choice < 4; ++choice) {
        const size_t mark = taking.mark(), i = choice & 1, j = choice >> 1;
        const auto attempt = [&]() -> std::optional<Composite> {
            const DraftEntry* const centered = taking.made_by(root.operands[i], "sub");
            const DraftEntry* const factor = taking.made_by(root.operands[1 - i], "mul");
            if (centered == nullptr || factor == nullptr) return std::nullopt;
            const DraftId x = centered->operands[0], scale = factor->operands[1 - j];
            const DraftType type = draft.type(x);
            Norm norm{true, true, x, {}, 0};
            const std::optional<DraftId> root_of = take_root(taking, factor->operands[j], norm);
            if (!root_of || type.shape.size() < 2 || draft[scale].number ||
                draft.type(scale) != DraftType{type.dtype, {type.shape.back()}})
                return std::nullopt;
            const std::optional<DraftId> mean = take_by_group(taking, centered->operands[1], type.shape),
                                         variance = take_by_group(taking, *root_of, type.shape);
            const auto of = mean ? take_mean(taking, *mean) : std::nullopt;
            const DraftEntry* const split = of && variance ? taking.made_by(of->first, "reshape") : nullptr;
            if (split == nullptr || split->operands[0] != x) return std::nullopt;
            Shape groups = type.shape;
            groups.back() = draft.type(*mean).shape[1];
            groups.push_back(type.shape.back() / groups.back());
            for (i64 dim = 1; dim < std::ssize(groups); ++dim)
                if (dim != std::ssize(groups) - 2) norm.dims.push_back(dim);
            if (draft.type(of->first).shape != groups || !take_fast_variance(taking, *variance, of->first, norm))
                return std::nullopt;
            const DraftType by_group{type.dtype, groups};
            norm.x = of->first;
            const std::string arguments = composite_of(draft, norm, {}).arguments;
            return Composite{"mul",
                             {of_step(2), scale},
                             {},
                             {{"reshape", {}, {x}, fmt::format(", shape: {}", list_text(groups)), by_group},
                              {"layer_norm", {}, {of_step(0)}, arguments, by_group},
                              {"reshape", {}, {of_step(1)}, fmt::format(", shape: {}", list_text(type.shape)), type}}};
        };
        if (std::optional<Composite> found = attempt()) return found;
        taking.back_to(mark);
    }
    return std::nullopt;
}

// What has been recognised already, times a scale, or plus a bias.
std::optional<Composite> with_operand(Taking& taking, const DraftEntry& root, size_t operands) {
    for (const std::string_view op : {"layer_norm", "rms_norm"})
        for (const size_t i : {size_t{0}, size_t{1}}) {
            const size_t mark = taking.mark();
            const DraftEntry* const norm = taking.made_by(root.operands[i], op);
            if (norm != nullptr && norm->operands.size() == operands && (operands == 1 || op == "layer_norm") &&
                norm->arguments.find("dim:") == std::string::npos) {
                const DraftId x = norm->operands[0], other = root.operands[1 - i];
                if (is_scale(taking.draft(), other,
                             {true, false, x, {std::ssize(taking.draft().type(x).shape) - 1}, 0})) {
                    std::vector<DraftId> all = norm->operands;
                    all.push_back(other);
                    return Composite{std::string(op), all, norm->arguments};
                }
            }
            taking.back_to(mark);
        }
    return std::nullopt;
}

std::optional<Composite> with_scale(Taking& taking, const DraftEntry& root) { return with_operand(taking, root, 1); }
std::optional<Composite> with_bias(Taking& taking, const DraftEntry& root) { return with_operand(taking, root, 2); }

} // namespace

std::vector<CompositeForm> norm_forms() {
    return {{"mul", plain},      {"mul", scaled_root}, {"mul", scaled_value}, {"mul", group_norm},
            {"mul", with_scale}, {"add", with_bias},   {"add", distributed}};
}

} // namespace shard
