// Boxes of a move as the attribute of an op: whole values, so that every start is a number.
#pragma once

#include "planner/graph/attributes.h"
#include "plans/kernel/kernel.h"

#include <optional>

namespace shard {

// Attribute `pieces`: of each box its operand, then along each dim in_start, in_stride, out_start, out_stride, extent.
std::vector<i64> written_pieces(std::span<const MovePiece> pieces);
// nullopt if there is none, or it is of values of another rank.
std::optional<std::vector<MovePiece>> read_pieces(const Attributes& attributes, size_t rank);

// A piece that copies all of a dim of this size to where it is.
bool stays_along(const MovePiece& piece, size_t d, i64 size);

} // namespace shard
