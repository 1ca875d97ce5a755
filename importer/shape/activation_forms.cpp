#include "importer/shape/activation_forms.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

// x * x * x
bool is_cube(Taking& taking, DraftId value, DraftId x) {
    const DraftEntry* const cube = taking.made_by(value, "mul");
    const std::optional<DraftId> rest = cube == nullptr ? std::nullopt : taking.beside(*cube, x);
    const DraftEntry* const square = rest ? taking.made_by(*rest, "mul") : nullptr;
    return square != nullptr && square->operands[0] == x && square->operands[1] == x;
}

// 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x))
bool is_gate(Taking& taking, DraftId value, DraftId x) {
    const DraftEntry* const sum = taking.made_by(value, "add");
    const std::optional<DraftId> of_one = sum == nullptr ? std::nullopt : taking.beside_number(*sum, 1);
    const DraftEntry* const tanh = of_one ? taking.made_by(*of_one, "tanh") : nullptr;
    const DraftEntry* const scaled = tanh == nullptr ? nullptr : taking.made_by(tanh->operands[0], "mul");
    constexpr double pi = 3.14159265358979323846;
    const std::optional<DraftId> inner =
        scaled == nullptr ? std::nullopt : taking.beside_number(*scaled, std::sqrt(2 / pi));
    const DraftEntry* const cubic = inner ? taking.made_by(*inner, "add") : nullptr;
    const std::optional<DraftId> rest = cubic == nullptr ? std::nullopt : taking.beside(*cubic, x);
    const DraftEntry* const small = rest ? taking.made_by(*rest, "mul") : nullptr;
    const std::optional<DraftId> cube = small == nullptr ? std::nullopt : taking.beside_number(*small, 0.044715);
    return cube && is_cube(taking, *cube, x);
}

// x * (0.5 * gate), or (0.5 * x) * gate
std::optional<Composite> gelu(Taking& taking, const DraftEntry& root) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const size_t mark = taking.mark();
        const DraftEntry* const half = taking.made_by(root.operands[1 - i], "mul");
        const std::optional<DraftId> halved = half == nullptr ? std::nullopt : taking.beside_number(*half, 0.5);
        if (halved && is_gate(taking, *halved, root.operands[i])) return Composite{"gelu", {root.operands[i]}, {}};
        taking.back_to(mark);
        const DraftEntry* const half_x = taking.made_by(root.operands[i], "mul");
        const std::optional<DraftId> x = half_x == nullptr ? std::nullopt : taking.beside_number(*half_x, 0.5);
        if (x && is_gate(taking, root.operands[1 - i], *x)) return Composite{"gelu", {*x}, {}};
        taking.back_to(mark);
    }
    return std::nullopt;
}

// (0.5 * x) * erfc(-x * sqrt(0.5))
std::optional<Composite> exact_gelu(Taking& taking, const DraftEntry& root) {
    const auto gated_by = [&](DraftId gate) -> std::optional<DraftId> {
        const DraftEntry* const erfc = taking.made_by(gate, "erfc");
        const DraftEntry* const scaled = erfc == nullptr ? nullptr : taking.made_by(erfc->operands[0], "mul");
        const std::optional<DraftId> minus =
            scaled == nullptr ? std::nullopt : taking.beside_number(*scaled, std::sqrt(0.5));
        const DraftEntry* const negated = minus ? taking.made_by(*minus, "neg") : nullptr;
        return negated == nullptr ? std::nullopt : std::optional<DraftId>(negated->operands[0]);
    };
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const size_t mark = taking.mark();
        const DraftEntry* const half_x = taking.made_by(root.operands[i], "mul");
        const std::optional<DraftId> x = half_x == nullptr ? std::nullopt : taking.beside_number(*half_x, 0.5);
        if (x && gated_by(root.operands[1 - i]) == x) return Composite{"gelu", {*x}, ", approximate: false"};
        taking.back_to(mark);
    }
    return std::nullopt;
}

