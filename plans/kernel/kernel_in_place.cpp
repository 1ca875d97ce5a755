#include "plans/kernel/kernel_in_place.h"

#include <algorithm>

namespace shard {

namespace {

// Every piece of the operand stays where it is; others may be written over it afterwards.
bool stays(const Move& move, size_t input, const TensorType& input_type, const TensorType& output) {
    if (move.flat || !move.permutation.empty() || !move.covers || input_type.shape != output.shape) return false;
    const auto is_zero = [](const Affine& start) { return start.is_constant() && start.constant == 0; };
    const auto is_one = [](i64 stride) { return stride == 1; };
    for (size_t p = 0; p < move.pieces.size(); ++p) {
        const MovePiece& piece = move.pieces[p];
        if (piece.operand != static_cast<int>(input)) continue;
        const bool whole = p == 0 && piece.extent == output.shape &&
                           std::all_of(piece.in_start.begin(), piece.in_start.end(), is_zero) &&
                           std::all_of(piece.out_start.begin(), piece.out_start.end(), is_zero) &&
                           std::all_of(piece.in_stride.begin(), piece.in_stride.end(), is_one) &&
                           std::all_of(piece.out_stride.begin(), piece.out_stride.end(), is_one);
        if (!whole) return false;
    }
    return true;
}

} // namespace

bool can_run_in_place(const Kernel& kernel, size_t input, const TensorType& input_type, const TensorType& output) {
    if (const Move* move = std::get_if<Move>(&kernel)) return stays(*move, input, input_type, output);
    if (std::holds_alternative<Scan>(kernel))
        return input_type.dtype == output.dtype && input_type.shape == output.shape;
    const Pointwise* pointwise = std::get_if<Pointwise>(&kernel);
    if (pointwise == nullptr || byte_size(input_type.dtype) != byte_size(output.dtype)) return false;
    // The dims of the output in order, those that the input lacks being 1: then both run through their elements alike.
    const std::vector<int>& dims = pointwise->input_dims[input];
    size_t next = 0;
    for (int d = 0; d < output.rank(); ++d) {
        const i64 size = output.shape[d];
        if (next < dims.size() && dims[next] == d) {
            if (input_type.shape[next] != size) return false;
            ++next;
        } else if (size != 1) {
            return false;
        }
    }
    return next == dims.size();
}

} // namespace shard
