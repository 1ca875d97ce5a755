#include "exporter/jax/jax_convolve.h"

#include "exporter/program/written_convolution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

// "NHWC" for the letters N012I; `feature` is what I or O is called there.
std::string spec(std::string letters, char role, char feature) {
    constexpr std::string_view windows = "HWD"; // any names: all three say them alike
    for (char& letter : letters) {
        if (letter == role) letter = feature;
        if (letter >= '0' && letter <= '2') letter = windows[static_cast<size_t>(letter - '0')];
    }
    return quoted(letters);
}

template<typename Get>
std::string numbers(const Convolve& kernel, const Get& get) {
    std::vector<i64> all;
    for (const Slide& slide : kernel.windows) all.push_back(get(slide));
    return shape_tuple(all);
}

} // namespace

PythonText jax_convolve(const Convolve& kernel, std::span<const JaxValue> inputs, const JaxValue& output) {
    const ConvolveLetters letters = convolve_letters(kernel);
    const TensorType types[] = {{inputs[0].dtype, inputs[0].shape, {}}, {inputs[1].dtype, inputs[1].shape, {}}};
    const std::vector<i64> high = convolve_high(kernel, types, {output.dtype, output.shape, {}});
    std::vector<PythonText> padding;
    std::vector<i64> turned;
    for (size_t w = 0; w < kernel.windows.size(); ++w) {
        padding.push_back({fmt::format("({}, {})", kernel.windows[w].low, high[w])});
        if (kernel.windows[w].reversed)
            turned.push_back(static_cast<i64>(letters.rhs.find(static_cast<char>('0' + static_cast<char>(w)))));
    }
    std::sort(turned.begin(), turned.end());
    std::vector<PythonText> items = {
        {inputs[0].name},
        {turned.empty() ? inputs[1].name : fmt::format("lax.rev({}, {})", inputs[1].name, shape_tuple(turned))},
        {"window_strides=" + numbers(kernel, [](const Slide& slide) { return slide.stride; })},
        tuple(padding, "padding=")};
    const auto differ = [&kernel](i64 Slide::*number) {
        return std::any_of(kernel.windows.begin(), kernel.windows.end(),
                           [number](const Slide& slide) { return slide.*number != 1; });
    };
    if (differ(&Slide::input_dilation))
        items.push_back({"lhs_dilation=" + numbers(kernel, [](const Slide& slide) { return slide.input_dilation; })});
    if (differ(&Slide::dilation))
        items.push_back({"rhs_dilation=" + numbers(kernel, [](const Slide& slide) { return slide.dilation; })});
    items.push_back({fmt::format("dimension_numbers=({}, {}, {})", spec(letters.lhs, 'I', 'C'),
                                 spec(letters.rhs, 'I', 'I'), spec(letters.out, 'O', 'C'))});
    if (kernel.groups > 1) items.push_back({fmt::format("feature_group_count={}", kernel.groups)});
    if (output.dtype != inputs[0].dtype) items.push_back({"preferred_element_type=" + jax_dtype(output.dtype)});
    return bracket("lax.conv_general_dilated(", std::move(items), ")");
}

} // namespace shard
