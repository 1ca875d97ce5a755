#include "plans/kernel/kernel_scratch.h"

#include "plans/kernel/gemm_layout.h"

namespace shard {

// Memory of their own on the device need contract, for the packed matrices of one batch index, and scatter of a narrow
// type, for its sums in f32. The others work in blocks of fixed size that belong to the worker, not to the device.
i64 scratch_bytes(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    if (std::holds_alternative<Scatter>(kernel) && computed_as(output.dtype) != output.dtype)
        return output.elements() * byte_size(computed_as(output.dtype));
    const Contract* contract = std::get_if<Contract>(&kernel);
    if (contract == nullptr) return 0;
    internal_check(inputs.size() == 2, "contract takes two operands");
    return gemm_layout(*contract, inputs[0], inputs[1], output).scratch_bytes;
}

} // namespace shard
