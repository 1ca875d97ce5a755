#include "executor/kernels/attend.h"

#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/kernels/blas.h"
#include "executor/kernels/generate.h"
#include "executor/kernels/softmax_row.h"
#include "plans/kernel/attend_pairs.h"

#include <algorithm>

namespace shard {

namespace {

// Of one head of q, and the head of k and v that it reads.
struct Block {
    i64 batch, head, kv_head;
    AttendRange queries, keys;
    i64 rows() const { return queries.high - queries.low; }
    i64 columns() const { return keys.high - keys.low; }
};

AttendRange block_from(i64 low, i64 most, i64 end) { return {low, std::min(low + most, end)}; }

template<typename T>
class Attention {
public:
    Attention(const Attend& kernel, const KernelCall& call, std::span<const TensorType> types)
        : kernel_(kernel), call_(call), inputs_(attend_inputs(kernel.part)), pairs_(attend_pairs(kernel.part, types)),
          may_hide_all_(may_hide_all(kernel, pairs_)), sizes_(attend_sizes(kernel.part, types)),
          scratch_(attend_scratch(kernel.part, sizes_, types[0].dtype, kernel.kept.has_value())),
          memory_(call.scratch.at(0, scratch_.bytes)), start_(evaluate(kernel.start, call.context)),
          result_width_(call.output.shape->size() == 4 ? call.output.shape->back() : 0) {
        if (kernel.part == AttendPart::with_logsumexp) --result_width_;
        if (!kernel.kept) return;
        drawn_ = folded(*kernel.kept, call.context);
        first_drawn_ = own_start(*kernel.kept, call.context);
    }

    void run() {
        if (kernel_.part == AttendPart::bias_gradient) return run_by_pairs();
        const bool by_keys = kernel_.part == AttendPart::key_gradient || kernel_.part == AttendPart::value_gradient;
        for (i64 batch = 0; batch < sizes_.batch; ++batch)
            for (i64 kv_head = 0; kv_head < sizes_.kv_heads; ++kv_head)
                by_keys ? run_by_keys(batch, kv_head) : run_by_queries(batch, kv_head);
    }

private:
    void run_by_queries(i64 batch, i64 kv_head) {
        for (i64 head = kv_head * sizes_.group(); head < (kv_head + 1) * sizes_.group(); ++head)
            for (i64 first = 0; first < sizes_.queries; first += scratch_.queries) {
                const AttendRange queries = block_from(first, scratch_.queries, sizes_.queries),
                                  seen = keys_seen(kernel_, start_, queries.low, queries.high, sizes_.keys);
                begin(queries.high - queries.low);
                for (i64 key = seen.low; key < seen.high; key += scratch_.keys)
                    add({batch, head, kv_head, queries, block_from(key, scratch_.keys, seen.high)});
                finish(batch, head, queries);
            }
    }

    void run_by_keys(i64 batch, i64 kv_head) {
        for (i64 first = 0; first < sizes_.keys; first += scratch_.keys) {
            const AttendRange keys = block_from(first, scratch_.keys, sizes_.keys),
                              seeing = queries_seeing(kernel_, start_, keys.low, keys.high, sizes_.queries);
            begin(keys.high - keys.low);
            for (i64 head = kv_head * sizes_.group(); head < (kv_head + 1) * sizes_.group(); ++head)
                for (i64 query = seeing.low; query < seeing.high; query += scratch_.queries)
                    add({batch, head, kv_head, block_from(query, scratch_.queries, seeing.high), keys});
            finish(batch, kv_head, keys);
        }
    }

