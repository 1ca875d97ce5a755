#include "plans/gemm_layout.h"

namespace shard {

// Only contract needs memory of its own on the device: the packed matrices of one batch index. The others work in
// blocks of fixed size that belong to the worker, not to the device.
i64 scratch_bytes(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    const Contract* contract = std::get_if<Contract>(&kernel);
    if (contract == nullptr) return 0;
    internal_check(inputs.size() == 2, "contract takes two operands");
    return gemm_layout(*contract, inputs[0], inputs[1], output).scratch_bytes;
}

} // namespace shard
