#include "plans/kernel/attend.h"

#include "plans/base/index_of.h"
#include "plans/base/saturating.h"
#include "plans/kernel/attend_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shard {

namespace {

// Large enough that the products take most of the time, small enough that a block stays in the cache.
constexpr i64 queries_of_block = 128, keys_of_block = 256;

constexpr std::array<std::string_view, 7> part_names = {
    "values", "logsumexp", "query_gradient", "key_gradient", "value_gradient", "with_logsumexp", "bias_gradient"};

bool has(AttendPart part, std::initializer_list<AttendPart> parts) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
}

// The sum over positions p < end of how many of the first `keys` keys are at or before p.
i64 keys_before(i64 end, i64 keys) {
    if (end <= 0) return 0;
    const i64 rising = std::min(end, keys);
    return rising * (rising + 1) / 2 + (end - rising) * keys;
}

// Pairs of a query and a key that it sees, where the first query is at `start`.
i64 pairs_seen(const Attend& attend, i64 start, i64 queries, i64 keys) {
    const auto up_to = [&](i64 more) { // keys at most `more` positions behind each query
        return keys_before(start + queries + more, keys) - keys_before(start + more, keys);
    };
    const i64 behind = attend.causal ? up_to(0) : attend.window > 0 ? up_to(attend.window - 1) : queries * keys;
    return behind - (attend.window > 0 ? up_to(-attend.window) : 0);
}

// The largest that the start is on any device.
i64 largest_start(const Affine& start) {
    i64 largest = start.constant;
    for (const AffineTerm& term : start.terms) {
        if (term.kind == AffineTerm::Kind::coordinate)
            largest += std::max<i64>(0, term.coefficient * (term.axis.size - 1));
        else if (term.kind == AffineTerm::Kind::scalar)
            largest = add_saturating(largest, multiply_saturating(term.coefficient, term.high));
    }
    return largest;
}

} // namespace

std::string_view name(AttendPart part) { return part_names[static_cast<size_t>(part)]; }

std::optional<AttendPart> parse_attend_part(std::string_view text) {
    const size_t n = index_of(part_names, text);
    return n < part_names.size() ? std::optional(static_cast<AttendPart>(n)) : std::nullopt;
}

AttendInputs attend_inputs(AttendPart part) {
    using enum AttendPart;
    AttendInputs inputs;
    const auto next = [&inputs](bool is_there) { return is_there ? inputs.count++ : -1; };
    inputs.v = next(has(part, {values, with_logsumexp, query_gradient, key_gradient, bias_gradient}));
    inputs.given = next(has(part, {query_gradient, key_gradient, value_gradient, bias_gradient}));
    inputs.logsumexp = next(inputs.given >= 0);
    inputs.mean = next(has(part, {query_gradient, key_gradient, bias_gradient}));
    return inputs;
}

AttendSizes attend_sizes(AttendPart part, std::span<const TensorType> inputs) {
    const AttendInputs at = attend_inputs(part);
    const Shape &q = inputs[0].shape, &k = inputs[1].shape;
    const int last = std::max(at.v, at.given);
    return {q[0], q[1], q[2], q[3], k[1], k[2], last < 0 ? 0 : inputs[static_cast<size_t>(last)].shape[3]};
}

std::string attend_problem(const Attend& attend, std::span<const TensorType> inputs, const TensorType& output) {
    const AttendInputs at = attend_inputs(attend.part);
    const AttendPairs pairs = attend_pairs(attend.part, inputs);
    if (static_cast<int>(inputs.size()) != pairs.count) return fmt::format("it takes {} operands", pairs.count);
    const auto shape_of = [&](int input) { return input < 0 ? Shape() : inputs[static_cast<size_t>(input)].shape; };
    for (int input : {0, 1, at.v, at.given})
        if (input >= 0 && (shape_of(input).size() != 4 || inputs[static_cast<size_t>(input)].dtype != inputs[0].dtype))
            return "operands of 4 dims and one type";
    const DType wide = computed_as(inputs[0].dtype);
    if (!is_floating(inputs[0].dtype)) return "operands that are not floating-point";
    const AttendSizes sizes = attend_sizes(attend.part, inputs);
    if (sizes.kv_heads == 0 || sizes.heads % sizes.kv_heads != 0) return "heads that are no multiple of those of k";
    const Shape k = {sizes.batch, sizes.keys, sizes.kv_heads, sizes.width},
                v = {sizes.batch, sizes.keys, sizes.kv_heads, sizes.value_width},
                values = {sizes.batch, sizes.queries, sizes.heads, sizes.value_width},
                rows = {sizes.batch, sizes.queries, sizes.heads};
    if (shape_of(1) != k || (at.v >= 0 && shape_of(at.v) != v) || (at.given >= 0 && shape_of(at.given) != values))
        return "operands whose sizes differ";
    for (int input : {at.logsumexp, at.mean})
        if (input >= 0 && (shape_of(input) != rows || inputs[static_cast<size_t>(input)].dtype != wide))
            return fmt::format("a number of {} for every query", name(wide));
    if (const std::string problem = attend_pairs_problem(pairs, sizes, inputs); !problem.empty()) return problem;
    if (attend.part == AttendPart::bias_gradient && pairs.bias < 0) return "a gradient of no bias";
    Shape with_logsumexp = values;
    ++with_logsumexp.back();
    const std::array<Shape, 7> results = {values, rows, shape_of(0), k, v, with_logsumexp, shape_of(pairs.bias)};
    const DType made = has(attend.part, {AttendPart::logsumexp, AttendPart::with_logsumexp}) ? wide
                       : attend.part == AttendPart::bias_gradient ? inputs[static_cast<size_t>(pairs.bias)].dtype
                                                                  : inputs[0].dtype;
    if (output.shape != results[static_cast<size_t>(attend.part)] || output.dtype != made)
        return "a result of another type";
    if (!std::isfinite(attend.scale) || !std::isfinite(attend.soft_cap) || attend.soft_cap < 0 || attend.window < 0 ||
        attend.window > most_attend_window)
        return "a scale, window or soft cap that is none";
    if (!attend.kept) return "";
    const Random* random = std::get_if<Random>(&attend.kept->source);
    if (attend.part == AttendPart::logsumexp) return "weights that are dropped from a sum of all";
    if (random == nullptr || random->distribution.kind != DistributionKind::bernoulli || kept_share(attend) <= 0 ||
        kept_share(attend) > 1 || attend.kept->start.size() != 4)
        return "weights that are dropped by what is no mask";
    return "";
}