    // A block of the bias, and for it all that reads it: where a dim of the bias is 1, the whole dim.
    void run_by_pairs() {
        const Shape& bias = *call_.output.shape;
        const bool of_queries = bias[2] > 1, of_keys = bias[3] > 1;
        for (i64 batch = 0; batch < bias[0]; ++batch)
            for (i64 head = 0; head < bias[1]; ++head)
                for (i64 query = 0; query < bias[2]; query += scratch_.queries)
                    for (i64 key = 0; key < bias[3]; key += scratch_.keys) {
                        const AttendRange all_queries = {0, sizes_.queries}, all_keys = {0, sizes_.keys},
                                          queries =
                                              of_queries ? block_from(query, scratch_.queries, bias[2]) : all_queries,
                                          keys = of_keys ? block_from(key, scratch_.keys, bias[3]) : all_keys;
                        const i64 rows = of_queries ? queries.high - queries.low : 1,
                                  columns = of_keys ? keys.high - keys.low : 1;
                        std::fill_n(at(scratch_.result), rows * columns, T{0});
                        for (i64 b = bias[0] > 1 ? batch : 0; b < (bias[0] > 1 ? batch + 1 : sizes_.batch); ++b)
                            for (i64 h = bias[1] > 1 ? head : 0; h < (bias[1] > 1 ? head + 1 : sizes_.heads); ++h)
                                add_pairs(b, h, queries, keys, of_queries, of_keys, columns);
                        const DType dtype = call_.output.dtype;
                        const i64 first = ((batch * bias[1] + head) * bias[2] + query) * bias[3] + key;
                        convert_strided(call_.output.data + first * byte_size(dtype), dtype, memory_ + scratch_.result,
                                        computed_as(call_.inputs[0].dtype),
                                        {{rows, bias[3], columns}, {columns, 1, 1}});
                    }
    }

    void add_pairs(i64 batch, i64 head, AttendRange queries, AttendRange keys, bool of_queries, bool of_keys,
                   i64 columns) {
        for (i64 query = queries.low; query < queries.high; query += scratch_.queries) {
            const AttendRange rows = block_from(query, scratch_.queries, queries.high),
                              seen = keys_seen(kernel_, start_, rows.low, rows.high, sizes_.keys);
            for (i64 key = keys.low; key < keys.high; key += scratch_.keys) {
                const Block block = {batch, head, head / sizes_.group(), rows,
                                     block_from(key, scratch_.keys, keys.high)};
                if (block.keys.high <= seen.low || block.keys.low >= seen.high) continue;
                score(block);
                draw(block);
                to_gradients(block);
                for (i64 r = 0; r < block.rows(); ++r) {
                    const T* const ds = at(scratch_.products) + r * scratch_.keys;
                    T* const sum = at(scratch_.result) + (of_queries ? r * columns : 0);
                    for (i64 c = 0; c < block.columns(); ++c) sum[of_keys ? c : 0] += ds[c];
                }
            }
        }
    }

    void begin(i64 rows) {
        std::fill_n(at(scratch_.result), rows * result_width_, T{0});
        if (inputs_.given >= 0) return;
        std::fill_n(at(scratch_.largest), rows, -std::numeric_limits<T>::infinity());
        std::fill_n(at(scratch_.sums), rows, T{0});
    }

    void add(const Block& block) {
        score(block);
        draw(block);
        inputs_.given < 0 ? to_weights(block) : to_gradients(block);
        MatrixRef<const T> left = {at(inputs_.mean < 0 ? scratch_.scores : scratch_.products), false, scratch_.keys};
        const MatrixRef<T> sum = {at(scratch_.result), false, result_width_};
        const T scale = static_cast<T>(kernel_.scale);
        const i64 m = block.rows(), n = block.columns();
        switch (kernel_.part) {
        case AttendPart::values:
        case AttendPart::with_logsumexp:
            return gemm(m, result_width_, n, left, v(block), sum, 1, true);
        case AttendPart::logsumexp:
        case AttendPart::bias_gradient: // goes by pairs
            return;
        case AttendPart::query_gradient:
            return gemm(m, result_width_, n, left, k(block), sum, scale, true);
        case AttendPart::key_gradient:
            left.transposed = true;
            return gemm(n, result_width_, m, left, q(block), sum, scale, true);
        case AttendPart::value_gradient:
            left.transposed = true;
            return gemm(n, result_width_, m, left, given(block), sum, 1, true);
        }
    }

