// Between whole tensors in host memory and shards in arenas: inputs are scattered or generated in place, outputs
// assembled.
#pragma once

#include "executor/devices/device.h"
#include "executor/formats/tensor.h"
#include "executor/run/run.h"

namespace shard {

// Writes all inputs' shards of one device: its part of the given tensor, of the checkpoint's, or of what the
// initializer makes. False with a problem if the checkpoint cannot be read.
bool write_inputs(const Plan& plan, const RunOptions& options, Device& device, std::string& problem);
// The same of the inputs that change from step to step.
void write_data(const Plan& plan, const std::map<std::string, Tensor>& data, i64 step, Device& device);

// Assembles a buffer from the lowest positions that hold its blocks. If `compare_replicas`, the other devices with the
// same block must hold the same bits: false and E0604 if not.
bool read_buffer(const Plan& plan, std::span<const Device> devices, bool compare_replicas, int buffer, Tensor& tensor,
                 Diagnostics& diagnostics);
// E0604, of two positions.
void report_difference(const Plan& plan, const Buffer& buffer, i64 one, i64 other, Diagnostics& diagnostics);
// The values of all outputs of one element that update nothing.
std::map<std::string, double> read_scalars(const Plan& plan, const Device& device);
// All outputs. E0604 for the first of which copies differ.
bool read_outputs(const Plan& plan, std::span<const Device> devices, std::map<std::string, Tensor>& outputs,
                  Diagnostics& diagnostics);

} // namespace shard
