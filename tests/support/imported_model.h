// A program of StableHLO as the model that `shardc import` makes of it.
#pragma once

#include "importer/program/import_program.h"

namespace shard {

// Arguments below `params` are parameters. Fails the test if the program is refused.
ImportedProgram imported_program(const std::string& text);
// One of tests/importer/program/programs.
std::string recorded_program(const std::string& name);

} // namespace shard