    void score(const Block& block) {
        MatrixRef<const T> keys = k(block);
        keys.transposed = true;
        gemm(block.rows(), block.columns(), sizes_.width, q(block), keys, {at(scratch_.scores), false, scratch_.keys},
             static_cast<T>(kernel_.scale));
        if (kernel_.soft_cap == 0) return;
        const T cap = static_cast<T>(kernel_.soft_cap);
        for (i64 r = 0; r < block.rows(); ++r) {
            T* const row = at(scratch_.scores) + r * scratch_.keys;
            for (i64 c = 0; c < block.columns(); ++c) row[c] = cap * std::tanh(row[c] / cap);
        }
    }

    // Which weights of the block stay, where weights are dropped: by their places among all that are drawn.
    void draw(const Block& block) {
        if (!drawn_) return;
        const i64 within[] = {block.batch, block.head, block.queries.low, block.keys.low};
        const Shape pairs = drawn_pairs(kernel_, sizes_);
        std::vector<i64> first = first_drawn_;
        for (size_t d = 0; d < first.size(); ++d)
            if (pairs[d] > 1) first[d] += within[d];
        const Shape shape = {1, 1, block.rows(), block.columns()};
        generate_block(*drawn_, first, {DType::boolean, &shape, memory_ + scratch_.kept});
    }

    // Numbers for the keys of row r of the block: 0 where the weight is dropped.
    void drop(const Block& block, i64 r, T* row, AttendRange keys) const {
        if (!drawn_) return;
        const std::byte* const kept = memory_ + scratch_.kept + r * block.columns();
        const T share = static_cast<T>(kept_share(kernel_));
        for (i64 c = keys.low; c < keys.high; ++c) row[c] = kept[c] == std::byte{0} ? 0 : row[c] / share;
    }

    // Of the keys of the block, those that its query r sees.
    AttendRange seen(const Block& block, i64 r) const {
        const i64 query = block.queries.low + r;
        const AttendRange all = keys_seen(kernel_, start_, query, query + 1, sizes_.keys);
        const i64 low = std::clamp(all.low, block.keys.low, block.keys.high);
        return {low - block.keys.low, std::clamp(all.high, low, block.keys.high) - block.keys.low};
    }

    // The bias is added to the scores of row r, and those that are hidden become -infinity.
    void cover(const Block& block, i64 r, T* row, AttendRange keys) {
        constexpr T hidden = -std::numeric_limits<T>::infinity();
        const i64 query = block.queries.low + r, count = keys.high - keys.low, first = block.keys.low + keys.low;
        T* const scores = row + keys.low;
        if (pairs_.bias >= 0) {
            const Operand& bias = call_.inputs[static_cast<size_t>(pairs_.bias)];
            const PlaceOfPairs place = place_of(bias, block, query, first);
            visit_dtype(bias.dtype, [&](auto zero) {
                const auto* const numbers = reinterpret_cast<const decltype(zero)*>(bias.data) + place.offset;
                for (i64 c = 0; c < count; ++c) scores[c] += convert_value<T>(numbers[c * place.step]);
            });
        }
        if (pairs_.mask >= 0) {
            const Operand& mask = call_.inputs[static_cast<size_t>(pairs_.mask)];
            const PlaceOfPairs place = place_of(mask, block, query, first);
            const std::uint8_t* const seen = reinterpret_cast<const std::uint8_t*>(mask.data) + place.offset;
            for (i64 c = 0; c < count; ++c)
                if (seen[c * place.step] == 0) scores[c] = hidden;
        }
        if (pairs_.query_segments < 0) return;
        const i64 own = segment(pairs_.query_segments, block.batch * sizes_.queries + query);
        for (i64 c = 0; c < count; ++c)
            if (segment(pairs_.key_segments, block.batch * sizes_.keys + first + c) != own) scores[c] = hidden;
    }

