// Reads the text of MLIR, pretty or generic, into a module. Errors are E0801 (not such a text), E0802 (beyond a limit);
// a module that is given back has all its values defined, and every op the operands and results that its types say.
//
// Pretty forms are not a grammar for each op: words, brackets, operands and attributes up to a colon, then types, then
// regions. So an op that nobody knows is read too, and said to be unknown by who asks what it means.
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

std::optional<MlirModule> read_mlir(const Sources& sources, int file, Diagnostics& diagnostics);

} // namespace shard
