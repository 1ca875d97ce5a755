#include "planner/graph/chain.h"
#include "planner/ops_support/convolution.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <algorithm>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const std::optional<Convolution> convolution = check_convolution(context);
    if (!convolution) return std::nullopt;
    return InferResult{{convolution_type(*convolution, context.operands)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    const Convolution convolution = convolution_of(operands, attributes);
    const bool reversed = attributes.flag("reverse", false);
    attributes = {};
    attributes.set("dims", text(convolution.dims));
    write_slides(convolution.slides, attributes);
    if (convolution.groups > 1) attributes.set("groups", convolution.groups);
    if (reversed) attributes.set("reverse", true);
}

// The factors of the groups, if there are some, of `kept` and of each window come first, in this order.
size_t window_factor(const Convolution& convolution, size_t window) {
    return (convolution.groups > 1 ? 1 : 0) + 1 + window;
}

// What a window slides along is split over places of the result, or, in a gradient of the window, over those of the
// window, which are terms of sums.
IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results,
               const Attributes& attributes) {
    const Convolution convolution = convolution_of(operands, attributes);
    const ConvolveDims& dims = convolution.dims;
    using enum FactorKind;
    RuleMaker maker(2, 1);
    std::array<TensorFactors, 3> factors;
    const ConvolveDims::Tensor* const tensors[] = {&dims.lhs, &dims.rhs, &dims.out};
    const TensorType* const types[] = {&operands[0], &operands[1], &results[0]};
    for (size_t t = 0; t < 3; ++t) factors[t].resize(tensors[t]->letters.size());
    if (convolution.groups > 1) {
        const int group = maker.factor(pass_through, convolution.groups);
        for (size_t t = 0; t < 3; ++t) factors[t][static_cast<size_t>(tensors[t]->grouped)].push_back(group);
    }
    const auto put = [&](char letter, int factor, std::initializer_list<size_t> among) {
        for (const size_t t : among) factors[t][static_cast<size_t>(tensors[t]->dim(letter))].push_back(factor);
    };
    const auto size_of = [&](char letter, size_t t) {
        const int dim = tensors[t]->dim(letter);
        return types[t]->shape[static_cast<size_t>(dim)] / (dim == tensors[t]->grouped ? convolution.groups : 1);
    };
    put(dims.kept, maker.factor(pass_through, size_of(dims.kept, 0)), {0, 2});
    std::vector<WindowSplit> splits;
    for (size_t w = 0; w < dims.windows.size(); ++w) {
        const SlideSizes& sizes = convolution.slides.sizes[w];
        splits.push_back(window_split(convolution.slides.slides[w], sizes));
        const char letter = dims.windows[w];
        if (splits[w] == WindowSplit::places) put(letter, maker.factor(permutation, sizes.input), {0, 2});
        if (splits[w] == WindowSplit::pointwise) put(letter, maker.factor(pass_through, sizes.input), {0, 2});
        if (splits[w] == WindowSplit::terms || splits[w] == WindowSplit::plain_terms)
            put(letter, maker.factor(reduction, sizes.window), {0, 1});
    }
    put(dims.made, maker.factor(pass_through, size_of(dims.made, 1)), {1, 2});
    put(dims.summed, maker.factor(reduction, size_of(dims.summed, 0)), {0, 1});
    for (size_t w = 0; w < dims.windows.size(); ++w) {
        const bool of_result = splits[w] == WindowSplit::places || splits[w] == WindowSplit::pointwise;
        const SlideSizes& sizes = convolution.slides.sizes[w];
        put(dims.windows[w], maker.factor(need_replication, of_result ? sizes.window : sizes.output),
            {of_result ? size_t{1} : size_t{2}});
    }
    maker.operand(0) = factors[0];
    maker.operand(1) = factors[1];
    maker.result() = factors[2];
    return maker.rule();
}

