#include "planner/ops_support/convolution.h"

#include "planner/ops_support/infer.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// Letters of the window dims of the usual dims.
constexpr std::string_view usual_windows[] = {"w", "hw", "dhw"};

i64 size_in(const ConvolveDims::Tensor& tensor, char letter, const TensorType& type, i64 groups) {
    const int dim = tensor.dim(letter);
    return type.shape[static_cast<size_t>(dim)] / (dim == tensor.grouped ? groups : 1);
}

i64 groups_of(const Attributes& attributes) { return attributes.integer("groups", 1); }

std::optional<ConvolveDims> dims_of(std::span<const TensorType> operands, const Attributes& attributes,
                                    std::string& problem) {
    const std::string written = attributes.string("dims", usual_convolve_dims(operands[0].shape.size()));
    if (written.empty()) {
        problem = "windows slide along 1 to 3 dims, between a first and a last one";
        return std::nullopt;
    }
    std::optional<ConvolveDims> dims = parse_convolve_dims(written, problem);
    if (!dims) return std::nullopt;
    if (dims->lhs.letters.size() != operands[0].shape.size() || dims->rhs.letters.size() != operands[1].shape.size()) {
        problem =
            fmt::format("{} names {} and {} dims, but the operands have {} and {}", written, dims->lhs.letters.size(),
                        dims->rhs.letters.size(), operands[0].shape.size(), operands[1].shape.size());
        return std::nullopt;
    }
    return with_groups(*dims, groups_of(attributes));
}

bool check_divides(const InferContext& context, const ConvolveDims& dims, i64 groups) {
    for (size_t n = 0; n < 2; ++n) {
        const ConvolveDims::Tensor& tensor = n == 0 ? dims.lhs : dims.rhs;
        if (tensor.grouped < 0 || context.operands[n].shape[static_cast<size_t>(tensor.grouped)] % groups == 0)
            continue;
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("'{}' has {} groups, which do not divide dim {} of {}", context.op, groups,
                               tensor.grouped, operand_text(context, n)))
            .help("each group has as much of what is summed, and makes as much of the result");
        return false;
    }
    return true;
}

// What is summed has one size in both operands.
bool check_summed(const InferContext& context, const ConvolveDims& dims, i64 groups) {
    const i64 left = size_in(dims.lhs, dims.summed, context.operands[0], groups),
              right = size_in(dims.rhs, dims.summed, context.operands[1], groups);
    if (left == right) return true;
    context.diagnostics
        .error("E0223", context.span,
               fmt::format("the shapes of {} and {} do not fit for '{}'", operand_text(context, 0),
                           operand_text(context, 1), context.op))
        .note(fmt::format("by {} dim {} of the left, {}of size {}, is summed with dim {} of the right, of size {}",
                          text(dims), dims.lhs.dim(dims.summed),
                          dims.group == 0 ? "" : fmt::format("in each of {} groups ", groups), left,
                          dims.rhs.dim(dims.summed), right))
        .help("`dims` says which dim is which: {conv: [x, w], dims: \"nhwi,hwio->nhwo\"}");
    return false;
}

void window_sizes(const ConvolveDims& dims, std::span<const TensorType> operands, std::vector<i64>& inputs,
                  std::vector<i64>& windows) {
    for (const char letter : dims.windows) {
        inputs.push_back(size_in(dims.lhs, letter, operands[0], 1));
        windows.push_back(size_in(dims.rhs, letter, operands[1], 1));
    }
}

} // namespace

std::string usual_convolve_dims(size_t rank) {
    if (rank < 3 || rank > 5) return "";
    const std::string_view windows = usual_windows[rank - 3];
    return fmt::format("n{0}i,{0}io->n{0}o", windows);
}

ConvolveDims with_groups(ConvolveDims dims, i64 groups) {
    if (groups == 1) {
        dims.group = 0;
        dims.lhs.grouped = dims.rhs.grouped = dims.out.grouped = -1;
        return dims;
    }
    if (dims.group != 0) return dims;
    const std::string used = dims.lhs.letters + dims.rhs.letters;
    constexpr std::string_view letters = "gabcdefhijklmnopqrstuvwxyz";
    dims.group = letters[letters.find_first_not_of(used)];
    dims.lhs.grouped = dims.lhs.dim(dims.summed);
    dims.rhs.grouped = dims.rhs.dim(dims.made);
    dims.out.grouped = dims.out.dim(dims.made);
    return dims;
}

std::optional<Convolution> check_convolution(const InferContext& context) {
    for (size_t n = 0; n < 2; ++n)
        if (!check_dtype(context, n, is_floating, "a floating-point type")) return std::nullopt;
    if (!check_same_dtype(context)) return std::nullopt;
    const i64 groups = groups_of(context.attributes);
    if (groups < 1) {
        context.diagnostics.error("E0226", context.span,
                                  fmt::format("`groups` of '{}' is at least 1, not {}", context.op, groups));
        return std::nullopt;
    }
    std::string problem;
    const std::optional<ConvolveDims> dims = dims_of(context.operands, context.attributes, problem);
    if (!dims) {
        context.diagnostics.error("E0226", context.span, fmt::format("the dims of '{}': {}", context.op, problem))
            .help("a letter for each dim of both operands and the result: {conv: [x, w], dims: \"nhwi,hwio->nhwo\"}");
        return std::nullopt;
    }
    if (!check_divides(context, *dims, groups) || !check_summed(context, *dims, groups)) return std::nullopt;
    std::vector<i64> inputs, windows;
    window_sizes(*dims, context.operands, inputs, windows);
    std::optional<Slides> slides = check_slides(context, inputs, windows);
    if (!slides) return std::nullopt;
    return Convolution{*dims, groups, std::move(*slides)};
}

Convolution convolution_of(std::span<const TensorType> operands, const Attributes& attributes) {
    std::string problem;
    const std::optional<ConvolveDims> dims = dims_of(operands, attributes, problem);
    internal_check(dims.has_value(), "a convolution of unknown dims");
    std::vector<i64> inputs, windows;
    window_sizes(*dims, operands, inputs, windows);
    return {*dims, groups_of(attributes), slides_of(attributes, inputs, windows)};
}

TensorType convolution_type(const Convolution& convolution, std::span<const TensorType> operands) {
    const ConvolveDims& dims = convolution.dims;
    const i64 groups = convolution.groups;
    Shape shape;
    for (size_t d = 0; d < dims.out.letters.size(); ++d) {
        const char letter = dims.out.letters[d];
        const size_t window = dims.windows.find(letter);
        i64 size = window != std::string::npos ? convolution.slides.sizes[window].output
                   : letter == dims.kept       ? size_in(dims.lhs, letter, operands[0], groups)
                                               : size_in(dims.rhs, letter, operands[1], groups);
        shape.push_back(static_cast<int>(d) == dims.out.grouped ? size * groups : size);
    }
    return make_type(operands[0].dtype, std::move(shape));
}

WindowSplit window_split(const Slide& slide, const SlideSizes& sizes) {
    const bool is_direct = slide.low == 0 && slide.input_dilation == 1;
    if (is_direct && sizes.window == 1 && slide.stride == 1 && sizes.input == sizes.output)
        return WindowSplit::pointwise;
    if (is_direct && sizes.output == 1 && slide.dilation == 1 && sizes.input == sizes.window && !slide.reversed)
        return WindowSplit::plain_terms;
    return sizes.output >= sizes.window ? WindowSplit::places : WindowSplit::terms;
}

} // namespace shard
