// The file of `import --axes`: names of the dims of arguments, by patterns of their paths, as Flax's metadata has them.
//
//     params.**.kernel: [embed, mlp]
//     batch.tokens: [batch, length]
//     params.scale: [~]                 # no name
//
// `/` may stand for the dots of a path.
#pragma once

#include "importer/model/axis_names.h"

namespace shard {

// nullopt, with E0811 or what is wrong with the YAML, if it is something else.
std::optional<std::vector<GivenAxes>> read_axis_patterns(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