// What a device's part of a window dim is; nullopt if the dim is whole, or its parts have no border.
std::optional<SlideParts> part_of(const LowerContext& context, const Convolution& convolution, size_t window,
                                  bool& fits) {
    const std::vector<AxisRef>& axes = context.factor_axes[window_factor(convolution, window)];
    const Slide& slide = convolution.slides.slides[window];
    const SlideSizes& sizes = convolution.slides.sizes[window];
    const WindowSplit split = window_split(slide, sizes);
    if (axes.empty() || split == WindowSplit::pointwise || split == WindowSplit::plain_terms) return std::nullopt;
    std::optional<SlideParts> parts = slide_parts(
        slide, sizes, split == WindowSplit::places ? SlideSide::output : SlideSide::window, total_size(axes));
    fits = fits && parts.has_value();
    return parts;
}

// The same convolution, as a device slides over what it has of it.
Convolution local_convolution(const LowerContext& context) {
    Convolution convolution = convolution_of(context.global_operands, context.attributes);
    bool fits = true;
    for (size_t w = 0; w < convolution.dims.windows.size(); ++w)
        if (const std::optional<SlideParts> part = part_of(context, convolution, w, fits))
            convolution.slides.slides[w] = part->slide;
    internal_check(fits, "a convolution that devices cannot do alike");
    if (convolution.groups > 1) convolution.groups /= total_size(context.factor_axes[0]);
    convolution.dims = with_groups(convolution.dims, convolution.groups);
    return convolution;
}

std::optional<std::vector<Overlap>> overlaps(const LowerContext& context) {
    const Convolution convolution = convolution_of(context.global_operands, context.attributes);
    std::vector<Overlap> made;
    bool fits = true;
    for (size_t w = 0; w < convolution.dims.windows.size(); ++w)
        if (const std::optional<SlideParts> part = part_of(context, convolution, w, fits))
            made.push_back({0, static_cast<size_t>(convolution.dims.lhs.dim(convolution.dims.windows[w])),
                            context.factor_axes[window_factor(convolution, w)], part->first, part->count});
    if (!fits) return std::nullopt;
    return made;
}

Kernel lower(const LowerContext& context) {
    const Convolution convolution = local_convolution(context);
    return Convolve{text(convolution.dims), convolution.groups, convolution.slides.slides};
}

Attributes local_attributes(const LowerContext& context) {
    Convolution convolution = local_convolution(context);
    const ConvolveDims& dims = convolution.dims;
    for (size_t w = 0; w < dims.windows.size(); ++w) {
        const char letter = dims.windows[w];
        const SlideSizes sizes = {context.local_operands[0].shape[static_cast<size_t>(dims.lhs.dim(letter))],
                                  context.local_operands[1].shape[static_cast<size_t>(dims.rhs.dim(letter))],
                                  context.local_results[0].shape[static_cast<size_t>(dims.out.dim(letter))]};
        const SlideSizes& whole = convolution.slides.sizes[w];
        const bool is_whole =
            sizes.input == whole.input && sizes.window == whole.window && sizes.output == whole.output;
        if (!is_whole) convolution.slides.high[w] = high_of(convolution.slides.slides[w], sizes);
    }
    const bool reversed = context.attributes.flag("reverse", false);
    Attributes attributes;
    attributes.set("dims", text(dims));
    write_slides(convolution.slides, attributes);
    if (convolution.groups > 1) attributes.set("groups", convolution.groups);
    if (reversed) attributes.set("reverse", true);
    return attributes;
}

// --- the gradient: two convolutions ---

Attributes attributes_for(const ConvolveDims& dims, i64 groups, const std::vector<Slide>& slides,
                          const std::vector<SlideSizes>& sizes) {
    Slides all = {slides, sizes, {}};
    for (size_t w = 0; w < slides.size(); ++w) all.high.push_back(high_of(slides[w], sizes[w]));
    Attributes attributes;
    attributes.set("dims", text(dims));
    write_slides(all, attributes);
    if (groups > 1) attributes.set("groups", groups);
    if (slides[0].reversed) attributes.set("reverse", true);
    return attributes;
}

