#include "executor/kernels/ragged_contract.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/blas.h"
#include "executor/kernels/narrow_product.h"
#include "plans/base/saturating.h"

#include <algorithm>
#include <cstring>

namespace shard {

namespace {

// Rows of the device: [low, high).
struct Rows {
    i64 low = 0, high = 0;
    i64 count() const { return high - low; }
};

// By batch and group of the device, the rows of it that the device has.
std::vector<Rows> rows_of_groups(const RaggedContract& kernel, const RaggedSizes& sizes, const KernelCall& call) {
    const Operand& given = call.inputs[2];
    const i64 row = evaluate(kernel.row, call.context), first = evaluate(kernel.group, call.context);
    const i64 batches = sizes.outer * sizes.batch;
    std::vector<Rows> all(static_cast<size_t>(batches * sizes.groups));
    visit_dtype(given.dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (!is_float_element<T>) {
            const T* const counts = reinterpret_cast<const T*>(given.data);
            for (i64 b = 0; b < batches; ++b) {
                i64 end = 0;
                for (i64 g = 0; g < sizes.all_groups; ++g) {
                    const i64 begin = end;
                    end = add_saturating(
                        end, std::max<i64>(0, convert_value<std::int64_t>(counts[b * sizes.all_groups + g])));
                    if (g < first || g >= first + sizes.groups) continue;
                    const auto here = [&](i64 at) { return std::clamp<i64>(at, row, row + sizes.rows) - row; };
                    all[static_cast<size_t>(b * sizes.groups + g - first)] = {here(begin), here(end)};
                }
            }
        }
    });
    return all;
}

// A large group is cut into runs of so many rows, by its size alone.
constexpr i64 rows_of_part = 1024;

template<typename T>
void product(i64 m, i64 n, i64 k, MatrixRef<const T> lhs, MatrixRef<const T> rhs, MatrixRef<T> out, bool adds) {
    if (adds || !narrow_product(m, n, k, lhs, rhs, out)) gemm(m, n, k, lhs, rhs, out, 1, adds);
}

template<typename T>
class Ragged {
public:
    Ragged(const RaggedContract& kernel, const KernelCall& call, const RaggedSizes& sizes)
        : kernel_(kernel), call_(call), sizes_(sizes), operands_(call.inputs[0].dtype), result_(call.output.dtype),
          scratch_(ragged_scratch(kernel.part, sizes, operands_, result_)),
          memory_(scratch_.bytes > 0 ? call.scratch.at(0, scratch_.bytes) : nullptr),
          rows_(rows_of_groups(kernel, sizes, call)) {}

    void run() {
        if (kernel_.part == RaggedPart::rows)
            run_rows();
        else
            run_groups();
    }

private:
    static constexpr DType wide = std::is_same_v<T, double> ? DType::f64 : DType::f32;
    struct Part {
        i64 batch, group, low, high;
    };

    bool converts() const { return memory_ != nullptr; }
    const Rows& rows(i64 batch, i64 group) const { return rows_[static_cast<size_t>(batch * sizes_.groups + group)]; }

    // Elements from `first` on of an operand, as a matrix of so many columns; copied if they are of a narrow type.
    MatrixRef<const T> matrix(size_t operand, i64 first, i64 rows, i64 columns, i64 offset) const {
        const std::byte* data = call_.inputs[operand].data + first * byte_size(operands_);
        if (converts()) {
            convert_strided(memory_ + offset, wide, data, operands_, {{rows * columns, 1, 1}});
            data = memory_ + offset;
        }
        return {reinterpret_cast<const T*>(data), false, columns};
    }

    std::byte* result_at(i64 first) const { return call_.output.data + first * byte_size(result_); }
    // Where a product of elements from `first` on is made, and how it gets to the result.
    T* made_at(i64 first) const {
        return reinterpret_cast<T*>(result_ == wide ? result_at(first) : memory_ + scratch_.result);
    }
    void store(i64 first, i64 count) const {
        if (result_ != wide)
            convert_strided(result_at(first), result_, memory_ + scratch_.result, wide, {{count, 1, 1}});
    }
    void clear(i64 first, i64 count) const {
        std::memset(result_at(first), 0, static_cast<size_t>(count * byte_size(result_)));
    }

    // --- rows ---

