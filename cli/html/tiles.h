// A drawing of how an array is cut, of any rank: a box per dim, cut where its mesh axes cut it, in their colours, major
// above minor. The solid tile is what the first device holds.
#pragma once

#include "cli/html/markup.h"
#include "plans/plan/report.h"

namespace shard {

// An <svg> of the size that it returns.
DrawnSize draw_tiles(Markup& out, const Mesh& mesh, const TensorReport& tensor);

// The same as a box of its own for each dim, which go on a next line where a column is narrow.
void draw_wrapping_tiles(Markup& out, const Mesh& mesh, const TensorReport& tensor);

} // namespace shard
