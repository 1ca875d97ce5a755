#include "exporter/stablehlo/hlo_pointwise.h"

#include "exporter/program/spelling_of.h"
#include "exporter/stablehlo/hlo_random.h"

namespace shard {

namespace {

HloValue index(const ScalarStep& step, const Shape& shape, HloBody& body) {
    HloOps& ops = body.ops();
    const DType counted = is_integer(step.dtype) ? step.dtype : DType::i64;
    HloValue place = ops.iota(step.args[0], counted, shape);
    if (!step.start.is_constant() || step.start.constant != 0)
        place =
            ops.pointwise("stablehlo.add", {place, ops.filled(ops.convert(body.affine(step.start), counted), shape)});
    return ops.convert(place, step.dtype);
}

std::string_view spelling_for(const ScalarStep& step) {
    const Spelling& spelling = spelling_of(step.op);
    const bool differs = !spelling.stablehlo_of_unsigned.empty() && !is_signed(step.dtype);
    return differs ? spelling.stablehlo_of_unsigned : spelling.stablehlo;
}

} // namespace

HloValue hlo_pointwise(const Pointwise& kernel, const HloValues& inputs, const HloValue& output, HloBody& body) {
    HloOps& ops = body.ops();
    HloValues made;
    for (const ScalarStep& step : kernel.steps) {
        if (step.op == ScalarOp::input) {
            const size_t n = static_cast<size_t>(step.args[0]);
            const std::vector<i64> dims(kernel.input_dims[n].begin(), kernel.input_dims[n].end());
            made.push_back(ops.broadcast(inputs[n], dims, output.shape));
            continue;
        }
        if (step.op == ScalarOp::constant) {
            made.push_back(ops.constant(step.value, step.dtype, output.shape));
            continue;
        }
        if (step.op == ScalarOp::index) {
            made.push_back(index(step, output.shape, body));
            continue;
        }
        HloValues operands;
        for (int a = 0; a < arity(step.op); ++a)
            operands.push_back(made[static_cast<size_t>(step.args[static_cast<size_t>(a)])]);
        if (step.op == ScalarOp::cast)
            made.push_back(ops.convert(operands[0], step.dtype));
        else if (step.op == ScalarOp::bitcast)
            made.push_back(ops.bitcast(operands[0], step.dtype));
        else if (step.op == ScalarOp::fold_in_0 || step.op == ScalarOp::fold_in_1)
            made.push_back(hlo_fold_in({operands[0], operands[1]}, operands[2], ops)[step.op == ScalarOp::fold_in_1]);
        else
            made.push_back(ops.pointwise(spelling_for(step), operands, step.dtype));
    }
    return made.back();
}

} // namespace shard
