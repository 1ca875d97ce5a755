// What the ops of manual regions share.
#pragma once

#include "planner/graph/device_op.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/move.h"
#include "planner/ops_support/pointwise.h"

namespace shard {

// The attribute that names the group.
AttributeDef over_attribute();

// The attribute `tiled`: the dim stays and changes its size, rather than a dim of the group's size coming or going.
bool is_tiled(const Attributes& attributes);

// The same type as the operand; E0224 unless it is a number.
InferResult infer_same_number(const InferContext& context);
// In the local graph a collective stands in for the op's kernel.
Kernel lower_placeholder(const LowerContext& context);
// The same bytes.
Kernel lower_view(const LowerContext& context);

// Every dim is shared but those named, which are whole on every device, apart in operand and result.
IndexRule rule_but_dims(std::span<const TensorType> operands, std::span<const TensorType> results,
                        std::span<const i64> dims);

// The dim that an integer attribute names, negative from the end; nullopt after reporting E0226 unless it is in
// [0, rank).
std::optional<i64> named_dim(const InferContext& context, std::string_view attribute, int rank, i64 fallback = 0);
i64 dim_of(const Attributes& attributes, std::string_view attribute, int rank, i64 fallback = 0);
// E0273 unless a dim divides by the group's size, or E0278 unless it has that size.
bool check_group_divides(const InferContext& context, i64 dim);
bool check_group_size(const InferContext& context, i64 dim);
// "i (4)", "i x j (4 x 2)"
std::string group_text(const Attributes& attributes);

// The group's values combined one after the other, by rank.
ValueId combined(Chain& chain, std::string_view op, std::span<const ValueId> members);
// Part `rank` of `parts` along a dim.
ValueId part_of(Chain& chain, ValueId value, i64 dim, i64 rank, i64 parts);
// With a dim of size 1 in front of `dim`, or without that dim.
ValueId with_dim(Chain& chain, ValueId value, i64 dim);
ValueId without_dim(Chain& chain, ValueId value, i64 dim);

// psum, pmax and pmin: an all_reduce.
OpDef all_reduce_op(std::string_view name, std::string_view doc, const DeviceOp& device,
                    std::vector<ValueId> (*gradient)(const GradientContext&));
// Of psum, pmax and pmin: no attributes, where the collective reduces by `reduce` and moves nothing.
std::optional<std::string> written_reduction(const Collective& made, ReduceOp reduce);
// Of pmax and pmin: equal shares for the devices that hold the result.
std::vector<ValueId> group_extremum_gradient(const GradientContext& context);

} // namespace shard