    // Where the elements for a query and the keys from `first` on lie.
    struct PlaceOfPairs {
        i64 offset = 0, step = 1;
    };
    static PlaceOfPairs place_of(const Operand& pairs, const Block& block, i64 query, i64 first) {
        const Shape& shape = *pairs.shape;
        const i64 index[] = {block.batch, block.head, query, first};
        PlaceOfPairs place = {0, shape[3] == 1 ? 0 : 1};
        for (size_t d = 0; d < shape.size(); ++d)
            place.offset = place.offset * shape[d] + (shape[d] == 1 ? 0 : index[d]);
        return place;
    }

    i64 segment(int input, i64 place) const {
        const Operand& segments = call_.inputs[static_cast<size_t>(input)];
        return visit_dtype(segments.dtype, [&](auto zero) {
            return convert_value<i64>(reinterpret_cast<const decltype(zero)*>(segments.data)[place]);
        });
    }

    // Scores become e^(s - largest so far), and what is summed up already is brought down to that.
    void to_weights(const Block& block) {
        T *const largest = at(scratch_.largest), *const sums = at(scratch_.sums), *const result = at(scratch_.result);
        for (i64 r = 0; r < block.rows(); ++r) {
            T* const row = at(scratch_.scores) + r * scratch_.keys;
            const AttendRange keys = seen(block, r);
            const i64 count = keys.high - keys.low;
            cover(block, r, row, keys);
            const T most = std::max(largest[r], largest_of(row + keys.low, count)), shift = shift_of(most),
                    factor = std::exp(largest[r] - shift);
            sums[r] = sums[r] * factor + exponentials(row + keys.low, count, shift);
            largest[r] = most;
            drop(block, r, row, keys);
            hide(row, keys, block.columns());
            if (factor != 1)
                for (i64 c = 0; c < result_width_; ++c) result[r * result_width_ + c] *= factor;
        }
    }

    // Scores become p, and products the gradients of the scores.
    void to_gradients(const Block& block) {
        const bool of_scores = inputs_.mean >= 0;
        if (of_scores) {
            MatrixRef<const T> values = v(block);
            values.transposed = true;
            gemm(block.rows(), block.columns(), sizes_.value_width, given(block), values,
                 {at(scratch_.products), false, scratch_.keys});
        }
        // A bias is added behind the cap.
        const T cap = static_cast<T>(kernel_.part == AttendPart::bias_gradient ? 0 : kernel_.soft_cap);
        for (i64 r = 0; r < block.rows(); ++r) {
            T *const p = at(scratch_.scores) + r * scratch_.keys, *const ds = at(scratch_.products) + r * scratch_.keys;
            const AttendRange keys = seen(block, r);
            const T mean = of_scores ? number_of(inputs_.mean, block, r) : 0,
                    logsumexp = number_of(inputs_.logsumexp, block, r);
            if (may_hide_all_ && logsumexp == -std::numeric_limits<T>::infinity()) {
                std::fill_n(of_scores ? ds : p, block.columns(), T{0});
                continue;
            }
            if (of_scores) drop(block, r, ds, keys);
            for (i64 c = keys.low; of_scores && c < keys.high; ++c) {
                const T capped = cap == 0 ? 0 : p[c] / cap;
                ds[c] = (ds[c] - mean) * (1 - capped * capped);
            }
            cover(block, r, p, keys);
            exponentials(p + keys.low, keys.high - keys.low, logsumexp);
            if (!of_scores) drop(block, r, p, keys);
            for (i64 c = keys.low; of_scores && c < keys.high; ++c) ds[c] *= p[c];
            hide(of_scores ? ds : p, keys, block.columns());
        }
    }

