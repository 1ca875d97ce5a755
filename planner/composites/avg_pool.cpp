#include "planner/graph/chain.h"
#include "planner/ops_support/pooling.h"

#include <algorithm>

namespace shard {

namespace {

bool adds_nothing(const Slides& slides) {
    return std::all_of(slides.slides.begin(), slides.slides.end(), [](const Slide& slide) { return slide.low <= 0; }) &&
           std::all_of(slides.high.begin(), slides.high.end(), [](i64 high) { return high <= 0; });
}

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    if (!require_floating(builder, operands[0], "avg_pool", 1, span)) return std::nullopt;
    Attributes pool;
    for (const auto& [name, value] : attributes.entries())
        if (name != "count_include_pad") pool.set(name, value);
    Chain chain(builder);
    const ValueId sum = chain("sum_pool", {operands[0]}, pool);
    if (!chain.ok()) return std::nullopt;
    const TensorType type = builder.type(operands[0]);
    const Pooling pooling = pooling_of(type, pool);
    if (attributes.flag("count_include_pad", true) || adds_nothing(pooling.slides)) {
        double elements = 1;
        for (const SlideSizes& sizes : pooling.slides.sizes) elements *= static_cast<double>(sizes.window);
        return chain.result(chain("div", sum, elements));
    }
    // How many elements each window meets, which is the same along all other dims.
    Shape ones(type.shape.size(), 1);
    for (const i64 d : pooling.dims) ones[static_cast<size_t>(d)] = type.shape[static_cast<size_t>(d)];
    const ValueId one = chain("broadcast", {chain.scalar(1, type.dtype)}, shape_of(ones));
    return chain.result(chain("div", {sum, chain("sum_pool", {one}, pooling_attributes(pooling))}));
}

} // namespace

const CompositeDef& composite_avg_pool() {
    static const CompositeDef def = [] {
        using enum AttributeDef::Type;
        CompositeDef made = {
            "avg_pool",
            "The mean of each window.\n{avg_pool: x, window: 2, strides: 2}",
            {1, 1},
            {{"window", integers, true, "the size of the windows"},
             {"dim", dims, false, "the dims along which windows slide; all but the first and the last unless said"},
             {"count_include_pad", flag, false,
              "what is added around the value counts as zeros; true unless said, otherwise it does not "
              "count"}},
            build};
        for (const AttributeDef& each : slide_attributes())
            if (each.name != "input_dilation") made.attributes.push_back(each);
        return made;
    }();
    return def;
}

} // namespace shard
