#include "plans/kernel/kernel_scratch.h"

#include "plans/base/saturating.h"
#include "plans/kernel/convolve_sizes.h"
#include "plans/kernel/gemm_layout.h"

namespace shard {

bool widens_sums(const Scatter& scatter, DType dtype) {
    return computed_as(dtype) != dtype && (scatter.op == ReduceOp::sum || scatter.op == ReduceOp::prod);
}

SortScratch sort_scratch(std::span<const TensorType> keys, const Sort& sort) {
    constexpr i64 word = 8;
    const i64 length = keys[0].shape[sort.dim];
    const bool packed = keys.size() == 1 && byte_size(keys[0].dtype) <= 4;
    return {packed, multiply_saturating(word * (packed ? 1 : static_cast<i64>(keys.size()) + 1), length)};
}

// Memory of their own on the device need contract, for the packed matrices of one batch index, a ragged one of a narrow
// type, for blocks of its operands in f32, scatter of a narrow
// type, for its sums in f32, sort, for one row, attend, for blocks of scores, convolve, for blocks of what its windows
// meet, and pooling of a narrow type, for its gradient's sums. The others work in blocks of fixed size that belong to
// the worker, not to the device.
i64 scratch_bytes(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    if (const Scatter* scatter = std::get_if<Scatter>(&kernel); scatter && widens_sums(*scatter, output.dtype))
        return output.elements() * byte_size(computed_as(output.dtype));
    if (const Sort* sort = std::get_if<Sort>(&kernel)) return sort_scratch(inputs, *sort).bytes;
    if (const Attend* attend = std::get_if<Attend>(&kernel))
        return attend_scratch(attend->part, attend_sizes(attend->part, inputs), inputs[0].dtype,
                              attend->kept.has_value())
            .bytes;
    if (const RaggedContract* ragged = std::get_if<RaggedContract>(&kernel))
        return ragged_scratch(ragged->part, ragged_sizes(*ragged, inputs, output), inputs[0].dtype, output.dtype).bytes;
    if (const Convolve* convolve = std::get_if<Convolve>(&kernel))
        return convolve_scratch(convolve_sizes(*convolve, inputs, output), inputs[0].dtype).bytes;
    if (std::holds_alternative<SelectWindows>(kernel) && output.dtype != computed_as(output.dtype))
        return output.elements() * byte_size(computed_as(output.dtype));
    const Contract* contract = std::get_if<Contract>(&kernel);
    if (contract == nullptr) return 0;
    internal_check(inputs.size() == 2, "contract takes two operands");
    return gemm_layout(*contract, inputs[0], inputs[1], output).scratch_bytes;
}

} // namespace shard
