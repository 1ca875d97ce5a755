// Between whole tensors in host memory and shards in arenas: inputs are scattered or generated in place, outputs
// assembled.
#pragma once

#include "executor/device.h"
#include "executor/executor.h"

namespace shard {

// True if every given input exists and has the type that the plan expects (f32 is taken for bf16, and rounded). E0602,
// E0603.
bool check_inputs(const Plan& plan, const std::map<std::string, Tensor>& inputs, Diagnostics& diagnostics);

// Writes all inputs' shards of one device: its part of the given tensor, or of what the initializer makes.
void write_inputs(const Plan& plan, const std::map<std::string, Tensor>& inputs, Device& device);

// Assembles the outputs, each block from the lowest position that holds it. If `compare_replicas`, the other devices
// with the same block must hold the same bits: false and E0604 if not.
bool read_outputs(const Plan& plan, std::span<const Device> devices, bool compare_replicas,
                  std::map<std::string, Tensor>& outputs, Diagnostics& diagnostics);

} // namespace shard