    void finish(i64 batch, i64 head, AttendRange rows) {
        T *const result = at(scratch_.result), *const sums = at(scratch_.sums);
        const i64 count = rows.high - rows.low;
        if (kernel_.part == AttendPart::logsumexp) {
            T* const out = reinterpret_cast<T*>(call_.output.data);
            for (i64 r = 0; r < count; ++r)
                out[(batch * sizes_.queries + rows.low + r) * sizes_.heads + head] =
                    shift_of(at(scratch_.largest)[r]) + std::log(sums[r]);
            return;
        }
        const bool with_logsumexp = kernel_.part == AttendPart::with_logsumexp;
        if (kernel_.part == AttendPart::values || with_logsumexp)
            for (i64 r = 0; r < count; ++r)
                for (i64 c = 0; c < result_width_; ++c) result[r * result_width_ + c] /= divisor(sums[r]);
        const Shape& shape = *call_.output.shape;
        const DType dtype = call_.output.dtype;
        const i64 ld = shape[2] * shape[3], first = (batch * shape[1] + rows.low) * ld + head * shape[3];
        if (with_logsumexp) {
            T* const out = reinterpret_cast<T*>(call_.output.data) + first + result_width_;
            for (i64 r = 0; r < count; ++r) out[r * ld] = shift_of(at(scratch_.largest)[r]) + std::log(sums[r]);
        }
        convert_strided(call_.output.data + first * byte_size(dtype), dtype, memory_ + scratch_.result,
                        computed_as(dtype), {{count, ld, result_width_}, {result_width_, 1, 1}});
    }

    // A query that sees no key has values 0, of which nothing is to be made.
    T divisor(T sum) const { return sum == 0 && may_hide_all_ ? 1 : sum; }

    // Where no key is seen yet the largest is -infinity, from which nothing can be taken away.
    static T shift_of(T largest) { return largest == -std::numeric_limits<T>::infinity() ? 0 : largest; }

    static void hide(T* row, AttendRange seen, i64 count) {
        std::fill(row, row + seen.low, T{0});
        std::fill(row + seen.high, row + count, T{0});
    }

    T number_of(int input, const Block& block, i64 r) const {
        const T* const numbers = reinterpret_cast<const T*>(call_.inputs[static_cast<size_t>(input)].data);
        return numbers[(block.batch * sizes_.queries + block.queries.low + r) * sizes_.heads + block.head];
    }

    T* at(i64 offset) const { return reinterpret_cast<T*>(memory_ + offset); }
    MatrixRef<const T> q(const Block& block) const { return rows(0, block, block.head, block.queries, scratch_.q); }
    MatrixRef<const T> k(const Block& block) const { return rows(1, block, block.kv_head, block.keys, scratch_.k); }
    MatrixRef<const T> v(const Block& block) const {
        return rows(inputs_.v, block, block.kv_head, block.keys, scratch_.v);
    }
    MatrixRef<const T> given(const Block& block) const {
        return rows(inputs_.given, block, block.head, block.queries, scratch_.given);
    }
    // Where they lie, or as what is computed in.
    MatrixRef<const T> rows(int input, const Block& block, i64 head, AttendRange range, i64 packed) const {
        const Operand& from = call_.inputs[static_cast<size_t>(input)];
        const Shape& shape = *from.shape;
        const i64 width = shape[3], ld = shape[2] * width,
                  first = (block.batch * shape[1] + range.low) * ld + head * width;
        const std::byte* const data = from.data + first * byte_size(from.dtype);
        const DType wide = computed_as(from.dtype);
        if (from.dtype == wide) return {reinterpret_cast<const T*>(data), false, ld};
        convert_strided(memory_ + packed, wide, data, from.dtype, {{range.high - range.low, width, ld}, {width, 1, 1}});
        return {at(packed), false, width};
    }

    const Attend& kernel_;
    const KernelCall& call_;
    AttendInputs inputs_;
    AttendPairs pairs_;
    bool may_hide_all_;
    AttendSizes sizes_;
    AttendScratch scratch_;
    std::byte* memory_;
    i64 start_, result_width_;
    std::optional<Generate> drawn_; // if weights are dropped
    std::vector<i64> first_drawn_;  // where its own begin
};

} // namespace

void run_attend(const Attend& kernel, const KernelCall& call) {
    std::vector<TensorType> types;
    for (const Operand& input : call.inputs) types.push_back(input.type());
    internal_check(attend_problem(kernel, types, call.output.type()).empty(), "attend: operands do not fit");
    if (computed_as(types[0].dtype) == DType::f64)
        Attention<double>(kernel, call, types).run();
    else
        Attention<float>(kernel, call, types).run();
}

} // namespace shard
