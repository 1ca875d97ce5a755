#include "tests/executor/kernels/run_alone.h"

#include "executor/kernels/kernels.h"
#include "plans/kernel/kernel_scratch.h"
#include "tests/support/plan_builder.h"

namespace shard {

std::vector<double> run_alone(const Kernel& kernel, const std::vector<Tensor>& inputs, DType dtype, const Shape& shape,
                              const AffineContext& context) {
    std::vector<Operand> operands;
    std::vector<TensorType> types;
    for (const Tensor& input : inputs) {
        operands.push_back({input.type.dtype, &input.type.shape, input.bytes.data()});
        types.push_back(input.type);
    }
    Tensor output = make_tensor(dtype, shape, [](i64) { return 99.0; });
    std::vector<std::byte> memory(static_cast<size_t>(scratch_bytes(kernel, types, output.type)));
    Scratch scratch(memory.data(), static_cast<i64>(memory.size()));
    run_kernel(kernel, {operands, {dtype, &shape, output.bytes.data()}, scratch, context});
    return values(output);
}

} // namespace shard
