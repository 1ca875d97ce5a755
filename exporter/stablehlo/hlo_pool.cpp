#include "exporter/stablehlo/hlo_pool.h"

#include "exporter/stablehlo/hlo_reduce.h"
#include "plans/kernel/slide_reach.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

std::string array_of(std::span<const i64> numbers) { return fmt::format("array<i64: {}>", fmt::join(numbers, ", ")); }

// One number of each window.
std::vector<i64> each(const std::vector<Slide>& slides, i64 Slide::*number) {
    std::vector<i64> numbers;
    for (const Slide& slide : slides) numbers.push_back(slide.*number);
    return numbers;
}

std::string padding_of(std::span<const i64> window, const std::vector<Slide>& slides, const Shape& input,
                       const Shape& output) {
    std::vector<std::string> pairs;
    for (size_t d = 0; d < slides.size(); ++d)
        pairs.push_back(fmt::format("[{}, {}]", slides[d].low, high_of(slides[d], {input[d], window[d], output[d]})));
    return fmt::format("dense<[{}]> : tensor<{}x2xi64>", fmt::join(pairs, ", "), slides.size());
}

} // namespace

HloValue hlo_reduce_windows(const ReduceWindows& kernel, const HloValue& input, const HloValue& output, HloOps& ops) {
    const DType inside = computed_as(input.dtype);
    const HloValue value = ops.convert(input, inside), init = hlo_neutral(kernel.op, inside, {}, ops);
    const std::string attributes = fmt::format(
        "base_dilations = {}, padding = {}, window_dilations = {}, window_dimensions = {}, window_strides = "
        "{}",
        array_of(each(kernel.slides, &Slide::input_dilation)),
        padding_of(kernel.window, kernel.slides, input.shape, output.shape),
        array_of(each(kernel.slides, &Slide::dilation)), array_of(kernel.window),
        array_of(each(kernel.slides, &Slide::stride)));
    HloValue result = output;
    result.dtype = inside;
    const HloValue made =
        hlo_with_combiner("stablehlo.reduce_window", {value, init}, attributes, kernel.op, result, ops);
    return ops.convert(made, output.dtype);
}

HloValue hlo_select_windows(const SelectWindows& kernel, const HloValues& inputs, const HloValue& output, HloOps& ops) {
    const DType inside = computed_as(output.dtype);
    const HloValue value = ops.convert(inputs[0], inside), given = ops.convert(inputs[1], inside),
                   zero = ops.constant(0, inside);
    const std::string attributes = fmt::format("padding = {}, window_dimensions = {}, window_strides = {}",
                                               padding_of(kernel.window, kernel.slides, value.shape, given.shape),
                                               array_of(kernel.window), array_of(each(kernel.slides, &Slide::stride)));
    const std::string compare = kernel.smallest ? "stablehlo.compare LE," : "stablehlo.compare GE,";
    const HloOps::Region select = {{inside, inside},
                                   [&](const HloValues& pair) { return ops.pointwise(compare, pair, DType::boolean); }};
    const HloOps::Region add = {{inside, inside},
                                [&](const HloValues& pair) { return ops.pointwise("stablehlo.add", pair); }};
    const HloValue made =
        ops.with_regions("stablehlo.select_and_scatter", {value, given, zero}, attributes, {select, add}, {value})[0];
    const std::vector<i64> ones(output.shape.size(), 1);
    return ops.convert(ops.slice(made, kernel.start, output.shape, ones), output.dtype);
}

} // namespace shard
