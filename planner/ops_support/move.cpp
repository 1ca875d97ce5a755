#include "planner/ops_support/move.h"

namespace shard {

MovePiece whole_piece(int operand, const Shape& extent) {
    MovePiece piece;
    piece.operand = operand;
    piece.in_start.resize(extent.size());
    piece.in_stride.assign(extent.size(), 1);
    piece.out_start.resize(extent.size());
    piece.out_stride.assign(extent.size(), 1);
    piece.extent = extent;
    return piece;
}

Move copy_kernel(const TensorType& local) {
    Move move;
    move.pieces.push_back(whole_piece(0, local.shape));
    return move;
}

Move flat_kernel() {
    Move move;
    move.flat = true;
    return move;
}

} // namespace shard
