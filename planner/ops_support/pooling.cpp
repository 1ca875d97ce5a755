#include "planner/ops_support/pooling.h"

#include "planner/ops_support/convolution.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"
#include "plans/base/index_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shard {

namespace {

std::vector<i64> pooled_dims(int rank, const Attributes& attributes) {
    if (attributes.has("dim")) return attributes.integers("dim");
    std::vector<i64> dims;
    for (i64 d = 1; d + 1 < rank; ++d) dims.push_back(d);
    return dims;
}

std::vector<i64> sizes_along(const TensorType& type, std::span<const i64> dims) {
    std::vector<i64> sizes;
    for (const i64 d : dims) sizes.push_back(type.shape[static_cast<size_t>(d)]);
    return sizes;
}

std::vector<i64> windows_of(const Attributes& attributes, size_t count) {
    const std::vector<i64>& written = attributes.integers("window");
    return written.size() == 1 ? std::vector<i64>(count, written[0]) : written;
}

std::optional<Pooling> check_pooling(const InferContext& context) {
    if (!check_dtype(context, 0, is_floating, "a floating-point type")) return std::nullopt;
    const TensorType& x = context.operands[0];
    const std::vector<i64> dims = pooled_dims(x.rank(), context.attributes);
    if (dims.empty()) {
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("windows of '{}' slide along the dims between the first and the last, and {} has none",
                               context.op, operand_text(context, 0)))
            .help("name the dims: {max_pool: x, window: 2, dim: [0, 1]}");
        return std::nullopt;
    }
    const size_t given = context.attributes.integers("window").size();
    if (given != 1 && given != dims.size()) {
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("`window` of '{}' has {} entries for {} dim{}", context.op, given, dims.size(),
                               dims.size() == 1 ? "" : "s"))
            .help("give one size for all of them, or one for each");
        return std::nullopt;
    }
    const std::vector<i64> windows = windows_of(context.attributes, dims.size());
    for (const i64 size : windows) {
        if (size >= 1) continue;
        context.diagnostics.error("E0226", context.span,
                                  fmt::format("`window` of '{}' is at least 1, not {}", context.op, size));
        return std::nullopt;
    }
    std::optional<Slides> slides = check_slides(context, sizes_along(x, dims), windows);
    if (!slides) return std::nullopt;
    return Pooling{dims, std::move(*slides)};
}

Shape pooled_shape(const Pooling& pooling, Shape shape) {
    for (size_t n = 0; n < pooling.dims.size(); ++n)
        shape[static_cast<size_t>(pooling.dims[n])] = pooling.slides.sizes[n].output;
    return shape;
}

InferResult infer(const InferContext& context) {
    const std::optional<Pooling> pooling = check_pooling(context);
    if (!pooling) return std::nullopt;
    return InferResult{{make_type(context.operands[0].dtype, pooled_shape(*pooling, context.operands[0].shape))}};
}

InferResult infer_gradient(const InferContext& context) {
    if (!check_same_dtype(context)) return std::nullopt;
    const std::optional<Pooling> pooling = check_pooling(context);
    if (!pooling) return std::nullopt;
    for (const Slide& slide : pooling->slides.slides) {
        if (slide.dilation == 1 && slide.input_dilation == 1) continue;
        context.diagnostics.error("E0226", context.span,
                                  fmt::format("'{}' is of windows that are not dilated", context.op));
        return std::nullopt;
    }
    const Shape pooled = pooled_shape(*pooling, context.operands[0].shape);
    if (context.operands[1].shape != pooled) {
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("'{}' takes a number for each window, and {} has not the shape {}", context.op,
                               operand_text(context, 1), shape_text(pooled)))
            .help("give the gradient of what max_pool with the same arguments makes");
        return std::nullopt;
    }
    return InferResult{{make_type(context.operands[0].dtype, context.operands[0].shape)}};
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    attributes = pooling_attributes(pooling_of(operands[0], attributes));
}

