// Train steps one after the other: what a step returns for a parameter or state is what the next one reads.
#pragma once

#include "executor/formats/tensor.h"
#include "executor/run/run.h"
#include "planner/pipeline/pipeline.h"

namespace shard {

// Fails the test, and shows why, if it cannot be planned.
Plan train_plan(const std::string& model, const std::string& layout);
// The outputs of every step, as numbers. `inputs` are those that no step replaces.
using Numbers = std::vector<double>;
std::vector<std::map<std::string, Numbers>> run_steps(const Plan& plan, int steps,
                                                      std::map<std::string, Tensor> inputs = {});
// One output of every step, its first element.
Numbers series(const std::vector<std::map<std::string, Numbers>>& steps, const std::string& output);
// "all_reduce z over model 24576", one line a collective, sorted; bytes that a device sends.
std::string collectives_text(const Plan& plan);

std::string example(const std::string& path); // the text of a file below examples/

} // namespace shard
