#include "planner/ops_support/pooling.h"

namespace shard {

namespace {

// Each element is in the windows at places that lie as the window does, and goes back to by a sum over them.
std::vector<ValueId> gradient(const GradientContext& context) {
    Chain chain(context.builder);
    Pooling pooling = pooling_of(chain.type(context.inputs[0]), context.attributes);
    for (size_t n = 0; n < pooling.dims.size(); ++n) {
        Slide& slide = pooling.slides.slides[n];
        SlideSizes& sizes = pooling.slides.sizes[n];
        slide = {slide.input_dilation, (sizes.window - 1) * slide.dilation - slide.low, slide.dilation, slide.stride,
                 false};
        std::swap(sizes.input, sizes.output);
        pooling.slides.high[n] = high_of(slide, sizes);
    }
    return {chain("sum_pool", {context.cotangent}, pooling_attributes(pooling))};
}

} // namespace

const OpDef& op_sum_pool() {
    static const OpDef def =
        pool_op<ReduceOp::sum>("sum_pool", "The sum of each window.\n{sum_pool: x, window: 2, strides: 2}", gradient);
    return def;
}

} // namespace shard
