// Of a step: which arguments are given up to it (jax.jit's donate_argnums), and which results are what they hold next.
#pragma once

#include "importer/mlir/mlir_module.h"
#include "importer/model/draft.h"

namespace shard {

// What is known of an argument or a result: its path, "opt_state.0.mu.w", "result.1.0.mu.w", and its type.
struct ProgramArray {
    std::string path;
    DraftType type;
};

bool donates(const MlirFunction& main);
// By result, the argument that it replaces; -1: none. The result of an argument's path and type comes first; the
// program's own pairs (tf.aliasing_output) are those of the bytes, which XLA chooses by size.
std::vector<int> replaced_arguments(const MlirFunction& main, const std::vector<ProgramArray>& arguments,
                                    const std::vector<ProgramArray>& results);

// By result, the first argument of its type that stands in its own tree where the result does: params.w, and result.1.w.
// -1: none.
std::vector<int> at_places_of(const std::vector<ProgramArray>& arguments, const std::vector<ProgramArray>& results);

} // namespace shard
