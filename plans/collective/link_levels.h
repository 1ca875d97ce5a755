// Which links a group of devices crosses, level by level.
//
// Links of a profile go from inner to outer: a node's, then the network between nodes. The devices of a group that one
// link connects are a domain of it (`Link::devices`: a node of 8 GPUs); between domains the next link carries the
// bytes, and the devices of the group inside one domain share them, each with a part of its own.
//
// Devices are numbered by their position in the mesh, the last axis fastest, so the first 8 are one node. An axis that
// names its link (`{size: 4, link: dcn}`) crosses that one alone and takes no place in the numbering of the inner ones.
//
// Example: nodes of 8. mesh {gpu: 64} over gpu, and {node: 8, gpu: 8} over both: 8 devices over nvlink, then 8 nodes
// over the network with 8 devices inside each. {data: 16, model: 4} over data: 2 over nvlink (data's neighbours are 4
// apart, so 2 of them are in a node), then 8 nodes.
#pragma once

#include "plans/collective/hardware.h"

namespace shard {

// Where a mesh axis, or a part of one, crosses one link.
struct LinkLine {
    size_t link = 0; // index in the profile
    int axis = 0;
    i64 n = 1;         // coordinates along it; > 1
    i64 step = 1;      // of the axis's coordinate, between neighbours of this line
    i64 stride = 1;    // hops between neighbours: more than 1 where parts of the axis right of it are left out
    bool wrap = false; // the last is a neighbour of the first
};
// Innermost first.
std::vector<LinkLine> lines_of(const Mesh& mesh, const Hardware& hardware, const AxisRef& ref);

struct LinkLevel {
    const Link* link = nullptr;
    i64 n = 1;      // domains of the inner levels that take part; > 1
    i64 inside = 1; // devices of the group in one of them
    std::vector<LinkLine> lines;
};

// Innermost first; none for a group of one device.
std::vector<LinkLevel> levels_of(const Mesh& mesh, const Hardware& hardware, std::span<const AxisRef> axes);

} // namespace shard
