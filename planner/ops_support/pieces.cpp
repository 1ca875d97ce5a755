#include "planner/ops_support/pieces.h"

namespace shard {

namespace {

constexpr size_t numbers_per_dim = 5;

} // namespace

std::vector<i64> written_pieces(std::span<const MovePiece> pieces) {
    std::vector<i64> numbers;
    for (const MovePiece& piece : pieces) {
        numbers.push_back(piece.operand);
        for (size_t d = 0; d < piece.extent.size(); ++d)
            numbers.insert(numbers.end(), {piece.in_start[d].constant, piece.in_stride[d], piece.out_start[d].constant,
                                           piece.out_stride[d], piece.extent[d]});
    }
    return numbers;
}

std::optional<std::vector<MovePiece>> read_pieces(const Attributes& attributes, size_t rank) {
    const std::vector<i64>& numbers = attributes.integers("pieces");
    const size_t length = 1 + numbers_per_dim * rank;
    if (numbers.empty() || numbers.size() % length != 0) return std::nullopt;
    std::vector<MovePiece> pieces;
    for (std::vector<i64>::const_iterator at = numbers.begin(); at != numbers.end();) {
        MovePiece& piece = pieces.emplace_back();
        piece.operand = static_cast<int>(*at++);
        for (size_t d = 0; d < rank; ++d) {
            piece.in_start.push_back(constant(*at++));
            piece.in_stride.push_back(*at++);
            piece.out_start.push_back(constant(*at++));
            piece.out_stride.push_back(*at++);
            piece.extent.push_back(*at++);
        }
    }
    return pieces;
}

bool stays_along(const MovePiece& piece, size_t d, i64 size) {
    return piece.in_start[d] == Affine{} && piece.out_start[d] == Affine{} && piece.in_stride[d] == 1 &&
           piece.out_stride[d] == 1 && piece.extent[d] == size;
}

} // namespace shard
