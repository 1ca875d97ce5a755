// Contractions of rows in groups, as jax.lax.ragged_dot is lowered for devices that have them: the product, and the two
// that its gradients are.
#include "importer/model/op_context.h"

#include <fmt/format.h>

namespace shard {

namespace {

using Dims = std::vector<i64>;

bool import_ragged_dot(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 3, "takes 3 operands")) return false;
    const MlirAttribute* const numbers = find_attribute(context.op.items, {"ragged_dot_dimension_numbers"});
    if (!context.expect(numbers != nullptr, "says which dims it contracts")) return false;
    // Lists that are empty are left out.
    const auto dims = [&](std::string_view key) -> std::optional<Dims> {
        const MlirAttribute* const list = find_attribute(numbers->items, {key});
        return list == nullptr ? Dims() : integers_of(*list);
    };
    const std::optional<Dims> left_batch = dims("lhs_batching_dimensions"),
                              right_batch = dims("rhs_batching_dimensions"), left = dims("lhs_contracting_dimensions"),
                              right = dims("rhs_contracting_dimensions"), ragged = dims("lhs_ragged_dimensions"),
                              groups = dims("rhs_group_dimensions");
    if (!context.expect(left_batch && right_batch && left && right && ragged && groups, "needs lists of dims"))
        return false;
    const size_t rank = context.type(1).shape.size();
    const bool plain = left_batch->empty() && right_batch->empty() && *ragged == Dims{0} &&
                       context.type(0).shape.size() == 2 && context.type(2).shape.size() == 1 &&
                       is_floating(type->dtype) && is_integer(context.type(2).dtype);
    const bool of_rows =
        *left == Dims{1} && *groups == Dims{0} && rank == 3 && (*right == Dims{1} || *right == Dims{2});
    const bool of_groups = *left == Dims{0} && *right == Dims{0} && groups->empty() && rank == 2;
    if (!plain || (!of_rows && !of_groups))
        return context.refuse("a ragged_dot that is none of a matrix of rows, and no gradient of one",
                              "rows are (rows, k), matrices (groups, k, n), and nothing is batched");
    // A wider result says that sums are made in its type.
    const DraftId a = context.draft.cast(context.operand(0), type->dtype),
                  b = context.draft.cast(context.operand(1), type->dtype);
    const std::string turned = of_rows && *right == Dims{2} ? ", transposed: true" : "";
    context.set(0, context.draft.add(of_rows ? "ragged_dot" : "ragged_dot_gradient", {a, b, context.operand(2)}, turned,
                                     *type));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_ragged() { return {{"chlo.ragged_dot", import_ragged_dot}}; }

} // namespace shard
