// Attention that never holds its scores: a block of them is made, used and forgotten, as flash attention does.
//
// q (batch, queries, heads, width), k (batch, keys, kv_heads, width), v (batch, keys, kv_heads, value_width); heads h
// of q read head h / (heads / kv_heads) of k and v. With s = scale * q k^T, capped if there is a soft_cap, over the keys
// that a query sees, and p = e^(s - logsumexp):
//
//     values          softmax(s) v
//     logsumexp       log(sum of e^s over the keys): (batch, queries, heads), in f32 at least
//     query_gradient  scale * ds k, where ds = p (given v^T - mean)
//     key_gradient    scale * ds^T q, summed over the heads that read it
//     value_gradient  p^T given, summed over the heads that read it
//     with_logsumexp  values, and logsumexp as one more element behind them, in f32 at least: the values over other keys
//                     are put together with these by it
//     bias_gradient   p (given v^T - mean), summed over the dims in which the bias is 1
//
// Where weights are dropped, `kept` holds 1 for a pair whose weight stays, divided by the probability with which one does,
// and 0 elsewhere, drawn where it is needed and never held. That is of the shares softmax(s), so a sum over e^s, and with
// it logsumexp, has all of them; given v^T is dropped likewise before mean is taken off, and p in value_gradient.
//
// `given` is the gradient of the values and `mean` is (batch, queries, heads) as logsumexp: the sum of given * values.
// Of a device's part of the queries or keys these are the parts' own sums, so gradients may be partial sums.
#pragma once

#include "plans/kernel/generate.h"

namespace shard {

enum class AttendPart {
    values,
    logsumexp,
    query_gradient,
    key_gradient,
    value_gradient,
    with_logsumexp,
    bias_gradient
};
std::string_view name(AttendPart part);
std::optional<AttendPart> parse_attend_part(std::string_view text);

struct Attend {
    AttendPart part = AttendPart::values;
    double scale = 1;
    bool causal = false; // a query sees no key behind its own position
    i64 window = 0;      // if any: only keys that are less than so many positions away
    double soft_cap = 0; // if any: s becomes soft_cap * tanh(s / soft_cap)
    Affine start;        // position of the first query, counted from the first key
    // If any: a bernoulli for the pairs (batch, heads, queries, keys), of which the kernel's own begin at its `start`.
    // Where its batch or heads are 1, all have the same.
    std::optional<Generate> kept = {};
    bool operator==(const Attend&) const = default;
};

inline constexpr i64 most_attend_window = (i64{1} << 31) - 1; // positions are i32

// Which input is which; -1: the part has none. 0 is q and 1 is k.
struct AttendInputs {
    int v = -1, given = -1, logsumexp = -1, mean = -1, count = 2;
};
AttendInputs attend_inputs(AttendPart part);

struct AttendSizes {
    i64 batch = 1, queries = 1, heads = 1, width = 1, keys = 1, kv_heads = 1, value_width = 0;
    i64 group() const { return heads / kv_heads; }
};
AttendSizes attend_sizes(AttendPart part, std::span<const TensorType> inputs);
// "" if inputs and output fit each other and the part, else what does not. The next ones are for those that fit.
std::string attend_problem(const Attend& attend, std::span<const TensorType> inputs, const TensorType& output);

// [low, high)
struct AttendRange {
    i64 low = 0, high = 0;
};
// The keys that queries [first, last) see, and the queries that see keys [first, last), each with all between them.
AttendRange keys_seen(const Attend& attend, i64 start, i64 first, i64 last, i64 keys);
AttendRange queries_seeing(const Attend& attend, i64 start, i64 first, i64 last, i64 queries);

// 2 for each number of a contraction of a pair of query and key that see each other, on the device that has most.
i64 attend_flops(const Attend& attend, const AttendSizes& sizes);

// What the executor works in: a block of the result, of scores, and of operands where they are not of the type that is
// computed in; offsets in bytes.
struct AttendScratch {
    i64 queries = 1, keys = 1; // of a block
    i64 scores = 0, products = 0, result = 0, largest = 0, sums = 0, q = 0, k = 0, v = 0, given = 0, kept = 0;
    i64 bytes = 0;
};
AttendScratch attend_scratch(AttendPart part, const AttendSizes& sizes, DType dtype, bool drops = false);
// Of what the kernel draws of `kept`, if any: (batch, heads, queries, keys), a dim 1 where all have the same.
Shape drawn_pairs(const Attend& attend, const AttendSizes& sizes);
// The probability with which a weight stays; 1 unless weights are dropped.
double kept_share(const Attend& attend);

} // namespace shard