// The number of the window that slides along each dim of a value, or nothing.
std::vector<std::optional<size_t>> windows_along(const Pooling& pooling, size_t rank) {
    std::vector<std::optional<size_t>> windows(rank);
    for (size_t n = 0; n < pooling.dims.size(); ++n) windows[static_cast<size_t>(pooling.dims[n])] = n;
    return windows;
}

WindowSplit split_of(const Pooling& pooling, size_t window) {
    return window_split(pooling.slides.slides[window], pooling.slides.sizes[window]);
}

// Every dim shares its first factor with the result, but for those of which one window takes all: they are reduced.
IndexRule rule_gradient(std::span<const TensorType> operands, std::span<const TensorType>,
                        const Attributes& attributes) {
    const Pooling pooling = pooling_of(operands[0], attributes);
    const std::vector<std::optional<size_t>> windows = windows_along(pooling, operands[0].shape.size());
    RuleMaker maker(2, 1);
    for (size_t d = 0; d < windows.size(); ++d) {
        const bool moves = windows[d] && split_of(pooling, *windows[d]) != WindowSplit::pointwise;
        const int factor =
            maker.factor(moves ? FactorKind::permutation : FactorKind::pass_through, operands[0].shape[d]);
        for (size_t n = 0; n < 2; ++n) maker.operand(n).push_back({factor});
        maker.result().push_back({factor});
    }
    return maker.rule();
}

double neutral(ReduceOp op) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return op == ReduceOp::max ? -infinity : op == ReduceOp::min ? infinity : op == ReduceOp::prod ? 1 : 0;
}

// How a device slides along a dim that is split; nullopt if it is whole, or its parts have no border.
std::optional<SlideParts> part_of(const LowerContext& context, const Pooling& pooling, size_t window, bool& fits) {
    const std::vector<AxisRef>& axes = context.factor_axes[static_cast<size_t>(pooling.dims[window])];
    if (axes.empty() || split_of(pooling, window) == WindowSplit::pointwise ||
        split_of(pooling, window) == WindowSplit::plain_terms)
        return std::nullopt;
    std::optional<SlideParts> part =
        slide_parts(pooling.slides.slides[window], pooling.slides.sizes[window], SlideSide::output, total_size(axes));
    fits = fits && part.has_value();
    return part;
}

// The same pooling, as a device slides over what it has.
Pooling local_pooling(const LowerContext& context) {
    Pooling pooling = pooling_of(context.global_operands[0], context.attributes);
    bool fits = true;
    for (size_t n = 0; n < pooling.dims.size(); ++n) {
        const size_t d = static_cast<size_t>(pooling.dims[n]);
        const WindowSplit split = split_of(pooling, n);
        const std::optional<SlideParts> part = part_of(context, pooling, n, fits);
        SlideSizes& sizes = pooling.slides.sizes[n];
        sizes.input = context.local_operands[0].shape[d];
        sizes.output = context.local_results[0].shape[d];
        if (split == WindowSplit::plain_terms) sizes.window = sizes.input; // all that the device has
        if (!part) continue;
        pooling.slides.slides[n] = part->slide;
        pooling.slides.high[n] = high_of(part->slide, sizes);
    }
    internal_check(fits, "a pooling that devices cannot do alike");
    return pooling;
}

// One entry for every dim.
void spread(const Pooling& pooling, size_t rank, std::vector<i64>& window, std::vector<Slide>& slides) {
    window.assign(rank, 1);
    slides.assign(rank, Slide{});
    for (size_t n = 0; n < pooling.dims.size(); ++n) {
        window[static_cast<size_t>(pooling.dims[n])] = pooling.slides.sizes[n].window;
        slides[static_cast<size_t>(pooling.dims[n])] = pooling.slides.slides[n];
    }
}

// Of a gradient, how a device reads x and what is given.
std::optional<SlideOrigins> origins_of(const LowerContext& context, const Pooling& pooling, size_t window, bool& fits) {
    const std::vector<AxisRef>& axes = context.factor_axes[static_cast<size_t>(pooling.dims[window])];
    if (axes.empty() || split_of(pooling, window) == WindowSplit::pointwise) return std::nullopt;
    std::optional<SlideOrigins> origins =
        slide_origins(pooling.slides.slides[window], pooling.slides.sizes[window], total_size(axes));
    fits = fits && origins.has_value();
    return origins;
}

