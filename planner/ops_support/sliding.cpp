#include "planner/ops_support/sliding.h"

#include "plans/base/division.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr i64 most = i64{1} << 60; // more than any window reaches
constexpr std::string_view lists[] = {"strides", "low", "high", "dilation", "input_dilation"};

// One for each of `count` dims.
std::vector<i64> numbers(const Attributes& attributes, std::string_view name, size_t count, i64 fallback) {
    if (!attributes.has(name)) return std::vector<i64>(count, fallback);
    const std::vector<i64>& given = attributes.integers(name);
    return given.size() == 1 ? std::vector<i64>(count, given[0]) : given;
}

bool check_counts(const InferContext& context, size_t count) {
    for (const std::string_view name : lists) {
        if (!context.attributes.has(name)) continue;
        const size_t given = context.attributes.integers(name).size();
        if (given == 1 || given == count) continue;
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("`{}` of '{}' has {} entries for windows along {} dim{}", name, context.op, given, count,
                               count == 1 ? "" : "s"))
            .help("give one number for all of them, or one for each");
        return false;
    }
    return true;
}

bool check_values(const InferContext& context) {
    for (const std::string_view name : {"strides", "dilation", "input_dilation"}) {
        if (!context.attributes.has(name)) continue;
        for (const i64 number : context.attributes.integers(name)) {
            if (number >= 1 && number < most) continue;
            context.diagnostics.error("E0226", context.span,
                                      fmt::format("`{}` of '{}' is at least 1, not {}", name, context.op, number));
            return false;
        }
    }
    if (!context.attributes.has("padding")) return true;
    const std::string& padding = context.attributes.string("padding");
    if (padding != "same" && padding != "valid") {
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("`padding` of '{}' is same or valid, not '{}'", context.op, padding))
            .help("numbers are `low`, before the elements, and `high`, behind them");
        return false;
    }
    if (!context.attributes.has("low") && !context.attributes.has("high")) return true;
    context.diagnostics
        .error("E0226", context.span, fmt::format("'{}' has `padding` beside `low` or `high`", context.op))
        .help("give one of the two");
    return false;
}

} // namespace

std::vector<AttributeDef> slide_attributes() {
    using enum AttributeDef::Type;
    return {{"strides", integers, false, "from one place of the window to the next; 1 unless said"},
            {"padding", string, false,
             "same: as much around the dims that there is a place for every stride-th element; valid: nothing, which "
             "it is unless said"},
            {"low", integers, false, "in place of `padding`: what is added before, or taken off if negative"},
            {"high", integers, false, "in place of `padding`: what is added behind"},
            {"dilation", integers, false, "from one element of the window to the next; 1 unless said"},
            {"input_dilation", integers, false,
             "from one element of the first operand to the next, with nothing between them; 1 unless said"}};
}

Border same_border(i64 input, i64 covered, i64 stride) {
    const i64 places = ceil_div(input, stride), added = std::max<i64>(0, (places - 1) * stride + covered - input);
    return {added / 2, added - added / 2};
}

Slides slides_of(const Attributes& attributes, std::span<const i64> inputs, std::span<const i64> windows) {
    const size_t count = inputs.size();
    const std::vector<i64> strides = numbers(attributes, "strides", count, 1),
                           low = numbers(attributes, "low", count, 0), high = numbers(attributes, "high", count, 0),
                           dilation = numbers(attributes, "dilation", count, 1),
                           between = numbers(attributes, "input_dilation", count, 1);
    const bool same = attributes.has("padding") && attributes.string("padding") == "same",
               reversed = attributes.flag("reverse", false);
    Slides made;
    for (size_t n = 0; n < count; ++n) {
        Slide slide = {strides[n], low[n], dilation[n], between[n], reversed};
        i64 behind = high[n];
        const i64 spread = dilated_size(inputs[n], between[n]), covered = dilated_size(windows[n], dilation[n]);
        if (same && std::max(spread, covered) < most) {
            const Border border = same_border(spread, covered, strides[n]);
            slide.low = border.low;
            behind = border.high;
        }
        made.slides.push_back(slide);
        made.high.push_back(behind);
        made.sizes.push_back({inputs[n], windows[n], slid_size(slide, inputs[n], windows[n], behind).value_or(0)});
    }
    return made;
}

std::optional<Slides> check_slides(const InferContext& context, std::span<const i64> inputs,
                                   std::span<const i64> windows) {
    if (!check_counts(context, inputs.size()) || !check_values(context)) return std::nullopt;
    Slides made = slides_of(context.attributes, inputs, windows);
    for (size_t n = 0; n < made.slides.size(); ++n) {
        const Slide& slide = made.slides[n];
        if (made.sizes[n].output > 0 && slide_problem(slide, made.sizes[n]).empty()) continue;
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("'{}' has no place for a window of {} on {} elements with {} before and {} behind",
                               context.op, dilated_size(windows[n], slide.dilation),
                               dilated_size(inputs[n], slide.input_dilation), slide.low, made.high[n]))
            .help("a smaller window or dilation, or more padding: {padding: same}");
        return std::nullopt;
    }
    return made;
}

void write_slides(const Slides& slides, Attributes& attributes) {
    std::vector<i64> strides, low, dilation, between;
    for (const Slide& slide : slides.slides) {
        strides.push_back(slide.stride);
        low.push_back(slide.low);
        dilation.push_back(slide.dilation);
        between.push_back(slide.input_dilation);
    }
    attributes.set("strides", strides);
    attributes.set("low", low);
    attributes.set("high", slides.high);
    attributes.set("dilation", dilation);
    attributes.set("input_dilation", between);
}

} // namespace shard
