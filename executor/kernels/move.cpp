#include "executor/kernels/move.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/generate.h"
#include "executor/kernels/kernels.h"
#include "plans/kernel/steps_inside.h"

#include <algorithm>
#include <cstring>

namespace shard {

namespace {

void copy_piece(const Move& move, const MovePiece& piece, const KernelCall& call) {
    const Operand& operand = call.inputs[piece.operand];
    if (operand.data == call.output.data) return; // in place: it stays
    const Shape &in = *operand.shape, &out = *call.output.shape;
    const std::vector<i64> in_strides = row_major_strides(in), out_strides = row_major_strides(out);
    std::vector<CopyDim> dims;
    i64 from = 0, to = 0;
    for (size_t d = 0; d < out.size(); ++d) {
        const size_t p = move.permutation.empty() ? d : move.permutation[d];
        const i64 in_start = evaluate(piece.in_start[p], call.context);
        const i64 out_start = evaluate(piece.out_start[d], call.context);
        StepRange range = {0, piece.extent[d]};
        range = steps_inside(range, out_start, piece.out_stride[d], out[d]);
        range = steps_inside(range, in_start, piece.in_stride[p], in[p]);
        if (range.low >= range.high) return;
        to += (out_start + piece.out_stride[d] * range.low) * out_strides[d];
        from += (in_start + piece.in_stride[p] * range.low) * in_strides[p];
        dims.push_back(
            {range.high - range.low, piece.out_stride[d] * out_strides[d], piece.in_stride[p] * in_strides[p]});
    }
    const i64 element = byte_size(call.output.dtype);
    copy_strided(call.output.data + to * element, operand.data + from * element, element, dims);
}

} // namespace

void fill_value(const Result& output, double value) {
    visit_dtype(output.dtype, [&](auto zero) {
        using T = decltype(zero);
        T* data = reinterpret_cast<T*>(output.data);
        std::fill(data, data + element_count(*output.shape), convert_value<T>(value));
    });
}

void run_move(const Move& kernel, const KernelCall& call) {
    for (const Operand& operand : call.inputs)
        internal_check(operand.dtype == call.output.dtype, "move: element types differ");
    if (kernel.flat) {
        internal_check(call.inputs.size() == 1 && call.inputs[0].type().bytes() == call.output.bytes(),
                       "move: a reshape keeps the elements");
        if (call.inputs[0].data != call.output.data)
            std::memcpy(call.output.data, call.inputs[0].data, call.output.bytes());
        return;
    }
    if (!kernel.covers) fill_value(call.output, kernel.fill);
    for (const MovePiece& piece : kernel.pieces) copy_piece(kernel, piece, call);
}

} // namespace shard
