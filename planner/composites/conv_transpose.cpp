#include "planner/graph/chain.h"
#include "planner/ops_support/convolution.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// As lax.conv_transpose: what is added around the first operand, with strides between its elements, for a result of
// strides times its size, or as much more as windows reach beyond it.
Border border_of(i64 covered, i64 stride, bool same) {
    const i64 all = covered + stride - 2 + (same ? 0 : std::max<i64>(covered - stride, 0));
    const i64 low = !same ? covered - 1 : stride > covered - 1 ? covered - 1 : (all + 1) / 2;
    return {low, all - low};
}

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    Attributes made;
    for (const auto& [name, value] : attributes.entries())
        if (name != "strides" && name != "padding") made.set(name, value);
    if (attributes.has("strides")) made.set("input_dilation", attributes.integers("strides"));
    Chain chain(builder);
    if (attributes.has("low") || attributes.has("high")) {
        if (attributes.has("padding")) made.set("padding", attributes.string("padding")); // which is refused
        return chain.result(chain("conv", {operands[0], operands[1]}, std::move(made)));
    }
    const std::string padding = attributes.string("padding", "valid");
    if (padding != "same" && padding != "valid") {
        builder.diagnostics()
            .error("E0226", span, fmt::format("`padding` of 'conv_transpose' is same or valid, not '{}'", padding))
            .help("numbers are `low`, before the elements, and `high`, behind them");
        return std::nullopt;
    }
    // The windows' sizes, as the convolution without a border sees them.
    const TensorType types[] = {builder.type(operands[0]), builder.type(operands[1])};
    const std::vector<std::string_view> names = {builder.graph().value(operands[0]).name,
                                                 builder.graph().value(operands[1]).name};
    const std::vector<Span> spans(2);
    Attributes widest = made; // each window has a place
    const std::vector<i64> room = {i64{1} << 40};
    widest.set("high", room);
    const InferContext context{types, spans, widest, span, builder.diagnostics(), "conv_transpose", names};
    const std::optional<Convolution> convolution = check_convolution(context);
    if (!convolution) return std::nullopt;
    std::vector<i64> low, high;
    for (size_t w = 0; w < convolution->slides.slides.size(); ++w) {
        const Slide& slide = convolution->slides.slides[w];
        const Border border = border_of(dilated_size(convolution->slides.sizes[w].window, slide.dilation),
                                        slide.input_dilation, padding == "same");
        low.push_back(border.low);
        high.push_back(border.high);
    }
    made.set("low", low);
    made.set("high", high);
    return chain.result(chain("conv", {operands[0], operands[1]}, std::move(made)));
}

} // namespace

const CompositeDef& composite_conv_transpose() {
    using enum AttributeDef::Type;
    static const CompositeDef def = {
        "conv_transpose",
        "A convolution with strides between the elements of the first operand, which makes a dim larger: as large as "
        "strides times it, with padding: same.\n"
        "{conv_transpose: [x, w], strides: 2, padding: same}",
        {2, 2},
        {{"dims", string, false, "as of conv"},
         {"strides", integers, false, "from one element of the first operand to the next; 1 unless said"},
         {"padding", string, false,
          "same: the result is strides times as large; valid, which it is unless said: as much larger as windows reach "
          "beyond it"},
         {"low", integers, false, "in place of `padding`: what is added before the dilated operand"},
         {"high", integers, false, "in place of `padding`: what is added behind it"},
         {"dilation", integers, false, "from one element of the window to the next; 1 unless said"},
         {"groups", integer, false, "as of conv; 1 unless said"}},
        build};
    return def;
}

} // namespace shard