// 1 / (1 + exp(-x)), and x / (1 + exp(-x))
std::optional<Composite> logistic(Taking& taking, const DraftEntry& root) {
    const DraftEntry* const sum = taking.made_by(root.operands[1], "add");
    const std::optional<DraftId> of_one = sum == nullptr ? std::nullopt : taking.beside_number(*sum, 1);
    const DraftEntry* const exp = of_one ? taking.made_by(*of_one, "exp") : nullptr;
    const DraftEntry* const negated = exp == nullptr ? nullptr : taking.made_by(exp->operands[0], "neg");
    if (negated == nullptr) return std::nullopt;
    const DraftId x = negated->operands[0];
    if (root.operands[0] == x) return Composite{"silu", {x}, {}};
    return taking.is_number(root.operands[0], 1) ? std::optional<Composite>({"logistic", {x}, {}}) : std::nullopt;
}

std::optional<Composite> silu(Taking& taking, const DraftEntry& root) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const size_t mark = taking.mark();
        const DraftEntry* const gate = taking.made_by(root.operands[1 - i], "logistic");
        if (gate != nullptr && gate->operands[0] == root.operands[i]) return Composite{"silu", {root.operands[i]}, {}};
        taking.back_to(mark);
    }
    return std::nullopt;
}

// max(a, b) + log1p(exp(-|a - b|)), chosen where a - b is a number; where it is none, a + b. Of b = 0, a softplus.
std::optional<Composite> logaddexp(Taking& taking, const DraftEntry& root) {
    const DraftEntry* const no_number = taking.made_by(root.operands[0], "ne");
    const DraftEntry* const whole = taking.made_by(root.operands[2], "add");
    if (no_number == nullptr || whole == nullptr || no_number->operands[0] != no_number->operands[1])
        return std::nullopt;
    const DraftId apart = no_number->operands[0];
    const DraftEntry* const largest = taking.made_by(whole->operands[0], "max");
    const DraftEntry* const log = taking.made_by(whole->operands[1], "log1p");
    const DraftEntry* const exp = log == nullptr ? nullptr : taking.made_by(log->operands[0], "exp");
    const DraftEntry* const minus = exp == nullptr ? nullptr : taking.made_by(exp->operands[0], "neg");
    const DraftEntry* const size = minus == nullptr ? nullptr : taking.made_by(minus->operands[0], "abs");
    if (largest == nullptr || size == nullptr || size->operands[0] != apart) return std::nullopt;
    if (root.operands[1] == apart && largest->operands[0] == apart && taking.is_number(largest->operands[1], 0))
        return Composite{"softplus", {apart}, {}};
    const DraftEntry* const sum = taking.made_by(root.operands[1], "add");
    const DraftEntry* const difference = taking.made_by(apart, "sub");
    const Draft& draft = taking.draft();
    if (sum == nullptr || difference == nullptr || difference->operands != sum->operands ||
        difference->operands != largest->operands || draft[sum->operands[0]].number || draft[sum->operands[1]].number)
        return std::nullopt;
    return Composite{"logaddexp", sum->operands, {}};
}

// cast(x[..., None] == 0, 1, 2, ...)
std::optional<Composite> one_hot(Taking& taking, const DraftEntry& root) {
    const DraftEntry* const equal = taking.made_by(root.operands[0], "eq");
    if (equal == nullptr) return std::nullopt;
    const Draft& draft = taking.draft();
    const Shape& shape = draft.type(root.results[0]).shape;
    for (const size_t i : {size_t{0}, size_t{1}}) {
        const DraftId classes = equal->operands[1 - i];
        const DraftEntry* const column = draft.entry_of(equal->operands[i]);
        if (!draft[classes].is_count || draft.type(classes).shape.size() != 1 || column == nullptr ||
            column->op != "reshape" || shape.empty() || draft.type(classes).shape[0] != shape.back())
            continue;
        Shape rows(shape.begin(), shape.end() - 1);
        const DraftId labels = column->operands[0];
        Shape with_one = rows;
        with_one.push_back(1);
        if (draft.type(labels).shape != rows || draft.type(equal->operands[i]).shape != with_one) continue;
        taking.made_by(equal->operands[i], "reshape");
        std::string arguments = fmt::format(", size: {}", shape.back());
        if (const DType dtype = draft.type(root.results[0]).dtype; dtype != DType::f32)
            arguments += fmt::format(", dtype: {}", name(dtype));
        return Composite{"one_hot", {labels}, arguments};
    }
    return std::nullopt;
}

} // namespace

std::vector<CompositeForm> activation_forms() {
    return {{"mul", gelu}, {"mul", exact_gelu},   {"div", logistic},
            {"mul", silu}, {"select", logaddexp}, {"cast", one_hot}};
}

} // namespace shard