AttendRange keys_seen(const Attend& attend, i64 start, i64 first, i64 last, i64 keys) {
    AttendRange seen = {0, keys};
    if (attend.window > 0) {
        seen.low = std::clamp<i64>(first + start - attend.window + 1, 0, keys);
        seen.high = std::clamp<i64>(last - 1 + start + attend.window, seen.low, keys);
    }
    if (attend.causal) seen.high = std::clamp<i64>(last + start, seen.low, keys);
    return seen;
}

AttendRange queries_seeing(const Attend& attend, i64 start, i64 first, i64 last, i64 queries) {
    AttendRange seeing = {0, queries};
    if (attend.window > 0) {
        seeing.low = std::clamp<i64>(first - start - attend.window + 1, 0, queries);
        seeing.high = std::clamp<i64>(last - 1 - start + attend.window, seeing.low, queries);
    }
    if (attend.causal) seeing.low = std::clamp<i64>(first - start, seeing.low, std::max(seeing.low, seeing.high));
    return seeing;
}

i64 attend_flops(const Attend& attend, const AttendSizes& sizes) {
    constexpr i64 countable = i64{1} << 28; // positions whose pairs 64 bits can count
    i64 pairs = multiply_saturating(sizes.queries, sizes.keys);
    if ((attend.causal || attend.window > 0) && std::max(sizes.queries, sizes.keys) < countable) {
        Attend bounded = attend;
        bounded.window = std::min(attend.window, countable);
        const i64 most = std::clamp(largest_start(attend.start), -countable, countable);
        pairs = std::max(pairs_seen(bounded, most, sizes.queries, sizes.keys),
                         // Behind the last key a window holds less.
                         pairs_seen(bounded, std::min(most, sizes.keys - sizes.queries), sizes.queries, sizes.keys));
    }
    using enum AttendPart;
    i64 numbers = sizes.width + sizes.value_width; // of a pair: its score, and what is made of it or of its gradient
    if (has(attend.part, {query_gradient, key_gradient})) numbers += sizes.width;
    return multiply_saturating(multiply_saturating(multiply_saturating(sizes.batch, sizes.heads), pairs), 2 * numbers);
}

Shape drawn_pairs(const Attend& attend, const AttendSizes& sizes) {
    Shape pairs = {sizes.batch, sizes.heads, sizes.queries, sizes.keys};
    for (size_t d = 0; attend.kept && attend.kept->shape.size() == 4 && d < 2; ++d)
        if (attend.kept->shape[d] == 1) pairs[d] = 1;
    return pairs;
}

double kept_share(const Attend& attend) {
    const Random* random = attend.kept ? std::get_if<Random>(&attend.kept->source) : nullptr;
    return random == nullptr ? 1 : random->distribution.probability;
}

AttendScratch attend_scratch(AttendPart part, const AttendSizes& sizes, DType dtype, bool drops) {
    using enum AttendPart;
    constexpr i64 aligned = 64;
    const i64 element = byte_size(computed_as(dtype));
    AttendScratch scratch;
    scratch.queries = std::min(sizes.queries, queries_of_block);
    scratch.keys = std::min(sizes.keys, keys_of_block);
    const auto place_bytes = [&](bool needed, i64 bytes) {
        const i64 at = scratch.bytes;
        if (needed) scratch.bytes = add_saturating(at, add_saturating(bytes, aligned - 1) / aligned * aligned);
        return at;
    };
    const auto place = [&](bool needed, i64 rows, i64 columns) {
        return place_bytes(needed, multiply_saturating(multiply_saturating(rows, columns), element));
    };
    const AttendInputs inputs = attend_inputs(part);
    const bool packs = dtype != computed_as(dtype), of_keys = has(part, {key_gradient, value_gradient});
    scratch.scores = place(true, scratch.queries, scratch.keys);
    scratch.products = place(inputs.mean >= 0, scratch.queries, scratch.keys);
    const bool of_weights = has(part, {values, logsumexp, with_logsumexp});
    scratch.result = place(part != logsumexp, of_keys ? scratch.keys : scratch.queries,
                           part == bias_gradient                                 ? scratch.keys
                           : has(part, {values, with_logsumexp, value_gradient}) ? sizes.value_width
                                                                                 : sizes.width);
    scratch.largest = place(of_weights, scratch.queries, 1);
    scratch.sums = place(of_weights, scratch.queries, 1);
    scratch.q = place(packs, scratch.queries, sizes.width);
    scratch.k = place(packs, scratch.keys, sizes.width);
    scratch.v = place(packs && inputs.v >= 0, scratch.keys, sizes.value_width);
    scratch.given = place(packs && inputs.given >= 0, scratch.queries, sizes.value_width);
    scratch.kept = place_bytes(drops, scratch.queries * scratch.keys);
    return scratch;
}

} // namespace shard
