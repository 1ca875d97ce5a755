// What a move is in terms of operations on whole arrays, for engines that have no copies of boxes: slices,
// transpositions, concatenations and paddings.
#pragma once

#include "exporter/program/local_program.h"
#include "plans/plan/plan_check_types.h"

namespace shard {

// What a piece reads, in the operand's dims: from `low` on `reach` elements, of which every |in_stride| is taken, and
// backwards where the stride is negative.
struct MoveBox {
    std::vector<Affine> low;
    Shape reach, extent;
};

// The first that fits.
enum class MoveWay {
    reshape,
    box,           // of the one piece, which is the whole result
    concatenation, // of the pieces' boxes, along the dim `concatenated`
    padding,       // of the one piece's box
    one_by_one     // the pieces are written over each other, and over the fill
};

class MoveForm {
public:
    // What it is given has to outlive it.
    MoveForm(const Move& move, std::span<const ProgramValue> operands, Shape result, AffineScope scope)
        : move_(move), operands_(operands), result_(std::move(result)), scope_(std::move(scope)) {}

    MoveWay way() const;

    // The rest is of moves that are not flat.
    size_t operand_dim(size_t d) const { // that dim d of the result runs along
        return move_.permutation.empty() ? d : static_cast<size_t>(move_.permutation[d]);
    }
    bool transposes() const;
    bool reads_inside_operand(const MovePiece& piece) const;
    bool writes_inside_result(const MovePiece& piece) const;
    bool is_whole(const MovePiece& piece) const;  // it writes the whole result
    bool is_packed(const MovePiece& piece) const; // it writes a box without gaps
    // The dim along which the pieces stand one behind the other and fill all others.
    std::optional<size_t> concatenated() const;
    MoveBox box(const MovePiece& piece) const; // of one that reads inside

private:
    bool all_read_inside() const;
    bool is_padding(const MovePiece& piece) const; // it writes places that are the same on all devices, in order
    bool inside(const Affine& start, i64 stride, i64 extent, i64 size) const;

    const Move& move_;
    std::span<const ProgramValue> operands_;
    Shape result_;
    AffineScope scope_;
};

bool all_constant(std::span<const Affine> starts); // no start differs between devices or trips

} // namespace shard