    void run_rows() {
        const i64 step = converts() ? scratch_.rows : rows_of_part;
        std::vector<Part> parts;
        for (i64 b = 0; b < sizes_.outer * sizes_.batch; ++b) {
            const i64 low = rows(b, 0).low, high = rows(b, sizes_.groups - 1).high, before = b * sizes_.rows;
            clear(before * sizes_.n, low * sizes_.n);
            clear((before + high) * sizes_.n, (sizes_.rows - high) * sizes_.n);
        }
        // Group by group, so that the matrix of one is converted once for all that follow each other.
        for (i64 g = 0; g < sizes_.batch * sizes_.groups; ++g)
            for (i64 o = 0; o < sizes_.outer; ++o) {
                const i64 b = o * sizes_.batch + g / sizes_.groups, group = g % sizes_.groups;
                const Rows& all = rows(b, group);
                for (i64 low = all.low; low < all.high; low += step)
                    parts.push_back({b, group, low, std::min(all.high, low + step)});
            }
        i64 held = -1;
        MatrixRef<const T> converted;
        const auto one = [&](const Part& part) {
            const i64 group = part.batch % sizes_.batch * sizes_.groups + part.group,
                      first = group * sizes_.k * sizes_.n;
            const i64 row = part.batch * sizes_.rows + part.low, count = part.high - part.low;
            MatrixRef<const T> of_group = converted;
            if (held != group || !converts()) {
                of_group = kernel_.transposed ? matrix(1, first, sizes_.n, sizes_.k, scratch_.rhs)
                                              : matrix(1, first, sizes_.k, sizes_.n, scratch_.rhs);
                of_group.transposed = kernel_.transposed;
            }
            if (converts()) {
                held = group;
                converted = of_group;
            }
            product(count, sizes_.n, sizes_.k, matrix(0, row * sizes_.k, count, sizes_.k, scratch_.lhs), of_group,
                    MatrixRef<T>{made_at(row * sizes_.n), false, sizes_.n}, false);
            store(row * sizes_.n, count * sizes_.n);
        };
        if (converts()) // through one scratch
            for (const Part& part : parts) one(part);
        else
            call_.share(std::ssize(parts), [&](i64 n) { one(parts[static_cast<size_t>(n)]); });
    }

    // --- groups ---

    void run_groups() {
        const i64 count = sizes_.batch * sizes_.groups;
        const auto one = [&](i64 at) { sum_up(at / sizes_.groups, at % sizes_.groups, at * sizes_.k * sizes_.n); };
        if (converts())
            for (i64 at = 0; at < count; ++at) one(at);
        else
            call_.share(count, one);
    }

    void sum_up(i64 batch, i64 group, i64 first) {
        bool adds = false;
        for (i64 o = 0; o < sizes_.outer; ++o) {
            const i64 b = o * sizes_.batch + batch;
            const Rows& all = rows(b, group);
            const i64 step = converts() ? scratch_.rows : std::max<i64>(1, all.count());
            for (i64 low = all.low; low < all.high; low += step) {
                const i64 count = std::min(step, all.high - low), row = b * sizes_.rows + low;
                MatrixRef<const T> lhs = matrix(0, row * sizes_.k, count, sizes_.k, scratch_.lhs);
                lhs.transposed = true;
                product(sizes_.k, sizes_.n, count, lhs, matrix(1, row * sizes_.n, count, sizes_.n, scratch_.rhs),
                        MatrixRef<T>{made_at(first), false, sizes_.n}, adds);
                adds = true;
            }
        }
        if (adds)
            store(first, sizes_.k * sizes_.n);
        else
            clear(first, sizes_.k * sizes_.n);
    }

    const RaggedContract& kernel_;
    const KernelCall& call_;
    const RaggedSizes& sizes_;
    DType operands_, result_;
    RaggedScratch scratch_;
    std::byte* memory_;
    std::vector<Rows> rows_;
};

} // namespace

void run_ragged_contract(const RaggedContract& kernel, const KernelCall& call) {
    std::vector<TensorType> types;
    for (const Operand& input : call.inputs) types.push_back(input.type());
    internal_check(ragged_problem(kernel, types, call.output.type()).empty(), "ragged_contract: operands do not fit");
    const RaggedSizes sizes = ragged_sizes(kernel, types, call.output.type());
    if (computed_as(types[0].dtype) == DType::f64)
        Ragged<double>(kernel, call, sizes).run();
    else
        Ragged<float>(kernel, call, sizes).run();
}

} // namespace shard
