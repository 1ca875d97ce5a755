#include "executor/kernels/generate.h"

#include "executor/kernels/move.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/kernels.h"
#include "executor/kernels/sampler.h"

#include <algorithm>

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
        out[flat] = convert_value<T>(literal.values[flat_index(global, index)]);
    });
}

template<typename T>
void generate(const Iota& iota, std::span<const i64> start, const Shape& local, T* out) {
    const size_t dim = iota.dim;
    internal_check(dim < local.size(), "iota: no such dim");
    i64 inner = 1;
    for (size_t d = dim + 1; d < local.size(); ++d) inner *= local[d];
    const i64 size = local[dim], count = element_count(local);
    for (i64 flat = 0; flat < count; ++flat) out[flat] = convert_value<T>(start[dim] + flat / inner % size);
}

template<typename T>
void draw(const Random& random, Key key, const SampleBox& box, T* out) {
    const size_t count = element_count(Shape(box.local_shape.begin(), box.local_shape.end()));
    sample<T>(random.distribution, key, random.layout, box, {out, count}, random.multiplier);
}

// Row after row, since a block's part of the box is not one run: every row is cut where another block begins.
template<typename T>
void draw_blocks(const Random& random, const Shape& global, std::span<const i64> start, const Shape& local, T* out) {
    const size_t rank = local.size();
    Shape block(rank), row = local;
    for (size_t d = 0; d < rank; ++d) block[d] = global[d] / random.blocks[d];
    for (size_t d = 0; d + 1 < rank; ++d) row[d] = 1;
    Shape rows = local;
    rows.back() = 1;
    for_each_index(rows, start, [&](i64 flat, std::span<const i64> index) {
        std::vector<i64> at(index.begin(), index.end()), within(rank);
        T* to = out + flat * local.back();
        for (const i64 end = start[rank - 1] + local.back(); at.back() < end; at.back() += row.back()) {
            i64 number = 0;
            for (size_t d = 0; d < rank; ++d) {
                number = number * random.blocks[d] + at[d] / block[d];
                within[d] = at[d] % block[d];
            }
            row.back() = std::min(end - at.back(), block.back() - within.back());
            draw(random, fold_in(random.key, static_cast<std::uint32_t>(number)), {block, within, row}, to);
            to += row.back();
        }
    });
}

template<typename T>
void generate(const Random& random, const Shape& global, std::span<const i64> start, const Shape& local, T* out) {
    if (!random.blocks.empty() && !local.empty()) return draw_blocks(random, global, start, local, out);
    if (random.layers.empty()) return draw(random, random.key, {global, start, local}, out);
    const std::optional<size_t> stacks = stack_dims(global, random.layers.size());
    internal_check(stacks.has_value(), "random: one key per entry of the first dims");
    const SampleBox entry = {std::span(global).subspan(*stacks), start.subspan(*stacks),
                             std::span(local).subspan(*stacks)};
    const i64 size = element_count(Shape(entry.local_shape.begin(), entry.local_shape.end()));
    const std::span<const i64> layers = std::span(local).first(*stacks);
    for_each_index(Shape(layers.begin(), layers.end()), start.first(*stacks), [&](i64 n, std::span<const i64> index) {
        size_t layer = 0;
        for (size_t d = 0; d < *stacks; ++d) layer = layer * global[d] + index[d];
        draw(random, random.layers[layer], entry, out + n * size);
    });
}

} // namespace

void generate_box(const Generate& kernel, std::span<const i64> start, const Result& output) {
    internal_check(start.size() == output.shape->size() && kernel.shape.size() == start.size(),
                   "generate: one start per dim");
    for (size_t d = 0; d < start.size(); ++d)
        internal_check(start[d] >= 0 && start[d] + (*output.shape)[d] <= kernel.shape[d],
                       "generate: a block outside the whole");
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

namespace {

bool is_inside(const Generate& kernel, std::span<const i64> start, const Shape& local) {
    for (size_t d = 0; d < local.size(); ++d)
        if (start[d] + local[d] > kernel.shape[d]) return false;
    return true;
}

// Row by row where the block reaches beyond the whole, into padding, which is zeros.
void generate_rows(const Generate& kernel, std::span<const i64> start, const Result& output) {
    fill_value(output, 0);
    const size_t last = start.size() - 1;
    const Shape& local = *output.shape;
    Shape rows = local, row(local.size(), 1);
    rows[last] = 1;
    row[last] = std::clamp<i64>(kernel.shape[last] - start[last], 0, local[last]);
    for_each_index(rows, start, [&](i64 flat, std::span<const i64> index) {
        for (size_t d = 0; d <= last; ++d)
            if (index[d] >= kernel.shape[d]) return;
        generate_box(kernel, index, {output.dtype, &row, output.data + flat * local[last] * byte_size(output.dtype)});
    });
}

} // namespace

void generate_block(const Generate& kernel, std::span<const i64> start, const Result& output) {
    if (is_inside(kernel, start, *output.shape)) return generate_box(kernel, start, output);
    generate_rows(kernel, start, output);
}

std::vector<i64> own_start(const Generate& kernel, const AffineContext& context) {
    std::vector<i64> start;
    for (const Affine& affine : kernel.start) start.push_back(evaluate(affine, context));
    return start;
}

Generate folded(const Generate& kernel, const AffineContext& context) {
    Generate made = kernel;
    Random& random = std::get<Random>(made.source);
    const auto word = [&](size_t n) { return static_cast<std::uint32_t>(evaluate(random.words[n], context)); };
    if (!random.words.empty()) random.key = {word(0), word(1)};
    if (random.words.size() == 4) random.key.k2 = word(2), random.key.k3 = word(3);
    random.words.clear();
    for (const Affine& fold : random.folds)
        random.key = fold_in(random.key, static_cast<std::uint32_t>(evaluate(fold, context)));
    random.folds.clear();
    return made;
}

void run_generate(const Generate& kernel, const KernelCall& call) {
    std::vector<i64> start = own_start(kernel, call.context);
    start.resize(call.output.shape->size(), 0);
    const Random* random = std::get_if<Random>(&kernel.source);
    if (random == nullptr || (random->words.empty() && random->folds.empty()))
        return generate_block(kernel, start, call.output);
    generate_block(folded(kernel, call.context), start, call.output);
}

} // namespace shard
