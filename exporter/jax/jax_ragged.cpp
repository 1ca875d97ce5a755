#include "exporter/jax/jax_ragged.h"

#include <fmt/format.h>

namespace shard {

namespace {

TensorType type_of(const JaxValue& value) { return {value.dtype, value.shape, {}}; }

} // namespace

PythonText jax_ragged(const RaggedContract& kernel, std::span<const JaxValue> inputs, const JaxValue& output,
                      JaxBody& body) {
    const TensorType types[] = {type_of(inputs[0]), type_of(inputs[1]), type_of(inputs[2])};
    const RaggedSizes sizes = ragged_sizes(kernel, types, type_of(output));
    // The text, with its batch dims as two.
    const auto shaped = [](const std::string& text, const Shape& has, const Shape& shape) {
        return has == shape ? text : fmt::format("{}.reshape({})", text, shape_tuple(shape));
    };
    const auto rows = [&](const JaxValue& value) {
        return shaped(value.name, value.shape, {sizes.outer, sizes.batch, sizes.rows, value.shape.back()});
    };
    const Shape of_sizes = {sizes.outer, sizes.batch, sizes.all_groups};
    const std::string begins = body.fresh(inputs[2].name + "_begins"), ends = body.fresh(inputs[2].name + "_ends");
    body.assign(fmt::format("{}, {}", begins, ends), bracket("own_groups(",
                                                             {{shaped(inputs[2].name, inputs[2].shape, of_sizes)},
                                                              {body.affine(kernel.row)},
                                                              {body.affine(kernel.group)},
                                                              {std::to_string(sizes.rows)},
                                                              {std::to_string(sizes.groups)}},
                                                             ")"));
    const DType wide = computed_as(inputs[0].dtype);
    Shape made = {sizes.outer, sizes.batch, sizes.rows, sizes.n};
    std::vector<PythonText> operands = {{rows(inputs[0])}};
    if (kernel.part == RaggedPart::rows) {
        Shape of_matrices = {sizes.batch, sizes.groups, sizes.k, sizes.n};
        if (kernel.transposed) std::swap(of_matrices[2], of_matrices[3]);
        operands.push_back(
            {shaped(inputs[1].name, inputs[1].shape, of_matrices) + (kernel.transposed ? ".swapaxes(-1, -2)" : "")});
    } else {
        operands.push_back({rows(inputs[1])});
        made = {sizes.batch, sizes.groups, sizes.k, sizes.n};
    }
    for (const std::string& text : {begins, ends, jax_dtype(wide)}) operands.push_back({text});
    std::string end = made == output.shape ? ")" : fmt::format(").reshape({})", shape_tuple(output.shape));
    if (output.dtype != wide) end += fmt::format(".astype({})", jax_dtype(output.dtype));
    return bracket(fmt::format("ragged_{}(", name(kernel.part)), std::move(operands), end);
}

} // namespace shard
