#include "plans/kernel/scalar.h"

#include "instruction_headers.inc"

#include <algorithm>

namespace shard {

namespace {

struct ScalarOpInfo {
    ScalarOp op;
    std::string_view name;
    int arity;
    ScalarTypes types; // said by who takes operands; casts have none
};

// In the order of the enum, so that a lookup by op is an index.
constexpr ScalarOpInfo infos[] = {
    {ScalarOp::input, "input", 0, ScalarTypes::same},     {ScalarOp::constant, "constant", 0, ScalarTypes::same},
    {ScalarOp::index, "index", 0, ScalarTypes::same},     {ScalarOp::cast, "cast", 1, ScalarTypes::same},
    {ScalarOp::bitcast, "bitcast", 1, ScalarTypes::same},
#define REGISTER(stem)                                                                                                 \
    {ScalarOp::stem, #stem, Instruction<ScalarOp::stem>::operands, Instruction<ScalarOp::stem>::types},
#include "instruction_registry.inc"
#undef REGISTER
};

const ScalarOpInfo& info(ScalarOp op) { return infos[static_cast<size_t>(op)]; }

} // namespace

std::span<const ScalarOp> scalar_ops() {
    static const std::vector<ScalarOp> all = [] {
        std::vector<ScalarOp> ops;
        for (const ScalarOpInfo& entry : infos) ops.push_back(entry.op);
        return ops;
    }();
    return all;
}

std::string_view name(ScalarOp op) { return info(op).name; }
int arity(ScalarOp op) { return info(op).arity; }

std::optional<ScalarOp> parse_scalar_op(std::string_view text) {
    for (const ScalarOpInfo& entry : infos)
        if (entry.name == text) return entry.op;
    return std::nullopt;
}

bool types_fit(ScalarOp op, std::span<const DType> operands, DType result) {
    const auto are = [&operands](DType type) {
        return std::all_of(operands.begin(), operands.end(), [type](DType operand) { return operand == type; });
    };
    if (op == ScalarOp::cast) return true;
    if (op == ScalarOp::bitcast)
        return byte_size(operands[0]) == byte_size(result) && operands[0] != DType::boolean && result != DType::boolean;
    switch (info(op).types) {
    case ScalarTypes::same:
        return are(result);
    case ScalarTypes::floating:
        return are(result) && is_floating(result);
    case ScalarTypes::whole:
        return are(result) && is_integer(result);
    case ScalarTypes::test:
        return are(operands[0]) && result == DType::boolean;
    case ScalarTypes::choice:
        return operands[0] == DType::boolean && operands[1] == result && operands[2] == result;
    case ScalarTypes::words:
        return are(DType::u32) && result == DType::u32;
    }
    internal_error("unknown ScalarTypes");
}

} // namespace shard
