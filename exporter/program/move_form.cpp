#include "exporter/program/move_form.h"

#include <algorithm>

namespace shard {

namespace {

bool is_one(i64 stride) { return stride == 1; }

} // namespace

bool all_constant(std::span<const Affine> starts) {
    return std::all_of(starts.begin(), starts.end(), [](const Affine& start) { return start.is_constant(); });
}

MoveWay MoveForm::way() const {
    if (move_.flat) return MoveWay::reshape;
    if (!all_read_inside()) return MoveWay::one_by_one;
    const bool alone = move_.pieces.size() == 1;
    if (alone && is_whole(move_.pieces[0])) return MoveWay::box;
    if (concatenated()) return MoveWay::concatenation;
    return alone && is_padding(move_.pieces[0]) ? MoveWay::padding : MoveWay::one_by_one;
}

bool MoveForm::transposes() const { return !std::is_sorted(move_.permutation.begin(), move_.permutation.end()); }

bool MoveForm::inside(const Affine& start, i64 stride, i64 extent, i64 size) const {
    const std::optional<Range> range = range_of(scope_, start);
    const i64 reach = stride * (extent - 1);
    return range && range->low + std::min<i64>(0, reach) >= 0 && range->high + std::max<i64>(0, reach) < size;
}

bool MoveForm::reads_inside_operand(const MovePiece& piece) const {
    for (size_t d = 0; d < result_.size(); ++d) {
        const size_t k = operand_dim(d);
        if (!inside(piece.in_start[k], piece.in_stride[k], piece.extent[d],
                    operands_[static_cast<size_t>(piece.operand)].shape[k]))
            return false;
    }
    return true;
}

bool MoveForm::all_read_inside() const {
    return std::all_of(move_.pieces.begin(), move_.pieces.end(),
                       [this](const MovePiece& piece) { return reads_inside_operand(piece); });
}

bool MoveForm::writes_inside_result(const MovePiece& piece) const {
    for (size_t d = 0; d < result_.size(); ++d)
        if (!inside(piece.out_start[d], piece.out_stride[d], piece.extent[d], result_[d])) return false;
    return true;
}

bool MoveForm::is_whole(const MovePiece& piece) const {
    return piece.extent == result_ && is_packed(piece) &&
           std::all_of(piece.out_start.begin(), piece.out_start.end(),
                       [](const Affine& start) { return start.is_constant() && start.constant == 0; });
}

bool MoveForm::is_padding(const MovePiece& piece) const {
    return all_constant(piece.out_start) && writes_inside_result(piece) &&
           std::all_of(piece.out_stride.begin(), piece.out_stride.end(), [](i64 stride) { return stride >= 1; });
}

bool MoveForm::is_packed(const MovePiece& piece) const {
    return std::all_of(piece.out_stride.begin(), piece.out_stride.end(), is_one);
}

std::optional<size_t> MoveForm::concatenated() const {
    if (move_.pieces.size() < 2) return std::nullopt;
    for (size_t d = 0; d < result_.size(); ++d) {
        i64 at = 0;
        bool fits = true;
        for (const MovePiece& piece : move_.pieces) {
            fits = fits && is_packed(piece);
            for (size_t e = 0; e < result_.size(); ++e)
                fits = fits && piece.out_start[e].is_constant() && piece.out_start[e].constant == (e == d ? at : 0) &&
                       (e == d || piece.extent[e] == result_[e]);
            at += piece.extent[d];
        }
        if (fits && at == result_[d]) return d;
    }
    return std::nullopt;
}

MoveBox MoveForm::box(const MovePiece& piece) const {
    MoveBox made{piece.in_start, Shape(result_.size()), Shape(result_.size())};
    for (size_t d = 0; d < result_.size(); ++d) made.extent[operand_dim(d)] = piece.extent[d];
    for (size_t k = 0; k < result_.size(); ++k) {
        const i64 reach = piece.in_stride[k] * (made.extent[k] - 1);
        made.low[k].constant += std::min<i64>(0, reach);
        made.reach[k] = std::abs(reach) + 1;
    }
    return made;
}

} // namespace shard
