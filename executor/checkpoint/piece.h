// Tensors that are split over devices, in files. The block that a device writes is named by the range of every dim, as
// numpy would cut it out: "w1[0:1024,256:512]" is what rows 0 to 1024 and columns 256 to 512 of w1 hold. A tensor that
// is whole in one file has its own name.
#pragma once

#include "plans/sharding/type.h"

namespace shard {

// A box of elements.
struct Block {
    std::vector<i64> start;
    Shape shape;
    bool operator==(const Block&) const = default;
};

// The tensor's own name if the block is all of it.
std::string piece_name(std::string_view tensor, const Shape& whole, const Block& block);

struct PieceName {
    std::string tensor;
    std::optional<Block> block; // none: all of it
    bool operator==(const PieceName&) const = default;
};
// Any text is a name; one that does not end in ranges is a whole tensor's.
PieceName parse_piece_name(std::string_view text);

// The shape that the blocks fill, if they are the blocks of a grid: no gaps, no overlaps. At least one block; all have
// the same rank.
std::optional<Shape> shape_of_grid(std::span<const Block> blocks);

} // namespace shard