Attributes local_attributes(const LowerContext& context) { return pooling_attributes(local_pooling(context)); }

// Of the same gradient for all of what a device has assembled of x.
Attributes local_gradient_attributes(const LowerContext& context) {
    Pooling pooling = pooling_of(context.global_operands[0], context.attributes);
    bool fits = true;
    for (size_t n = 0; n < pooling.dims.size(); ++n)
        if (const std::optional<SlideOrigins> origins = origins_of(context, pooling, n, fits)) {
            const i64 window = pooling.slides.sizes[n].window;
            pooling.slides.slides[n] = origins->slide;
            pooling.slides.high[n] = high_of(origins->slide, {origins->count, window, origins->places});
        }
    internal_check(fits, "a gradient of a pooling that devices cannot do alike");
    return pooling_attributes(pooling);
}

std::vector<AttributeDef> pool_attributes() {
    using enum AttributeDef::Type;
    std::vector<AttributeDef> attributes = {
        {"window", integers, true, "the size of the windows"},
        {"dim", dims, false, "the dims along which windows slide; all but the first and the last unless said"}};
    for (const AttributeDef& each : slide_attributes()) attributes.push_back(each);
    return attributes;
}

void refuse(const GradientContext& context, std::string_view what, std::string_view help) {
    context.builder.diagnostics()
        .error("E0246", context.builder.place().span, std::string(what))
        .help(std::string(help));
}

} // namespace

Pooling pooling_of(const TensorType& operand, const Attributes& attributes) {
    const std::vector<i64> dims = pooled_dims(operand.rank(), attributes);
    return {dims, slides_of(attributes, sizes_along(operand, dims), windows_of(attributes, dims.size()))};
}

Attributes pooling_attributes(const Pooling& pooling) {
    Attributes attributes;
    std::vector<i64> window;
    for (const SlideSizes& sizes : pooling.slides.sizes) window.push_back(sizes.window);
    attributes.set("window", window);
    attributes.set("dim", pooling.dims);
    write_slides(pooling.slides, attributes);
    return attributes;
}

OpDef pool_op_def(std::string_view name, std::string_view doc) {
    OpDef def;
    def.name = name;
    def.doc = doc;
    def.operands = {1, 1};
    def.attributes = pool_attributes();
    def.infer = infer;
    def.complete = complete;
    def.local_attributes = local_attributes;
    return def;
}

IndexRule rule_pool(ReduceOp op, std::span<const TensorType> operands, std::span<const TensorType> results,
                    const Attributes& attributes) {
    const Pooling pooling = pooling_of(operands[0], attributes);
    const std::vector<std::optional<size_t>> windows = windows_along(pooling, operands[0].shape.size());
    RuleMaker maker(1, 1);
    maker.rule().reduce = op;
    std::vector<size_t> reduced;
    for (size_t d = 0; d < windows.size(); ++d) {
        const WindowSplit split = windows[d] ? split_of(pooling, *windows[d]) : WindowSplit::pointwise;
        const FactorKind kind = split == WindowSplit::pointwise     ? FactorKind::pass_through
                                : split == WindowSplit::plain_terms ? FactorKind::reduction
                                                                    : FactorKind::permutation;
        const int factor = maker.factor(kind, operands[0].shape[d]);
        maker.operand(0).push_back({factor});
        maker.result().push_back({factor});
        if (kind == FactorKind::reduction) reduced.push_back(d);
    }
    for (const size_t d : reduced)
        maker.result()[d] = {maker.factor(FactorKind::need_replication, results[0].shape[d])};
    return maker.rule();
}

Kernel lower_pool(ReduceOp op, const LowerContext& context) {
    ReduceWindows kernel;
    kernel.op = op;
    spread(local_pooling(context), context.global_operands[0].shape.size(), kernel.window, kernel.slides);
    return kernel;
}

