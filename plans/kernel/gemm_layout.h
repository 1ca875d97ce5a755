// How a Contract becomes batched GEMM: out(m x n) = lhs(m x k) * rhs(k x n), once per batch index. Labels merge into m,
// n and k where their strides allow; an operand whose labels do not merge is packed: copied, per batch index, into a
// contiguous row-major matrix in scratch. So is an operand of another type than the multiplication's (bf16 multiplies
// as f32, and is rounded when the result is written). Planner and executor share this, so that the scratch in the plan
// is the scratch that is used.
//
// Large matrices are packed block by block, of rows of out and lhs and of columns of out and rhs: accelerators multiply
// such operands where they lie, so what scratch there is has to be little beside them.
//
//     "bqhd,bkhd->bhqk" (8,64,12,32): batch {b, h}, m = q, n = k, k = d; lhs rows 12*32 apart, rhs read transposed, no
//     packing
#pragma once

#include "plans/kernel/kernel.h"

namespace shard {

struct GemmDim {
    i64 size = 1;
    i64 stride = 1; // elements of the tensor
    bool operator==(const GemmDim&) const = default;
};

struct GemmMatrix {
    std::vector<GemmDim> rows, cols; // outer to inner, not merged: what packing copies
    std::vector<i64> batch_strides;  // one per batch dim
    bool packed = false;             // through scratch; then transposed is false and ld is the number of columns
    bool transposed = false;         // columns are ld apart and rows are contiguous
    i64 ld = 1;
    i64 scratch_offset = 0; // from the start of the step's scratch, if packed
};

// How m or n is cut: the indices of the dims before `dim` one by one, and along it so many at a time.
struct GemmCut {
    size_t dim = 0;
    i64 step = 1;
    i64 blocks = 1;
    i64 largest = 1; // rows or columns of a block
    bool operator==(const GemmCut&) const = default;
};

// A block of rows or columns of a matrix.
struct GemmBlock {
    std::vector<GemmDim> dims;
    i64 offset = 0; // elements of the tensor
    i64 first = 0, count = 1;
};
GemmBlock block_of(const std::vector<GemmDim>& dims, const GemmCut& cut, i64 number);

struct GemmLayout {
    i64 m = 1, n = 1, k = 1;
    GemmCut row_cut, col_cut; // one block each where nothing large is packed
    std::vector<i64> batch;
    DType compute = DType::f32; // of the matrices that are multiplied
    GemmMatrix lhs, rhs, out;
    i64 scratch_bytes = 0;
};

// Internal error if labels and shapes do not fit each other.
GemmLayout gemm_layout(const Contract& contract, const TensorType& lhs, const TensorType& rhs, const TensorType& out);

} // namespace shard
