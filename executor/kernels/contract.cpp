#include "executor/kernels/contract.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/blas.h"
#include "executor/kernels/kernels.h"
#include "executor/kernels/narrow_product.h"
#include "executor/kernels/panel_product.h"
#include "plans/kernel/gemm_layout.h"

#include <algorithm>

namespace shard {

namespace {

// Copies a block of one batch index of a tensor into (or, for the result, out of) a contiguous row-major matrix.
std::vector<CopyDim> packing(const std::vector<GemmDim>& rows, const std::vector<GemmDim>& cols, bool unpack) {
    std::vector<CopyDim> dims;
    for (const std::vector<GemmDim>* list : {&rows, &cols})
        for (const GemmDim& dim : *list) dims.push_back({dim.size, 0, dim.stride});
    i64 stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
        dims[d].to = stride;
        stride *= dims[d].extent;
        if (unpack) std::swap(dims[d].to, dims[d].from);
    }
    return dims;
}

// Integers wrap, as in XLA; booleans are "or of and". Matrices of any layout, without blocking: integer products are
// rare.
template<typename T>
void plain_gemm(i64 m, i64 n, i64 k, MatrixRef<const T> a, MatrixRef<const T> b, MatrixRef<T> c) {
    const i64 a_row = a.transposed ? 1 : a.ld, a_col = a.transposed ? a.ld : 1;
    const i64 b_row = b.transposed ? 1 : b.ld, b_col = b.transposed ? b.ld : 1;
    const i64 c_row = c.transposed ? 1 : c.ld, c_col = c.transposed ? c.ld : 1;
    for (i64 i = 0; i < m; ++i)
        for (i64 j = 0; j < n; ++j) {
            std::uint64_t sum = 0;
            for (i64 l = 0; l < k; ++l)
                sum += static_cast<std::uint64_t>(a.data[i * a_row + l * a_col]) *
                       static_cast<std::uint64_t>(b.data[l * b_row + j * b_col]);
            c.data[i * c_row + j * c_col] =
                std::is_same_v<T, std::uint8_t> ? static_cast<T>(sum != 0 ? 1 : 0) : static_cast<T>(sum);
        }
}

// A large product is cut along its longer side, many small ones of a batch into runs of them: by their sizes alone, so
// that the same library gives the same bits whoever helps. OpenBLAS copies the other side for every part, which this
// many rows make cheap.
constexpr i64 rows_of_part = 1024;
constexpr i64 products_of_part = i64{1} << 23; // multiplications

template<typename T>
bool multiplies_where_they_lie(i64 m, i64 n, i64 k, MatrixRef<const T> a, MatrixRef<const T> b, MatrixRef<T> c) {
    if (narrow_product(m, n, k, a, b, c)) return true;
    if constexpr (std::is_same_v<T, float>) return panel_product(m, n, k, a, b, c);
    return false;
}

template<typename T>
void multiply_one(i64 rows, i64 cols, i64 k, MatrixRef<const T> left, MatrixRef<const T> right, MatrixRef<T> out,
                  const KernelCall& call) {
    const bool by_rows = rows >= cols;
    const i64 length = by_rows ? rows : cols, parts = std::max<i64>(1, length / rows_of_part);
    call.share(parts, [&](i64 part) {
        const i64 low = part * length / parts, count = (part + 1) * length / parts - low;
        MatrixRef<const T> a = left, b = right;
        MatrixRef<T> c = out;
        if (by_rows)
            a.data += low * (a.transposed ? 1 : a.ld);
        else
            b.data += low * (b.transposed ? b.ld : 1);
        c.data += low * (by_rows == c.transposed ? 1 : c.ld);
        const i64 m = by_rows ? count : rows, n = by_rows ? cols : count;
        if constexpr (!std::is_floating_point_v<T>)
            plain_gemm<T>(m, n, k, a, b, c);
        else if (!multiplies_where_they_lie(m, n, k, a, b, c))
            gemm(m, n, k, a, b, c);
    });
}

// The offsets of product number `batch`, the last batch dim fastest.
struct BatchOffsets {
    i64 lhs = 0, rhs = 0, out = 0;
};

BatchOffsets offsets_of(const GemmLayout& layout, i64 batch) {
    BatchOffsets offsets;
    for (size_t d = layout.batch.size(); d-- > 0; batch /= layout.batch[d]) {
        const i64 index = batch % layout.batch[d];
        offsets.lhs += index * layout.lhs.batch_strides[d];
        offsets.rhs += index * layout.rhs.batch_strides[d];
        offsets.out += index * layout.out.batch_strides[d];
    }
    return offsets;
}

template<typename T>
void multiply(const GemmLayout& layout, const KernelCall& call) {
    const Operand &lhs = call.inputs[0], &rhs = call.inputs[1];
    const i64 element = static_cast<i64>(sizeof(T));
    const auto scratch = [&](const GemmMatrix& matrix, i64 elements) {
        return matrix.packed ? call.scratch.at(matrix.scratch_offset, elements * element) : nullptr;
    };
    std::byte* const packed_lhs = scratch(layout.lhs, layout.row_cut.largest * layout.k);
    std::byte* const packed_rhs = scratch(layout.rhs, layout.k * layout.col_cut.largest);
    std::byte* const packed_out = scratch(layout.out, layout.row_cut.largest * layout.col_cut.largest);

    // Rows or columns of a matrix that lies as it is begin `ld` apart, or one behind the other.
    const auto lying = [](const GemmMatrix& matrix, bool along_rows, i64 first) {
        return first * (along_rows == matrix.transposed ? 1 : matrix.ld);
    };
    const auto operand = [&](const GemmMatrix& matrix, const Operand& from, i64 offset, std::byte* packed,
                             const GemmBlock& block, bool along_rows) {
        if (!matrix.packed) {
            const i64 at = offset + lying(matrix, along_rows, block.first);
            return MatrixRef<const T>{reinterpret_cast<const T*>(from.data) + at, matrix.transposed, matrix.ld};
        }
        const std::byte* const data = from.data + (offset + block.offset) * byte_size(from.dtype);
        convert_strided(packed, layout.compute, data, from.dtype,
                        along_rows ? packing(block.dims, matrix.cols, false) : packing(matrix.rows, block.dims, false));
        return MatrixRef<const T>{reinterpret_cast<const T*>(packed), false, along_rows ? layout.k : block.count};
    };
    const auto product = [&](i64 batch) {
        const BatchOffsets at = offsets_of(layout, batch);
        MatrixRef<const T> left{};
        i64 rows_in_left = -1;
        for (i64 c = 0; c < layout.col_cut.blocks; ++c) {
            const GemmBlock cols = block_of(layout.rhs.cols, layout.col_cut, c),
                            out_cols = block_of(layout.out.cols, layout.col_cut, c);
            const MatrixRef<const T> right = operand(layout.rhs, rhs, at.rhs, packed_rhs, cols, false);
            for (i64 r = 0; r < layout.row_cut.blocks; ++r) {
                const GemmBlock rows = block_of(layout.lhs.rows, layout.row_cut, r),
                                out_rows = block_of(layout.out.rows, layout.row_cut, r);
                if (rows_in_left != r) left = operand(layout.lhs, lhs, at.lhs, packed_lhs, rows, true);
                rows_in_left = r;
                if (layout.out.packed) {
                    const MatrixRef<T> out = {reinterpret_cast<T*>(packed_out), false, cols.count};
                    multiply_one<T>(rows.count, cols.count, layout.k, left, right, out, call);
                    convert_strided(
                        call.output.data + (at.out + out_rows.offset + out_cols.offset) * byte_size(call.output.dtype),
                        call.output.dtype, packed_out, layout.compute, packing(out_rows.dims, out_cols.dims, true));
                } else {
                    T* const target = reinterpret_cast<T*>(call.output.data) + at.out +
                                      lying(layout.out, true, rows.first) + lying(layout.out, false, cols.first);
                    multiply_one<T>(rows.count, cols.count, layout.k, left, right,
                                    {target, layout.out.transposed, layout.out.ld}, call);
                }
            }
        }
    };

    i64 batches = 1;
    for (i64 size : layout.batch) batches *= size;
    const bool uses_scratch = layout.lhs.packed || layout.rhs.packed || layout.out.packed; // of one product
    const double products = static_cast<double>(layout.m) * static_cast<double>(layout.n) *
                            static_cast<double>(layout.k) * static_cast<double>(batches);
    const bool is_cut = std::max(layout.m, layout.n) >= 2 * rows_of_part;
    const i64 parts = uses_scratch || is_cut ? 1
                                             : std::clamp(static_cast<i64>(products / products_of_part), i64{1},
                                                          std::max<i64>(1, batches));
    call.share(parts, [&](i64 part) {
        for (i64 batch = part * batches / parts; batch < (part + 1) * batches / parts; ++batch) product(batch);
    });
}

} // namespace

void run_contract(const Contract& kernel, const KernelCall& call) {
    internal_check(call.inputs.size() == 2, "contract takes two operands");
    const GemmLayout layout = gemm_layout(kernel, call.inputs[0].type(), call.inputs[1].type(), call.output.type());
    visit_dtype(layout.compute, [&](auto value) {
        using T = decltype(value);
        if constexpr (is_narrow<T>) {
            internal_error("contract: narrow types multiply as f32");
        } else {
            multiply<T>(layout, call);
        }
    });
}

} // namespace shard
