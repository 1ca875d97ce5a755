#include "planner/composites_support/take_along.h"
#include "planner/ops_support/infer.h"

#include <fmt/format.h>

namespace shard {

namespace {

BuiltValues build(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes, Span span) {
    const TensorType type = builder.type(operands[0]), indices = builder.type(operands[1]);
    const i64 dim = type.rank() == 0 ? 0 : dims_or_last(attributes, type.rank())[0];
    Shape expected = type.shape;
    if (type.rank() > 0 && indices.rank() == type.rank()) expected[dim] = indices.shape[dim];
    if (type.rank() == 0 || indices.shape != expected) {
        builder.diagnostics()
            .error("E0223", span,
                   fmt::format("'take_along_axis' takes indices {} along dim {} of a value {}",
                               shape_text(indices.shape), dim, shape_text(type.shape)))
            .help("the indices have the value's sizes in all other dims; for other shapes there is `gather`");
        return std::nullopt;
    }
    Chain chain(builder);
    return chain.result(take_along(chain, operands[0], operands[1], dim));
}

} // namespace

const CompositeDef& composite_take_along_axis() {
    static const CompositeDef def = {
        "take_along_axis",
        "Elements by indices along one dim, for each place of the others: out[i, j] = x[i, indices[i, j]]; indices "
        "beyond the ends take the end.\n{take_along_axis: [x, indices], dim: -1}",
        {2, 2},
        {{"dim", AttributeDef::Type::dim, false, "the dim that the indices count along; the last unless said"}},
        build};
    return def;
}

} // namespace shard
