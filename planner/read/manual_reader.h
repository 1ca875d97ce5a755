// The `manual:` entry of a graph as written.
//
//     - y:
//         manual:
//           mesh: [i, j]                     the axes that it is manual over; all of the mesh unless said
//           in: {x: [i, ~], w: [~, j]}       what the body reads: how it is split, one entry a dim, or ~ for not at all
//           out: {y: [i, j]}                 what the body makes, in the order of the entry's results
//           check: true                      of what `out` claims; true unless said
//           body: [...]                      a graph over local shapes
#pragma once

#include "planner/read/entry_context.h"

namespace shard {

// A value that enters or leaves the region.
struct ManualPort {
    Name name;                        // in the body
    Name of;                          // of `in`: the value outside; the same name unless `of` says otherwise
    std::optional<ShardingSpec> spec; // nullopt: not split, whatever its rank
};

// A region: what is in, what is out, and the entries between.
struct ManualDecl {
    std::optional<std::vector<Name>> mesh;
    std::vector<ManualPort> in, out;
    bool check = true;
    std::vector<Entry> body;
    Span span;
};

// nullopt after reporting.
std::optional<ManualDecl> read_manual(const Yaml& yaml, const EntryContext& context, Diagnostics& diagnostics);

} // namespace shard
