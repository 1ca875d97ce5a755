// The file of `export --names`: what a training job calls the arrays of a plan, as `import --names` writes it.
//
//     params.params.Dense_0.kernel: block.0.Dense_0_kernel
#pragma once

#include "exporter/target/target.h"

namespace shard {

// nullopt, with E0715 or what is wrong with the YAML, if it is something else or names what the plan lacks.
std::optional<JobNames> read_job_names(const Sources& sources, int file, const Plan& plan, Diagnostics& diagnostics);

} // namespace shard
