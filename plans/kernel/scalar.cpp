#include "plans/kernel/scalar.h"

namespace shard {

namespace {

struct ScalarOpInfo {
    ScalarOp op;
    std::string_view name;
    int arity;
};

// In the order of the enum, so that a lookup by op is an index.
constexpr ScalarOpInfo ops[] = {
    {ScalarOp::input, "input", 0},
    {ScalarOp::constant, "constant", 0},
    {ScalarOp::index, "index", 0},
    {ScalarOp::cast, "cast", 1},
    {ScalarOp::neg, "neg", 1},
    {ScalarOp::abs, "abs", 1},
    {ScalarOp::sign, "sign", 1},
    {ScalarOp::exp, "exp", 1},
    {ScalarOp::expm1, "expm1", 1},
    {ScalarOp::log, "log", 1},
    {ScalarOp::log1p, "log1p", 1},
    {ScalarOp::sqrt, "sqrt", 1},
    {ScalarOp::rsqrt, "rsqrt", 1},
    {ScalarOp::sin, "sin", 1},
    {ScalarOp::cos, "cos", 1},
    {ScalarOp::tanh, "tanh", 1},
    {ScalarOp::logistic, "logistic", 1},
    {ScalarOp::erf, "erf", 1},
    {ScalarOp::floor, "floor", 1},
    {ScalarOp::ceil, "ceil", 1},
    {ScalarOp::round, "round", 1},
    {ScalarOp::is_finite, "is_finite", 1},
    {ScalarOp::logical_not, "logical_not", 1},
    {ScalarOp::add, "add", 2},
    {ScalarOp::sub, "sub", 2},
    {ScalarOp::mul, "mul", 2},
    {ScalarOp::div, "div", 2},
    {ScalarOp::rem, "rem", 2},
    {ScalarOp::pow, "pow", 2},
    {ScalarOp::max, "max", 2},
    {ScalarOp::min, "min", 2},
    {ScalarOp::atan2, "atan2", 2},
    {ScalarOp::logical_and, "logical_and", 2},
    {ScalarOp::logical_or, "logical_or", 2},
    {ScalarOp::eq, "eq", 2},
    {ScalarOp::ne, "ne", 2},
    {ScalarOp::lt, "lt", 2},
    {ScalarOp::le, "le", 2},
    {ScalarOp::gt, "gt", 2},
    {ScalarOp::ge, "ge", 2},
    {ScalarOp::select, "select", 3},
    {ScalarOp::fold_in_0, "fold_in_0", 3},
    {ScalarOp::fold_in_1, "fold_in_1", 3},
};

constexpr bool in_enum_order() {
    int expected = 0;
    for (const ScalarOpInfo& entry : ops)
        if (static_cast<int>(entry.op) != expected++) return false;
    return expected == static_cast<int>(ScalarOp::fold_in_1) + 1;
}
static_assert(in_enum_order());

} // namespace

std::string_view name(ScalarOp op) { return ops[static_cast<size_t>(op)].name; }
int arity(ScalarOp op) { return ops[static_cast<size_t>(op)].arity; }

std::optional<ScalarOp> parse_scalar_op(std::string_view text) {
    for (const ScalarOpInfo& entry : ops)
        if (entry.name == text) return entry.op;
    return std::nullopt;
}

} // namespace shard
