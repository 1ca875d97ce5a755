#include "executor/element.h"
#include "executor/kernels/kernels.h"
#include "executor/sampler.h"
#include "executor/strided.h"

namespace shard {

namespace {

// f(flat index in the box, global index) for every element, row-major.
template<typename F>
void for_each_index(const Shape& shape, std::span<const i64> start, F&& f) {
    std::vector<i64> index(start.begin(), start.end());
    const i64 count = element_count(shape);
    for (i64 flat = 0; flat < count; ++flat) {
        f(flat, std::span<const i64>(index));
        for (size_t d = shape.size(); d-- > 0;) {
            if (++index[d] < start[d] + shape[d]) break;
            index[d] = start[d];
        }
    }
}

template<typename T>
void generate(const Literal& literal, const Shape& global, std::span<const i64> start, const Shape& local, T* out) {
    internal_check(static_cast<i64>(literal.values.size()) == element_count(global), "literal: one value per element");
    for_each_index(local, start, [&](i64 flat, std::span<const i64> index) {
        out[flat] = convert_value<T>(literal.values[static_cast<size_t>(flat_index(global, index))]);
    });
}

template<typename T>
void generate(const Iota& iota, std::span<const i64> start, const Shape& local, T* out) {
    const size_t dim = static_cast<size_t>(iota.dim);
    internal_check(dim < local.size(), "iota: no such dim");
    i64 inner = 1;
    for (size_t d = dim + 1; d < local.size(); ++d) inner *= local[d];
    const i64 size = local[dim], count = element_count(local);
    for (i64 flat = 0; flat < count; ++flat) out[flat] = convert_value<T>(start[dim] + flat / inner % size);
}

template<typename T>
void generate(const Random& random, const Shape& global, std::span<const i64> start, const Shape& local, T* out) {
    const SampleBox box = {global, start, local};
    const size_t count = static_cast<size_t>(element_count(local));
    if constexpr (std::is_same_v<T, Bf16>) {
        sample_bf16(random.distribution, random.key, random.layout, box, {reinterpret_cast<std::uint16_t*>(out), count},
                    random.multiplier);
    } else {
        sample<T>(random.distribution, random.key, random.layout, box, {out, count}, random.multiplier);
    }
}

} // namespace

void generate_box(const Generate& kernel, std::span<const i64> start, const Result& output) {
    internal_check(start.size() == output.shape->size() && kernel.shape.size() == start.size(),
                   "generate: one start per dim");
    if (const Fill* fill = std::get_if<Fill>(&kernel.source)) return fill_value(output, fill->value);
    visit_dtype(output.dtype, [&](auto zero) {
        using T = decltype(zero);
        T* out = reinterpret_cast<T*>(output.data);
        if (const Literal* literal = std::get_if<Literal>(&kernel.source)) {
            generate(*literal, kernel.shape, start, *output.shape, out);
        } else if (const Iota* iota = std::get_if<Iota>(&kernel.source)) {
            generate(*iota, start, *output.shape, out);
        } else {
            generate(std::get<Random>(kernel.source), kernel.shape, start, *output.shape, out);
        }
    });
}

void run_generate(const Generate& kernel, const KernelCall& call) {
    std::vector<i64> start;
    for (const Affine& affine : kernel.start) start.push_back(evaluate(affine, call.context));
    start.resize(call.output.shape->size(), 0);
    generate_box(kernel, start, call.output);
}

} // namespace shard
