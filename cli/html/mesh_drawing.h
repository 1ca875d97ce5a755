// The devices as they stand in the mesh: the last axis to the right, the one before it down, the others in blocks.
#pragma once

#include "cli/html/markup.h"
#include "plans/sharding/mesh.h"

namespace shard {

// An <svg> of the size that it returns.
DrawnSize draw_mesh(Markup& out, const Mesh& mesh);

} // namespace shard
