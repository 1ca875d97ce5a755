// What a small region computes, recognised by its form: the sum of a reduce, the order of a sort.
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

// The region as one line, values numbered in order: "lt(0,1);" and so on, by which forms are compared. Ops are
// called as in StableHLO, without the dialect; comparisons and constants carry what they are.
std::string region_form(const MlirModule& module, const MlirRegion& region);

// The op of a region that applies it to its two arguments and returns the result: "stablehlo.add". A pretty reduce
// names it: applies stablehlo.add. Empty if the region does anything else.
std::string applied_op(const MlirOp& op);

} // namespace shard