// Places of the first operand: an element was met by places of the result from the window's last one on.
ValueId gradient_of_first(Chain& chain, const Convolution& convolution, ValueId given, ValueId second) {
    ConvolveDims dims = convolution.dims;
    std::swap(dims.lhs, dims.out);
    std::vector<Slide> slides;
    std::vector<SlideSizes> sizes;
    for (const char letter : dims.lhs.letters) { // windows are in its order
        const size_t w = dims.windows.find(letter);
        if (w == std::string::npos) continue;
        const Slide& slide = convolution.slides.slides[w];
        const SlideSizes& size = convolution.slides.sizes[w];
        slides.push_back({slide.input_dilation, (size.window - 1) * slide.dilation - slide.low, slide.dilation,
                          slide.stride, !slide.reversed});
        sizes.push_back({size.output, size.window, size.input});
    }
    return chain("conv", {given, second}, attributes_for(dims, convolution.groups, slides, sizes));
}

// The first operand, with the gradient as the window.
ValueId gradient_of_second(Chain& chain, const Convolution& convolution, ValueId first, ValueId given) {
    ConvolveDims dims = convolution.dims;
    std::swap(dims.rhs, dims.out);
    std::vector<Slide> slides;
    std::vector<SlideSizes> sizes;
    bool reversed = false;
    for (size_t w = 0; w < convolution.slides.slides.size(); ++w) {
        const Slide& slide = convolution.slides.slides[w];
        const SlideSizes& size = convolution.slides.sizes[w];
        slides.push_back({slide.dilation, slide.low, slide.stride, slide.input_dilation, false});
        sizes.push_back({size.input, size.output, size.window});
        reversed = slide.reversed;
    }
    const ValueId made = chain("conv", {first, given}, attributes_for(dims, convolution.groups, slides, sizes));
    if (!reversed) return made;
    std::vector<i64> along;
    for (const char letter : convolution.dims.windows) along.push_back(convolution.dims.rhs.dim(letter));
    std::sort(along.begin(), along.end());
    return chain("rev", {made}, attributes_of({{"dims", along}}));
}

std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    const TensorType operands[] = {chain.type(context.inputs[0]), chain.type(context.inputs[1])};
    const Convolution convolution = convolution_of(operands, context.attributes);
    std::vector<ValueId> gradients(2, -1);
    if (context.wanted[0]) gradients[0] = gradient_of_first(chain, convolution, context.cotangent, context.inputs[1]);
    if (context.wanted[1]) gradients[1] = gradient_of_second(chain, convolution, context.inputs[0], context.cotangent);
    internal_check(chain.ok(), "a gradient does not fit");
    return gradients;
}

} // namespace

const OpDef& op_conv() {
    static const OpDef def = [] {
        using enum AttributeDef::Type;
        OpDef made;
        made.name = "conv";
        made.doc =
            "A convolution: windows of the second operand slide over the first, and what they meet is multiplied "
            "and summed. `dims` has a letter for each dim: windows slide along those that both operands and the "
            "result have.\n"
            "{conv: [x, w], strides: 2, padding: same, dims: \"nhwi,hwio->nhwo\"}";
        made.operands = {2, 2};
        made.attributes = {{"dims", string, false,
                            "of the operands and the result; nwi,wio->nwo, nhwi,hwio->nhwo or ndhwi,dhwio->ndhwo, by "
                            "their number, unless said. (gi) is a dim with the groups' parts one after the other"}};
        for (const AttributeDef& each : slide_attributes()) made.attributes.push_back(each);
        made.attributes.push_back(
            {"groups", integer, false,
             "parts of what is summed in the first operand, each with its own part of the result; 1 "
             "unless said"});
        made.attributes.push_back({"reverse", flag, false, "the windows are reversed; false unless said"});
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.overlaps = overlaps;
        made.lower = lower;
        made.local_attributes = local_attributes;
        made.gradient = gradient;
        made.op_class = OpDef::Class::contraction;
        made.linear_in = {0, 1};
        return made;
    }();
    return def;
}

} // namespace shard
