// Arrays as .npy files; bf16, which numpy lacks, as f32. False after E0607.
#pragma once

#include "executor/formats/tensor.h"
#include "plans/diagnostics/diagnostic.h"

#include <string>

namespace shard {

// Of the file.
i64 npy_bytes(const TensorType& type);
bool write_npy(const std::string& path, const Tensor& tensor, Diagnostics& diagnostics);

} // namespace shard
