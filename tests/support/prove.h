// The proof that every plan of a test must pass: it is printed and parsed back, and so is the graph after each pass on
// the way to it, run, and compared with the one-device plan, with the independent interpreter, and with what it
// promised about bytes and memory.
#pragma once

#include "executor/run/run.h"
#include "planner/pipeline/pipeline.h"

namespace shard {

struct ProofOptions {
    int workers = 0;
    std::string mode = "forward";
    int steps = 1;           // of a train plan; states, parameters and the scalars of every step are compared
    bool interpreter = true; // slow: only for small models
    // Inputs in -2..2 instead of the initializers' values: then every result must be equal exactly.
    bool small_integers = false;
    std::uint32_t seed = 1;
    // What can be split behind a sum is (planner/partition/spread.h), faster or not; counts the plans with such values.
    int* spread = nullptr;
    // Products lie as their weights (planner/pipeline/products_as_weights.h), faster or not; counts likewise.
    int* as_weights = nullptr;
};

// What went wrong, one line each; empty if the plan is proved.
std::vector<std::string> prove(const std::string& model, const std::string& layout, const ProofOptions& options = {});

// The same for a compilation that is already there.
std::vector<std::string> prove(Sources& sources, const PlanRequest& request, const Compilation& compilation,
                               const ProofOptions& options);

std::string text_of(const Sources& sources, const Diagnostics& diagnostics);

// The graph as the model says it, of the ops that the interpreter knows: what rewrites it is judged by it.
Compilation compile_as_written(Sources& sources, PlanRequest request);

} // namespace shard
