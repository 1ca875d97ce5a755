#include "plans/kernel/pool_sizes.h"

#include "plans/base/saturating.h"
#include "plans/kernel/slide_reach.h"

namespace shard {

namespace {

std::string slides_problem(std::span<const i64> window, std::span<const Slide> slides, const Shape& input,
                           const Shape& output) {
    if (input.empty() || window.size() != input.size() || slides.size() != input.size() ||
        output.size() != input.size())
        return "one window per dim";
    for (size_t d = 0; d < input.size(); ++d) {
        if (slides[d].reversed) return "a reversed window";
        if (std::string problem = slide_problem(slides[d], {input[d], window[d], output[d]}); !problem.empty())
            return problem;
    }
    return {};
}

i64 pairs_of(std::span<const i64> window, std::span<const Slide> slides, const Shape& input, const Shape& output) {
    i64 count = 1;
    for (size_t d = 0; d < input.size(); ++d)
        count = multiply_saturating(count, meeting_pairs(slides[d], {input[d], window[d], output[d]}));
    return count;
}

} // namespace

std::string pool_problem(const ReduceWindows& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    if (inputs.size() != 1) return "it takes one operand";
    if (output.dtype != inputs[0].dtype) return "a result of another type";
    if (output.dtype == DType::boolean) return "windows of truths";
    return slides_problem(kernel.window, kernel.slides, inputs[0].shape, output.shape);
}

std::string pool_problem(const SelectWindows& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    if (inputs.size() != 2) return "it takes two operands";
    if (inputs[1].dtype != inputs[0].dtype || output.dtype != inputs[0].dtype) return "operands of two types";
    if (!is_floating(output.dtype)) return "a gradient that is not floating-point";
    if (std::string problem = slides_problem(kernel.window, kernel.slides, inputs[0].shape, inputs[1].shape);
        !problem.empty())
        return problem;
    if (kernel.start.size() != output.shape.size() || output.shape.size() != inputs[0].shape.size())
        return "one start per dim";
    for (size_t d = 0; d < kernel.start.size(); ++d) {
        if (kernel.slides[d].input_dilation != 1) return "a dilated operand";
        if (kernel.start[d] < 0 || kernel.start[d] > inputs[0].shape[d] - output.shape[d])
            return "a result outside of the operand";
    }
    return {};
}

i64 pool_flops(const ReduceWindows& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    return pairs_of(kernel.window, kernel.slides, inputs[0].shape, output.shape);
}

i64 pool_flops(const SelectWindows& kernel, std::span<const TensorType> inputs) {
    return pairs_of(kernel.window, kernel.slides, inputs[0].shape, inputs[1].shape);
}

} // namespace shard
