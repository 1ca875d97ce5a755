#include "exporter/jax/jax_pool.h"

#include "plans/kernel/slide_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shard {

namespace {

std::string_view function_of(ReduceOp op) {
    switch (op) {
    case ReduceOp::sum:
        return "lax.add";
    case ReduceOp::prod:
        return "lax.mul";
    case ReduceOp::max:
        return "lax.max";
    case ReduceOp::min:
        return "lax.min";
    }
    internal_error("unknown reduction");
}

std::string neutral(ReduceOp op, DType dtype) {
    if (op == ReduceOp::sum || op == ReduceOp::prod)
        return fmt::format("{}({})", jax_dtype(dtype), op == ReduceOp::sum ? 0 : 1);
    const bool max = op == ReduceOp::max;
    if (is_floating(dtype)) return fmt::format("{}({}jnp.inf)", jax_dtype(dtype), max ? "-" : "");
    return max ? fmt::format("{}({})", jax_dtype(dtype), info(dtype).lowest)
               : fmt::format("{}({})", jax_dtype(dtype), info(dtype).highest);
}

// One number of each window.
std::vector<i64> each(const std::vector<Slide>& slides, i64 Slide::*number) {
    std::vector<i64> numbers;
    for (const Slide& slide : slides) numbers.push_back(slide.*number);
    return numbers;
}

PythonText padding_of(std::string before, std::span<const i64> window, const std::vector<Slide>& slides,
                      const Shape& input, const Shape& output) {
    std::vector<PythonText> pairs;
    for (size_t d = 0; d < slides.size(); ++d)
        pairs.push_back({fmt::format("({}, {})", slides[d].low, high_of(slides[d], {input[d], window[d], output[d]}))});
    return tuple(std::move(pairs), std::move(before));
}

// Sums of narrow floats are made in f32, as in the kernel.
std::string widened(const JaxValue& value) {
    const DType wide = computed_as(value.dtype);
    const bool is_narrow = is_floating(value.dtype) && wide != value.dtype;
    return is_narrow ? fmt::format("{}.astype({})", value.name, jax_dtype(wide)) : value.name;
}
std::string narrowed(DType dtype) {
    const bool is_narrow = is_floating(dtype) && computed_as(dtype) != dtype;
    return is_narrow ? fmt::format(").astype({})", jax_dtype(dtype)) : ")";
}

} // namespace

PythonText jax_reduce_windows(const ReduceWindows& kernel, const JaxValue& input, const JaxValue& output) {
    const DType wide = is_floating(input.dtype) ? computed_as(input.dtype) : input.dtype;
    std::vector<PythonText> items = {{widened(input)},
                                     {neutral(kernel.op, wide)},
                                     {std::string(function_of(kernel.op))},
                                     {"window_dimensions=" + shape_tuple(kernel.window)},
                                     {"window_strides=" + shape_tuple(each(kernel.slides, &Slide::stride))},
                                     padding_of("padding=", kernel.window, kernel.slides, input.shape, output.shape)};
    const auto add = [&](std::string_view name, i64 Slide::*number) {
        const std::vector<i64> numbers = each(kernel.slides, number);
        if (std::any_of(numbers.begin(), numbers.end(), [](i64 one) { return one != 1; }))
            items.push_back({fmt::format("{}={}", name, shape_tuple(numbers))});
    };
    add("base_dilation", &Slide::input_dilation);
    add("window_dilation", &Slide::dilation);
    return bracket("lax.reduce_window(", std::move(items), narrowed(output.dtype));
}

PythonText jax_select_windows(const SelectWindows& kernel, std::span<const JaxValue> inputs, const JaxValue& output) {
    return bracket("select_windows(",
                   {{widened(inputs[0])},
                    {widened(inputs[1])},
                    {kernel.smallest ? "lax.min" : "lax.max"},
                    {shape_tuple(kernel.window)},
                    {shape_tuple(each(kernel.slides, &Slide::stride))},
                    padding_of("", kernel.window, kernel.slides, inputs[0].shape, inputs[1].shape),
                    {shape_tuple(kernel.start)},
                    {shape_tuple(output.shape)}},
                   narrowed(output.dtype));
}

} // namespace shard
