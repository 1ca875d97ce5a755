#include "plans/kernel/convolve_sizes.h"

#include "plans/base/saturating.h"

#include <algorithm>
#include <map>

namespace shard {

namespace {

// A block of the result is made of a block of what windows meet, which stays in the cache as far as it goes, and what is
// copied of the second operand is used by all rows of a block.
constexpr i64 most_rows = 1024, most_columns = 512, most_terms = 512, least_rows = 16;

i64 size_in(const ConvolveDims::Tensor& tensor, char letter, const TensorType& type, i64 groups) {
    const int dim = tensor.dim(letter);
    return type.shape[static_cast<size_t>(dim)] / (dim == tensor.grouped ? groups : 1);
}

// Of both operands and the result.
i64 elements_of(const ConvolveSizes& sizes) {
    i64 lhs = sizes.kept, rhs = sizes.made, out = multiply_saturating(sizes.kept, sizes.made);
    lhs = multiply_saturating(lhs, sizes.summed);
    rhs = multiply_saturating(rhs, sizes.summed);
    for (const SlideSizes& window : sizes.windows) {
        lhs = multiply_saturating(lhs, window.input);
        rhs = multiply_saturating(rhs, window.window);
        out = multiply_saturating(out, window.output);
    }
    return multiply_saturating(sizes.groups, add_saturating(add_saturating(lhs, rhs), out));
}

} // namespace

ConvolveSizes convolve_sizes(const Convolve& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    std::string problem;
    const std::optional<ConvolveDims> dims = parse_convolve_dims(kernel.dims, problem);
    internal_check(dims.has_value(), "a convolution of unknown dims");
    const i64 groups = kernel.groups;
    ConvolveSizes sizes{groups,
                        size_in(dims->lhs, dims->kept, inputs[0], groups),
                        size_in(dims->rhs, dims->made, inputs[1], groups),
                        size_in(dims->lhs, dims->summed, inputs[0], groups),
                        {}};
    for (const char letter : dims->windows)
        sizes.windows.push_back({size_in(dims->lhs, letter, inputs[0], 1), size_in(dims->rhs, letter, inputs[1], 1),
                                 size_in(dims->out, letter, output, 1)});
    return sizes;
}

std::string convolve_problem(const Convolve& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    if (inputs.size() != 2) return "it takes two operands";
    std::string problem;
    const std::optional<ConvolveDims> dims = parse_convolve_dims(kernel.dims, problem);
    if (!dims) return problem;
    if (kernel.groups < 1 || (kernel.groups > 1) != (dims->group != 0)) return "groups that its dims do not have";
    const ConvolveDims::Tensor* tensors[] = {&dims->lhs, &dims->rhs, &dims->out};
    const TensorType* types[] = {&inputs[0], &inputs[1], &output};
    std::map<char, i64> sizes;
    for (int t = 0; t < 3; ++t) {
        const ConvolveDims::Tensor& tensor = *tensors[t];
        if (tensor.letters.size() != types[t]->shape.size()) return "one letter per dim";
        if (tensor.grouped >= 0 && types[t]->shape[static_cast<size_t>(tensor.grouped)] % kernel.groups != 0)
            return "a dim of groups that does not divide";
        for (const char letter : tensor.letters) {
            const i64 size = size_in(tensor, letter, *types[t], kernel.groups);
            if (dims->windows.find(letter) == std::string::npos && sizes.emplace(letter, size).first->second != size)
                return std::string("letter '") + letter + "' has two sizes";
        }
    }
    if (inputs[0].dtype != inputs[1].dtype) return "operands of two types";
    if (output.dtype != inputs[0].dtype && output.dtype != computed_as(inputs[0].dtype))
        return "a result of another type";
    if (!is_floating(output.dtype)) return "only floating-point types multiply";
    if (kernel.windows.size() != dims->windows.size()) return "one window per letter that all three have";
    const ConvolveSizes all = convolve_sizes(kernel, inputs, output);
    for (size_t w = 0; w < kernel.windows.size(); ++w)
        if (std::string found = slide_problem(kernel.windows[w], all.windows[w]); !found.empty()) return found;
    return {};
}

i64 convolve_flops(const Convolve& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    const ConvolveSizes sizes = convolve_sizes(kernel, inputs, output);
    i64 count = 2;
    for (const i64 size : {sizes.groups, sizes.kept, sizes.made, sizes.summed})
        count = multiply_saturating(count, size);
    for (size_t w = 0; w < sizes.windows.size(); ++w)
        count = multiply_saturating(count, meeting_pairs(kernel.windows[w], sizes.windows[w]));
    return count;
}

ConvolveScratch convolve_scratch(const ConvolveSizes& sizes, DType dtype) {
    constexpr i64 aligned = 64;
    const i64 element = byte_size(computed_as(dtype));
    i64 rows = sizes.kept, terms = sizes.summed;
    for (const SlideSizes& window : sizes.windows) {
        rows = multiply_saturating(rows, window.output);
        terms = multiply_saturating(terms, window.window);
    }
    ConvolveScratch scratch;
    scratch.columns = std::min(sizes.made, most_columns);
    scratch.terms = std::min(terms, most_terms);
    scratch.rows =
        std::min({rows, most_rows, std::max(elements_of(sizes) / std::max<i64>(scratch.terms, 1), least_rows)});
    const auto place = [&](i64 elements) {
        const i64 at = scratch.bytes;
        scratch.bytes += (elements * element + aligned - 1) / aligned * aligned;
        return at;
    };
    scratch.met = place(scratch.rows * scratch.terms);
    scratch.rhs = place(scratch.terms * scratch.columns);
    scratch.result = place(scratch.rows * scratch.columns);
    return scratch;
}

} // namespace shard
