#include "plans/kernel/ragged_contract.h"

#include "plans/base/saturating.h"

#include <algorithm>

namespace shard {

namespace {

constexpr std::string_view part_names[] = {"rows", "groups"};

i64 product_of(std::span<const i64> sizes) {
    i64 product = 1;
    for (const i64 size : sizes) product = multiply_saturating(product, size);
    return product;
}

} // namespace

std::string_view name(RaggedPart part) { return part_names[static_cast<size_t>(part)]; }

std::optional<RaggedPart> parse_ragged_part(std::string_view text) {
    for (size_t n = 0; n < std::size(part_names); ++n)
        if (part_names[n] == text) return static_cast<RaggedPart>(n);
    return std::nullopt;
}

RaggedSizes ragged_sizes(const RaggedContract& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    const Shape& lhs = inputs[0].shape;
    const Shape& matrices = kernel.part == RaggedPart::rows ? inputs[1].shape : output.shape;
    const size_t batch = lhs.size() - 2, own = matrices.size() - 3;
    const std::span<const i64> dims = std::span(lhs).first(batch);
    RaggedSizes sizes;
    sizes.outer = product_of(dims.first(batch - own));
    sizes.batch = product_of(dims.last(own));
    sizes.rows = lhs[batch];
    sizes.k = lhs.back();
    sizes.n = kernel.part == RaggedPart::rows ? output.shape.back() : inputs[1].shape.back();
    sizes.groups = matrices[own];
    sizes.all_groups = inputs[2].shape.back();
    return sizes;
}

std::string ragged_problem(const RaggedContract& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    if (inputs.size() != 3) return "it takes two operands and sizes";
    const bool of_rows = kernel.part == RaggedPart::rows;
    if (inputs[0].dtype != inputs[1].dtype) return "operands of two types";
    if (!is_floating(inputs[0].dtype)) return "only floating-point types multiply";
    if (output.dtype != inputs[0].dtype && output.dtype != computed_as(inputs[0].dtype))
        return "a result of another type";
    if (!is_integer(inputs[2].dtype)) return "sizes that are no whole numbers";
    if (kernel.transposed && !of_rows) return "only matrices of groups are transposed";
    const Shape &lhs = inputs[0].shape, &rows = of_rows ? output.shape : inputs[1].shape, &sizes = inputs[2].shape,
                &matrices = of_rows ? inputs[1].shape : output.shape;
    if (lhs.size() < 2 || rows.size() != lhs.size() || sizes.size() + 1 != lhs.size() || matrices.size() < 3 ||
        matrices.size() > lhs.size() + 1)
        return "tensors of other ranks";
    const size_t batch = lhs.size() - 2, own = matrices.size() - 3;
    for (size_t d = 0; d <= batch; ++d)
        if (rows[d] != lhs[d]) return "rows of two shapes";
    for (size_t d = 0; d < batch; ++d)
        if (sizes[d] != lhs[d]) return "sizes of another batch";
    for (size_t d = 0; d < own; ++d)
        if (matrices[d] != lhs[batch - own + d]) return "matrices of another batch";
    const i64 k = matrices[own + (kernel.transposed ? 2 : 1)], n = matrices[own + (kernel.transposed ? 1 : 2)];
    if (k != lhs.back() || n != rows.back()) return "matrices of another size";
    return matrices[own] > sizes.back() ? "more groups than there are in all" : "";
}

i64 ragged_flops(const RaggedSizes& sizes) {
    i64 count = 2;
    for (const i64 size : {sizes.outer, sizes.batch, sizes.k, sizes.n}) count = multiply_saturating(count, size);
    const double here =
        static_cast<double>(sizes.rows) * static_cast<double>(sizes.groups) / static_cast<double>(sizes.all_groups);
    if (sizes.groups == sizes.all_groups) return multiply_saturating(count, sizes.rows);
    const double all = static_cast<double>(count) * here;
    return all < 9e18 ? static_cast<i64>(all) : std::numeric_limits<i64>::max();
}

RaggedScratch ragged_scratch(RaggedPart part, const RaggedSizes& sizes, DType operands, DType result) {
    constexpr i64 most_rows = 256;
    const DType wide = computed_as(operands);
    RaggedScratch scratch;
    if (wide == operands) return scratch;
    scratch.rows = std::min(most_rows, sizes.rows);
    const auto place = [&scratch, wide](i64& offset, i64 rows, i64 columns) {
        offset = add_saturating(scratch.bytes, 63) / 64 * 64;
        scratch.bytes =
            add_saturating(offset, multiply_saturating(multiply_saturating(rows, columns), byte_size(wide)));
    };
    const bool of_rows = part == RaggedPart::rows;
    place(scratch.lhs, scratch.rows, sizes.k);
    place(scratch.rhs, of_rows ? sizes.k : scratch.rows, sizes.n);
    if (result != wide) place(scratch.result, of_rows ? scratch.rows : sizes.k, sizes.n);
    return scratch;
}

} // namespace shard
