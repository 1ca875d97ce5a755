#include "plans/kernel/gemm_layout.h"

#include "plans/base/index_of.h"

#include <algorithm>

namespace shard {

namespace {

using Labels = std::vector<int>;

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// One tensor of the contraction with its labels.
struct Labelled {
    const Labels& labels;
    const Shape& shape;
    std::vector<i64> strides;

    GemmDim dim(int label) const {
        const size_t d = index_of(labels, label);
        return {shape[d], strides[d]};
    }
    std::vector<GemmDim> dims(const Labels& list) const {
        std::vector<GemmDim> result;
        for (int label : list) result.push_back(dim(label));
        return result;
    }
};

Labelled labelled(const Labels& labels, const Shape& shape) {
    internal_check(labels.size() == shape.size(), "contract: one label per dim");
    return {labels, shape, row_major_strides(shape)};
}

// The labels of `from` that satisfy the three memberships, in the order of `from`.
Labels select(const Labels& from, const Labels& also, bool in_also, const Labels& other, bool in_other) {
    Labels result;
    for (int label : from)
        if (has(also, label) == in_also && has(other, label) == in_other) result.push_back(label);
    return result;
}

i64 size_of(const std::vector<GemmDim>& dims) {
    i64 size = 1;
    for (const GemmDim& dim : dims) size *= dim.size;
    return size;
}

// Elements of a packed matrix from which on it is packed in blocks, which are of about as many; and the fewest rows or
// columns of one, so that what is packed again for each of them is multiplied often.
constexpr i64 most_packed = i64{1} << 24;
constexpr i64 fewest_of_block = 128;

GemmCut cut_into(const std::vector<GemmDim>& dims, i64 most) {
    GemmCut cut;
    i64 inner = 1;
    cut.dim = dims.size();
    while (cut.dim > 0 && inner * dims[cut.dim - 1].size <= most) inner *= dims[--cut.dim].size;
    cut.largest = inner;
    if (cut.dim == 0) return cut; // all in one
    const GemmDim& along = dims[--cut.dim];
    cut.step = std::min(along.size, std::max<i64>(1, most / inner));
    cut.largest = cut.step * inner;
    cut.blocks = (along.size + cut.step - 1) / cut.step;
    for (size_t d = 0; d < cut.dim; ++d) cut.blocks *= dims[d].size;
    return cut;
}

GemmCut in_one(const std::vector<GemmDim>& dims) { return cut_into(dims, size_of(dims)); }

// Several dims as one, if stepping through them is one constant stride.
std::optional<GemmDim> merged(const std::vector<GemmDim>& dims) {
    GemmDim result;
    bool first = true;
    for (size_t d = dims.size(); d-- > 0;) {
        if (dims[d].size == 1) continue;
        if (first) {
            result = dims[d];
            first = false;
            continue;
        }
        if (dims[d].stride != result.stride * result.size) return std::nullopt;
        result.size *= dims[d].size;
    }
    return result;
}

GemmMatrix matrix(const Labelled& tensor, const Labels& batch, const Labels& rows, const Labels& cols, bool stage) {
    GemmMatrix result;
    result.rows = tensor.dims(rows);
    result.cols = tensor.dims(cols);
    for (int label : batch) result.batch_strides.push_back(tensor.dim(label).stride);
    const std::optional<GemmDim> row = merged(result.rows), col = merged(result.cols);
    if (!stage && row && col) {
        const bool rows_apart = (col->size == 1 || col->stride == 1) && (row->size == 1 || row->stride >= col->size);
        const bool cols_apart = (row->size == 1 || row->stride == 1) && (col->size == 1 || col->stride >= row->size);
        if (rows_apart) {
            result.ld = row->size == 1 ? col->size : row->stride;
            return result;
        }
        if (cols_apart) {
            result.transposed = true;
            result.ld = col->size == 1 ? row->size : col->stride;
            return result;
        }
    }
    result.packed = true;
    result.ld = size_of(result.cols);
    return result;
}

} // namespace

GemmBlock block_of(const std::vector<GemmDim>& dims, const GemmCut& cut, i64 number) {
    GemmBlock block;
    block.dims.assign(dims.begin() + static_cast<std::ptrdiff_t>(std::min(cut.dim, dims.size())), dims.end());
    i64 inner = 1;
    for (size_t d = cut.dim + 1; d < dims.size(); ++d) inner *= dims[d].size;
    if (block.dims.empty()) return block;
    GemmDim& along = block.dims.front();
    const i64 blocks_along = cut.blocks == 1 ? 1 : (along.size + cut.step - 1) / cut.step;
    if (cut.blocks > 1) {
        const i64 start = number % blocks_along * cut.step;
        i64 place = start, weight = along.size;
        block.offset = start * along.stride;
        along.size = std::min(cut.step, along.size - start);
        number /= blocks_along;
        for (size_t d = cut.dim; d-- > 0; number /= dims[d].size) {
            const i64 index = number % dims[d].size;
            block.offset += index * dims[d].stride;
            place += index * weight;
            weight *= dims[d].size;
        }
        block.first = place * inner;
    }
    block.count = along.size * inner;
    return block;
}

GemmLayout gemm_layout(const Contract& contract, const TensorType& lhs_type, const TensorType& rhs_type,
                       const TensorType& out_type) {
    const Labelled lhs = labelled(contract.lhs, lhs_type.shape), rhs = labelled(contract.rhs, rhs_type.shape),
                   out = labelled(contract.out, out_type.shape);
    for (int label : contract.lhs)
        internal_check(has(contract.rhs, label) || has(contract.out, label), "contract: a label of lhs alone");
    for (int label : contract.rhs)
        internal_check(has(contract.lhs, label) || has(contract.out, label), "contract: a label of rhs alone");
    for (int label : contract.out)
        internal_check(has(contract.lhs, label) || has(contract.rhs, label), "contract: a label of out alone");

    const Labels batch = select(contract.out, contract.lhs, true, contract.rhs, true);
    const Labels m_orders[] = {select(contract.out, contract.lhs, true, contract.rhs, false),
                               select(contract.lhs, contract.out, true, contract.rhs, false)};
    const Labels n_orders[] = {select(contract.out, contract.rhs, true, contract.lhs, false),
                               select(contract.rhs, contract.out, true, contract.lhs, false)};
    const Labels k_orders[] = {select(contract.lhs, contract.rhs, true, contract.out, false),
                               select(contract.rhs, contract.lhs, true, contract.out, false)};

    const DType compute = computed_as(out_type.dtype);
    GemmLayout best;
    i64 best_packed = -1;
    // The order of the labels inside m, n and k is free: take the one that packs least, the first among equals.
    for (int choice = 0; choice < 8; ++choice) {
        const auto is_again = [choice](const Labels(&orders)[2], int bit) {
            return (choice >> bit & 1) != 0 && orders[0] == orders[1];
        };
        if (is_again(m_orders, 0) || is_again(n_orders, 1) || is_again(k_orders, 2)) continue;
        const Labels &m = m_orders[choice & 1], &n = n_orders[(choice >> 1) & 1], &k = k_orders[(choice >> 2) & 1];
        GemmLayout layout;
        layout.compute = compute;
        layout.lhs = matrix(lhs, batch, m, k, lhs_type.dtype != compute);
        layout.rhs = matrix(rhs, batch, k, n, rhs_type.dtype != compute);
        layout.out = matrix(out, batch, m, n, out_type.dtype != compute);
        layout.m = size_of(layout.lhs.rows);
        layout.k = size_of(layout.lhs.cols);
        layout.n = size_of(layout.rhs.cols);
        const i64 rows_of_rhs = size_of(layout.rhs.rows);
        internal_check(rows_of_rhs == layout.k && size_of(layout.out.rows) == layout.m &&
                           size_of(layout.out.cols) == layout.n,
                       "contract: sizes of a label differ");
        const i64 rows = std::max(fewest_of_block, most_packed / std::max<i64>(1, layout.k));
        const bool packs_rows = layout.lhs.packed || layout.out.packed,
                   packs_cols = layout.rhs.packed || layout.out.packed;
        layout.row_cut = packs_rows ? cut_into(layout.lhs.rows, rows) : in_one(layout.lhs.rows);
        layout.col_cut = packs_cols ? cut_into(layout.rhs.cols, rows) : in_one(layout.rhs.cols);
        const i64 element = byte_size(layout.compute);
        const auto place = [&](GemmMatrix& part, i64 elements) {
            if (!part.packed) return;
            part.scratch_offset = (layout.scratch_bytes + 63) / 64 * 64;
            layout.scratch_bytes = part.scratch_offset + elements * element;
        };
        place(layout.lhs, layout.row_cut.largest * layout.k);
        place(layout.rhs, layout.k * layout.col_cut.largest);
        place(layout.out, layout.row_cut.largest * layout.col_cut.largest);
        if (best_packed < 0 || layout.scratch_bytes < best_packed) {
            best_packed = layout.scratch_bytes;
            best = std::move(layout);
        }
    }
    for (const GemmDim& dim : out.dims(batch)) best.batch.push_back(dim.size);
    return best;
}

} // namespace shard
