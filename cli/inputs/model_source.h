// Models that are named on the command line: YAML as it is, and programs of StableHLO as the model that `import` makes
// of them.
#pragma once

#include "cli/terminal/env.h"
#include "importer/program/import_program.h"
#include "plans/diagnostics/diagnostic.h"

#include <string>
#include <vector>

namespace shard {

// A text that is no program is taken as it is. The model of a program is called as its file, with .yaml behind, and
// places in it are lines of what `import` prints. Programs come first in `sources`, so that places in them are right.
std::optional<int> load_model(Env& env, Sources& sources, const std::string& path, Diagnostics& diagnostics);

// Parameters are what one of the patterns matches: their whole path, or its first part (params of params.w1). Of no
// patterns: params.
ImportRequest import_request(const std::vector<std::string>& patterns);

} // namespace shard
