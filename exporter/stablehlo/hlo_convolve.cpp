#include "exporter/stablehlo/hlo_convolve.h"

#include "exporter/program/written_convolution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// [b, 0, 1, f]; `names` are those of N, I and O.
std::string dim_list(const std::string& letters, std::string_view names) {
    constexpr std::string_view roles = "NIO";
    std::vector<std::string> dims;
    for (const char letter : letters) {
        const size_t role = roles.find(letter);
        dims.push_back(role == std::string::npos ? std::string(1, letter) : std::string(1, names[role]));
    }
    return fmt::format("[{}]", fmt::join(dims, ", "));
}

} // namespace

HloValue hlo_convolve(const Convolve& kernel, const HloValues& inputs, const HloValue& output, HloOps& ops) {
    const ConvolveLetters letters = convolve_letters(kernel);
    const TensorType types[] = {{inputs[0].dtype, inputs[0].shape, {}}, {inputs[1].dtype, inputs[1].shape, {}}};
    const std::vector<i64> high = convolve_high(kernel, types, {output.dtype, output.shape, {}});
    std::vector<i64> stride, between, apart;
    std::vector<std::string> pad, reverse;
    for (size_t w = 0; w < kernel.windows.size(); ++w) {
        const Slide& slide = kernel.windows[w];
        stride.push_back(slide.stride);
        between.push_back(slide.input_dilation);
        apart.push_back(slide.dilation);
        pad.push_back(fmt::format("[{}, {}]", slide.low, high[w]));
        reverse.push_back(slide.reversed ? "true" : "false");
    }
    // Products of f32 in f32, as planned, also where a device has something faster. XLA adds those of bf16 up in f32 by
    // itself, and rounds once; asked for a result in f32, it makes f32 of the operands on GPUs, whose tensor cores then
    // have nothing to do.
    const std::string precision =
        inputs[0].dtype == computed_as(inputs[0].dtype)
            ? ", precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"
            : "";
    const std::string text = fmt::format(
        "stablehlo.convolution({}) dim_numbers = {}x{}->{}, window = {{stride = {}, pad = [{}], lhs_dilate = {}, "
        "rhs_dilate = {}, reverse = [{}]}} {{batch_group_count = 1 : i64, feature_group_count = {} : i64{}}} : ({}) -> "
        "{}",
        hlo_names(inputs), dim_list(letters.lhs, "bf_"), dim_list(letters.rhs, "_io"), dim_list(letters.out, "b_f"),
        hlo_list(stride), fmt::join(pad, ", "), hlo_list(between), hlo_list(apart), fmt::join(reverse, ", "),
        kernel.groups, precision, hlo_types(inputs), hlo_type(output.dtype, output.shape));
    return ops.made(output.dtype, output.shape, text);
}

} // namespace shard