std::optional<std::vector<Overlap>> overlaps_pool(ReduceOp op, const LowerContext& context) {
    const Pooling pooling = pooling_of(context.global_operands[0], context.attributes);
    std::vector<Overlap> made;
    bool fits = true;
    for (size_t n = 0; n < pooling.dims.size(); ++n) {
        const size_t d = static_cast<size_t>(pooling.dims[n]);
        if (const std::optional<SlideParts> part = part_of(context, pooling, n, fits))
            made.push_back({0, d, context.factor_axes[d], part->first, part->count, neutral(op)});
    }
    if (!fits) return std::nullopt;
    return made;
}

OpDef pool_gradient_def(std::string_view name, std::string_view doc, bool smallest) {
    OpDef def;
    def.name = name;
    def.doc = doc;
    def.operands = {2, 2};
    def.attributes = pool_attributes();
    def.infer = infer_gradient;
    def.complete = complete;
    def.rule = rule_gradient;
    def.lower = smallest ? [](const LowerContext& context) { return lower_pool_gradient(true, context); }
                         : [](const LowerContext& context) { return lower_pool_gradient(false, context); };
    def.overlaps = smallest ? [](const LowerContext& context) { return overlaps_pool_gradient(true, context); }
                            : [](const LowerContext& context) { return overlaps_pool_gradient(false, context); };
    def.local_attributes = local_gradient_attributes;
    def.gradient = [](const GradientContext& context) {
        refuse(context, "the gradient of a pooling that selects has no second derivative",
               "write it out: the maximum of slices");
        return std::vector<ValueId>(context.inputs.size(), -1);
    };
    def.linear_in = {1};
    return def;
}

Kernel lower_pool_gradient(bool smallest, const LowerContext& context) {
    Pooling pooling = pooling_of(context.global_operands[0], context.attributes);
    SelectWindows kernel;
    kernel.smallest = smallest;
    kernel.start.assign(context.global_operands[0].shape.size(), 0);
    bool fits = true;
    for (size_t n = 0; n < pooling.dims.size(); ++n)
        if (const std::optional<SlideOrigins> origins = origins_of(context, pooling, n, fits)) {
            pooling.slides.slides[n] = origins->slide;
            kernel.start[static_cast<size_t>(pooling.dims[n])] = origins->start;
        }
    internal_check(fits, "a gradient of a pooling that devices cannot do alike");
    spread(pooling, kernel.start.size(), kernel.window, kernel.slides);
    return kernel;
}

std::optional<std::vector<Overlap>> overlaps_pool_gradient(bool smallest, const LowerContext& context) {
    const Pooling pooling = pooling_of(context.global_operands[0], context.attributes);
    std::vector<Overlap> made;
    bool fits = true;
    for (size_t n = 0; n < pooling.dims.size(); ++n) {
        const size_t d = static_cast<size_t>(pooling.dims[n]);
        const std::optional<SlideOrigins> origins = origins_of(context, pooling, n, fits);
        if (!origins) continue;
        const std::vector<AxisRef>& axes = context.factor_axes[d];
        made.push_back({0, d, axes, origins->first, origins->count, neutral(smallest ? ReduceOp::min : ReduceOp::max)});
        made.push_back({1, d, axes, origins->first_place, origins->places});
    }
    if (!fits) return std::nullopt;
    return made;
}

std::vector<ValueId> selected_gradient(std::string_view op, const GradientContext& context) {
    Chain chain(context.builder);
    const Pooling pooling = pooling_of(chain.type(context.inputs[0]), context.attributes);
    const auto is_dilated = [](const Slide& slide) { return slide.dilation != 1 || slide.input_dilation != 1; };
    if (std::any_of(pooling.slides.slides.begin(), pooling.slides.slides.end(), is_dilated)) {
        refuse(context, "a pooling that selects among dilated windows has no derivative",
               "write it out: the maximum of slices");
        return {-1};
    }
    return {chain(op, {context.inputs[0], context.cotangent}, context.attributes)};
}

} // namespace shard
