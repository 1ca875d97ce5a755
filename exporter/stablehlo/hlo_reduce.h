// Reductions: of two values, over dims of one, and running along one.
#pragma once

#include "exporter/stablehlo/hlo_ops.h"

namespace shard {

HloValue hlo_combine(ReduceOp reduce, const HloValue& a, const HloValue& b, HloOps& ops);
HloValue hlo_neutral(ReduceOp reduce, DType dtype, const Shape& shape, HloOps& ops); // what a reduction begins with
// An op that has the reduction as its region: all_reduce, reduce_scatter, scatter.
HloValue hlo_with_combiner(const std::string& name, const HloValues& operands, const std::string& attributes,
                           ReduceOp reduce, const HloValue& result, HloOps& ops);

HloValue hlo_reduce(const Reduce& kernel, const HloValue& input, const HloValue& output, HloOps& ops);
HloValue hlo_scan(const Scan& kernel, const HloValues& inputs, const HloValue& output, HloOps& ops);

} // namespace shard
