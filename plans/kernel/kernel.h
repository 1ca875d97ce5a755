// The kernel classes: everything a device can compute. Ops lower to them; the executor implements them and nothing
// else. All buffers are dense and row-major; shapes are the buffers' local shapes.
#pragma once

#include "plans/kernel/attend.h"
#include "plans/kernel/convolve.h"
#include "plans/kernel/generate.h"
#include "plans/kernel/lookup.h"
#include "plans/kernel/pool.h"
#include "plans/kernel/ragged_contract.h"
#include "plans/kernel/scalar.h"

#include <functional>
#include <variant>

namespace shard {

// Batched GEMM. Every dim of lhs, rhs and out carries a label, at most once per tensor; out[...] = sum of lhs * rhs
// over labels that are not in out. A label of lhs and rhs and out is a batch. Labels of only one operand must be in
// out. bf16 operands accumulate in f32.
struct Contract {
    std::vector<int> lhs, rhs, out;
    bool operator==(const Contract&) const = default;
};

// out[i...] = program(inputs at i...). input_dims[n][d] is the output dim that dim d of input n runs along; a dim of
// size 1 whose output dim is larger is broadcast. An input may have fewer dims than the output. The last step is the
// result.
struct Pointwise {
    std::vector<std::vector<int>> input_dims;
    std::vector<ScalarStep> steps;
    bool operator==(const Pointwise&) const = default;
};

// Reduces `dims` (sorted) of the input away, or of what a program makes of the inputs over `shape`, which is not stored:
// of the result's type. One of the inputs has all of `dims`. f32 and bf16 sums accumulate in f32 at least, in an order
// fixed by the shape.
struct Reduce {
    struct Made {
        Shape shape;
        Pointwise program;
        bool operator==(const Made&) const = default;
    };
    std::vector<int> dims;
    ReduceOp op = ReduceOp::sum;
    std::optional<Made> made = {};
    bool operator==(const Reduce&) const = default;
};
// What is reduced, of which every element counts.
TensorType reduced_type(const Reduce& reduce, std::span<const TensorType> inputs, const TensorType& output);

// Copies boxes: for every piece and every index t in [0, extent): out[out_start + out_stride * t] = operand[in_start +
// in_stride * t'], where dim d of out runs along dim permutation[d] of the operands (t' is t permuted accordingly; in_*
// are in the operand's dim order, out_* and extent in the output's). Indices outside the operand or the output are
// skipped, so a box may reach over a shard's edge. Pieces are copied in order: where two write, the later one holds.
// What no piece writes holds `fill`. An empty permutation is the identity. A reshape is `flat`: same elements,
// row-major.
struct MovePiece {
    int operand = 0;
    std::vector<Affine> in_start;
    std::vector<i64> in_stride; // may be negative: reverse
    std::vector<Affine> out_start;
    std::vector<i64> out_stride;
    std::vector<i64> extent;
    bool operator==(const MovePiece&) const = default;
};
struct Move {
    bool flat = false;
    std::vector<int> permutation;
    std::vector<MovePiece> pieces;
    Number fill = 0;
    bool covers = true; // the pieces write every element, so nothing needs filling
    bool operator==(const Move&) const = default;
};

// A running reduction along `dim`: out[t] = op(out[t - 1], in[t]), or out[t + 1] for out[t - 1] if `reverse`. The
// operand's shape and type are the result's. `linear` takes two operands: out[t] = a[t] * out[t - 1] + b[t], from 0.
// f32 and bf16 accumulate as in Reduce.
enum class ScanOp { sum, prod, max, min, logsumexp, linear };
std::string_view name(ScanOp op);
std::optional<ScanOp> parse_scan_op(std::string_view text);
struct Scan {
    int dim = 0;
    ScanOp op = ScanOp::sum;
    bool reverse = false;
    bool operator==(const Scan&) const = default;
};

// The order of the elements along `dim`: out[..., r, ...] is the position, as i32, of the element with rank r; the
// result has the first ranks only where its dim is smaller. The operands, of one shape, are keys, the first one before
// the second. Equal ones stay in order, NaN is the largest number, and 0 and -0 are equal.
struct Sort {
    int dim = 0;
    bool descending = false;
    bool operator==(const Sort&) const = default;
};

// out[a..., i..., b...] = table[a..., indices[i...], b...]: inputs {table, indices}; `axis` is the table's indexed dim
// and i... are the dims of indices. A pair in `batch` is a dim of the table and one of the indices that are one dim,
// which stands in the result where the table has it; i... are then the others. Indices are clamped to [0, size), size
// global; then `start` is subtracted and indices outside the local table give zeros, so a sharded table yields partial
// sums.
struct Gather {
    int axis = 0;
    i64 size = 0;
    Affine start;
    std::vector<std::pair<int, int>> batch = {};
    Lookup lookup() const { return {axis, batch}; }
    bool operator==(const Gather&) const = default;
};

// The transpose of Gather: out[a..., indices[i...], b...] op= updates[a..., i..., b...] from what `op` begins with;
// inputs {indices, updates}; `batch` pairs dims of the result and the indices. Indices are clamped to [0, size), size
// global; then `start` is subtracted and updates to rows outside the local result are left out, so a device of a
// sharded result combines its own rows. They are combined in the order of i...; sums and products of a narrow type in
// f32.
struct Scatter {
    int axis = 0;
    i64 size = 0;
    Affine start;
    ReduceOp op = ReduceOp::sum;
    std::vector<std::pair<int, int>> batch = {};
    Lookup lookup() const { return {axis, batch}; }
    bool operator==(const Scatter&) const = default;
};

// Attend, Convolve, Generate, RaggedContract and the kernels of pooling have headers of their own.
using Kernel = std::variant<Contract, RaggedContract, Convolve, Pointwise, Reduce, Scan, Sort, Attend, ReduceWindows,
                            SelectWindows, Move, Gather, Scatter, Generate>;
std::string_view class_name(const Kernel& kernel); // "contract", ...

// The program that the kernel runs per element; null if it runs none.
const Pointwise* program_of(const Kernel& kernel);
Pointwise* program_of(Kernel& kernel);

// Every affine expression of a kernel, in a fixed order.
void for_each_affine(Kernel& kernel, const std::function<void(Affine&)>& visit);
void for_each_affine(const Kernel& kernel, const std::function<void(const Affine&)>& visit);

// Floating-point operations of one execution: 2*m*n*k for a contract, for a ragged one of the rows that its groups have,
// one per element and arithmetic step for pointwise, one per element for reduce, beside those of its program, and for
// scan (two for a linear one), one per update for scatter, the logarithm of the length per key for sort, of attend and
// convolve those of their contractions over the pairs that see or meet each other, one per element that a window meets
// for pooling, 0 for the others.
i64 flops(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output);

} // namespace shard
