#include "planner/ops_support/attention.h"

#include "planner/graph/builder.h"
#include "planner/ops_support/attention_drop.h"
#include "planner/ops_support/draw.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"
#include "plans/kernel/attend_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

constexpr std::string_view operand_names[] = {"q",    "k",    "v",    "given",    "logsumexp",
                                              "mean", "bias", "mask", "segments", "segments of keys"};

bool refuse_argument(const InferContext& context, std::string message, std::string help) {
    context.diagnostics.error("E0226", context.span, std::move(message)).help(std::move(help));
    return false;
}

bool check_arguments(const InferContext& context, const AttendSizes& sizes, bool starts) {
    const Attributes& attributes = context.attributes;
    if (attributes.has("soft_cap") && attributes.number("soft_cap") <= 0)
        return refuse_argument(context, fmt::format("`soft_cap` of '{}' is not above 0", context.op),
                               "scores stay between -soft_cap and soft_cap; leave it out for none");
    if (!attributes.has("window")) return true;
    const i64 window = attributes.integer("window");
    if (window < 1 || window > most_attend_window)
        return refuse_argument(
            context,
            fmt::format("`window` of '{}' has to be from 1 to {}, and is {}", context.op, most_attend_window, window),
            "a query sees the keys that are less than `window` positions away");
    if (!starts && sizes.queries - window >= sizes.keys)
        return refuse_argument(context,
                               fmt::format("the last of {} queries of '{}' sees none of {} keys with a window of {}",
                                           sizes.queries, context.op, sizes.keys, window),
                               "a query sees the keys that are less than `window` positions away");
    return true;
}

// "q (1, 2, 3, 4), k (1, 2, 2, 4) and v (1, 2, 2, 4)"
std::string operands_text(AttendPart part, std::span<const TensorType> operands) {
    const AttendInputs at = attend_inputs(part);
    const AttendPairs pairs = attend_pairs(part, operands);
    const int places[] = {
        0, 1, at.v, at.given, at.logsumexp, at.mean, pairs.bias, pairs.mask, pairs.query_segments, pairs.key_segments};
    std::string text;
    for (size_t n = 0; n < std::size(places); ++n) {
        if (places[n] < 0) continue;
        const char* const between = places[n] == 0 ? "" : places[n] + 1 == pairs.count ? " and " : ", ";
        text += fmt::format("{}{} {}", between, operand_names[n],
                            shape_text(operands[static_cast<size_t>(places[n])].shape));
    }
    return text;
}

// Of operands of the right types.
bool check_shapes(AttendPart part, const InferContext& context, std::span<const TensorType> operands,
                  const TensorType& result) {
    Attend attend;
    attend.part = part;
    if (attend_problem(attend, operands, result).empty()) return true;
    const AttendPairs pairs = attend_pairs(part, operands);
    DiagnosticBuilder said = context.diagnostics.error(
        "E0223", context.span, fmt::format("'{}' cannot combine {}", context.op, operands_text(part, operands)));
    said.note("q is (batch, queries, heads, head_dim), k and v are (batch, keys, kv_heads, head_dim)");
    if (pairs.bias >= 0 || pairs.mask >= 0)
        said.note("a bias and a mask are (batch, heads, queries, keys), each 1 or whole");
    if (pairs.query_segments >= 0) said.note("segments are two operands, (batch, queries) and (batch, keys)");
    said.help("batch and head_dim must be equal, and heads a multiple of kv_heads");
    return false;
}

// Of a number for every query.
bool check_wide(const InferContext& context, size_t n) {
    const DType wide = computed_as(context.operands[0].dtype);
    if (context.operands[n].dtype == wide) return true;
    context.diagnostics
        .error("E0224", context.span,
               fmt::format("'{}' takes {} as {}", context.op, operand_text(context, n), name(wide)))
        .help("it is what attention_logsumexp gives, or a sum over head_dim");
    return false;
}

bool check_start(const InferContext& context, size_t n) {
    if (!check_dtype(context, n, is_integer, "a whole number as the start")) return false;
    if (context.operands[n].rank() == 0) return true;
    context.diagnostics
        .error("E0223", context.span,
               fmt::format("the start of '{}' is one number, and {} is not", context.op, operand_text(context, n)))
        .help("it is the position of the first query, counted from the first key");
    return false;
}

// What stands behind the operands that are known by their types: the start, or nothing, or what dropout reads.
bool check_rest(AttendPart part, const InferContext& context, size_t count) {
    const bool is_counted = context.attributes.flag("counted", false);
    if (context.operands.size() <= count && !is_counted) return true;
    if (context.operands.size() <= count) {
        context.diagnostics
            .error("E0226", context.span, fmt::format("'{}' has no operand that counts steps", context.op))
            .help("with `counted: true` its last operand is a whole number, which is folded into dropout's key");
        return false;
    }
    const AttentionScalars scalars = attention_scalars(part, context.operands, context.attributes);
    const TensorType& next = context.operands[count];
    if (is_computed_key(context.operands.back()) && scalars.key < 0) {
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("'{}' takes no key, which {} is", context.op,
                               operand_text(context, context.operands.size() - 1)))
            .help(is_counted ? "with `counted: true` its key is written; fold the count into this one by fold_in"
                             : "a key is of its dropout: dropout: 0.1");
        return false;
    }
    if (scalars.drop() < 0 && context.operands.size() == count + 1 && (next.rank() == 0 || is_integer(next.dtype)))
        return check_start(context, count);
    const auto is_number = [](const TensorType& type) { return type.rank() == 0 && is_integer(type.dtype); };
    // What dropout reads, and before it a start.
    const size_t of_drop = scalars.first < 0 ? 0 : 4, before = scalars.words < 0 ? 1 : 2,
                 rest = context.operands.size() - count;
    const bool fits = (rest == of_drop + before || rest == of_drop + before + 1) &&
                      (scalars.first < 0 || context.attributes.has("drawn"));
    const auto is_word = [&](size_t n) { return context.operands[n].dtype == DType::u32; };
    const size_t word = static_cast<size_t>(std::max(scalars.words, 0));
    const std::span<const TensorType> numbers = context.operands.subspan(count, rest - (scalars.key < 0 ? 0 : 1));
    if (scalars.drop() >= 0 && fits && std::all_of(numbers.begin(), numbers.end(), is_number)) {
        if (scalars.words < 0 || (is_word(word) && is_word(word + 1))) return true;
        context.diagnostics
            .error("E0224", context.span,
                   fmt::format("'{}' takes the words of a key as u32, and {} is not", context.op,
                               operand_text(context, is_word(word) ? word + 1 : word)))
            .help("a key, u32 (2), as the last operand; or its two words");
        return false;
    }
    while (scalars.drop() >= 0 && count + 1 < context.operands.size() && is_number(context.operands[count])) ++count;
    context.diagnostics
        .error("E0223", context.span,
               fmt::format("'{}' does not know {} here", context.op, operand_text(context, count)))
        .note(
            "in this order, each may be left out: a floating-point bias and a bool mask (batch, heads, queries, keys), "
            "segments of queries and of keys as integers (batch, length), an integer as the start; with dropout a key, "
            "u32 (2)")
        .help("a dim of a bias or mask has its whole size, or 1");
    return false;
}

// The type that the part makes of operands that fit.
TensorType result_type(AttendPart part, std::span<const TensorType> operands) {
    const AttendInputs at = attend_inputs(part);
    const DType dtype = operands[0].dtype;
    const Shape& q = operands[0].shape;
    const auto with_width_of = [&](Shape shape, int operand) {
        const Shape& of = operands[static_cast<size_t>(operand)].shape;
        if (!shape.empty() && !of.empty()) shape.back() = of.back();
        return make_type(dtype, shape);
    };
    switch (part) {
    case AttendPart::values:
        return with_width_of(q, at.v);
    case AttendPart::logsumexp:
        return make_type(computed_as(dtype), q.empty() ? q : Shape(q.begin(), q.end() - 1));
    case AttendPart::query_gradient:
        return make_type(dtype, q);
    case AttendPart::key_gradient:
        return make_type(dtype, operands[1].shape);
    case AttendPart::value_gradient:
        return with_width_of(operands[1].shape, at.given);
    case AttendPart::with_logsumexp: {
        TensorType made = with_width_of(q, at.v);
        made.dtype = computed_as(dtype);
        if (!made.shape.empty()) ++made.shape.back();
        return made;
    }
    case AttendPart::bias_gradient: {
        const int bias = attend_pairs(part, operands).bias;
        return bias < 0 ? make_type(dtype, {}) : operands[static_cast<size_t>(bias)];
    }
    }
    internal_error("a part of attention without a type");
}

void complete(std::span<const TensorType> operands, std::span<const TensorType>, Attributes& attributes) {
    if (!attributes.has("scale")) attributes.set("scale", 1 / std::sqrt(static_cast<double>(operands[0].shape.back())));
}

} // namespace

std::optional<std::vector<TensorType>> infer_attention(AttendPart part, const InferContext& context) {
    const AttendInputs at = attend_inputs(part);
    const size_t count = static_cast<size_t>(attend_pairs(part, context.operands).count),
                 own = static_cast<size_t>(at.count),
                 alike = at.logsumexp < 0 ? own : static_cast<size_t>(at.logsumexp);
    const std::span<const TensorType> operands = context.operands.first(count);
    if (!check_dtype(context, 0, is_floating, "a floating-point type")) return std::nullopt;
    if (!check_same_dtype({context.operands.first(alike), context.operand_spans, context.attributes, context.span,
                           context.diagnostics, context.op, context.operand_names}))
        return std::nullopt;
    for (size_t n = alike; n < own; ++n)
        if (!check_wide(context, n)) return std::nullopt;
    if (!check_rest(part, context, count)) return std::nullopt;
    const TensorType result = result_type(part, operands);
    if (!check_shapes(part, context, operands, result)) return std::nullopt;
    const bool starts = attention_scalars(part, context.operands, context.attributes).start >= 0;
    if (!check_arguments(context, attend_sizes(part, operands), starts) || !check_drop(part, context))
        return std::nullopt;
    return std::vector<TensorType>{result};
}

// A softmax is over all keys, and a score over all of head_dim. Gradients have the logsumexp, so keys are split there,
// and what is summed up over them, over queries or over the heads of a group is a partial sum.
IndexRule attention_rule(AttendPart part, std::span<const TensorType> operands, std::span<const TensorType> results) {
    using enum AttendPart;
    const AttendInputs at = attend_inputs(part);
    const AttendPairs pairs = attend_pairs(part, operands);
    const AttendSizes sizes = attend_sizes(part, operands.first(static_cast<size_t>(at.count)));
    const bool of_keys = part == key_gradient || part == value_gradient, scores_given = at.mean >= 0,
               of_bias = part == bias_gradient;
    constexpr FactorKind free = FactorKind::pass_through, summed = FactorKind::reduction,
                         whole = FactorKind::need_replication;
    RuleMaker maker(operands.size(), 1);
    // Of a bias: what it has one of for all is summed.
    const auto of_pairs = [&](size_t dim) { return results[0].shape[dim] == 1 ? summed : free; };
    const FactorKind of_heads = of_bias ? of_pairs(1) : of_keys ? summed : free;
    const DimFactors batch = {maker.factor(of_bias ? of_pairs(0) : free, sizes.batch)},
                     queries = {maker.factor(of_bias   ? of_pairs(2)
                                             : of_keys ? summed
                                                       : free,
                                             sizes.queries)},
                     kv_heads = {maker.factor(of_bias ? of_pairs(1) : free, sizes.kv_heads)};
    DimFactors heads = kv_heads;
    if (sizes.group() > 1) heads.push_back(maker.factor(of_heads, sizes.group()));
    const DimFactors keys = {maker.factor(of_bias                  ? of_pairs(3)
                                          : of_keys                ? free
                                          : part == query_gradient ? summed
                                                                   : whole,
                                          sizes.keys)},
                     width = {maker.factor(whole, sizes.width)};
    DimFactors value_width;
    if (sizes.value_width > 0)
        value_width = {maker.factor(scores_given || part == with_logsumexp ? whole : free, sizes.value_width)};
    const TensorFactors of_q = {batch, queries, heads, width}, of_k = {batch, keys, kv_heads, width},
                        of_v = {batch, keys, kv_heads, value_width}, of_values = {batch, queries, heads, value_width},
                        of_rows = {batch, queries, heads};
    const auto set = [&](int operand, TensorFactors factors) {
        if (operand >= 0) maker.operand(static_cast<size_t>(operand)) = std::move(factors);
    };
    const auto pairs_of = [&](const TensorType& type) {
        TensorFactors factors = {batch, heads, queries, keys};
        for (size_t d = 0; d < factors.size(); ++d)
            if (type.shape[d] == 1) factors[d].clear();
        return factors;
    };
    const auto set_pairs = [&](int operand) {
        if (operand >= 0) set(operand, pairs_of(operands[static_cast<size_t>(operand)]));
    };
    set(0, of_q);
    set(1, of_k);
    set(at.v, of_v);
    set(at.given, of_values);
    set(at.logsumexp, of_rows);
    set(at.mean, of_rows);
    set_pairs(pairs.bias);
    set_pairs(pairs.mask);
    set(pairs.query_segments, {batch, queries});
    set(pairs.key_segments, {batch, keys});
    if (of_bias) {
        maker.result() = pairs_of(results[0]);
    } else if (part == with_logsumexp) {
        maker.result() = {batch, queries, heads, {maker.factor(whole, sizes.value_width + 1)}};
    } else {
        const TensorFactors made[] = {of_values, of_rows, of_q, of_k, of_v};
        maker.result() = made[static_cast<size_t>(part)];
    }
    internal_check(maker.result().size() == results[0].shape.size(), "attention: a result of another rank");
    return maker.rule();
}

Kernel lower_attention(AttendPart part, const LowerContext& context) {
    const Attributes& attributes = context.attributes;
    Attend attend;
    attend.part = part;
    attend.scale = attributes.number("scale");
    attend.causal = attributes.flag("causal", false);
    attend.window = attributes.has("window") ? attributes.integer("window") : 0;
    attend.soft_cap = attributes.number("soft_cap", 0);
    if (attend.causal || attend.window > 0) // otherwise positions do not matter
        attend.start = context.operand_start(0, 1) + context.operand_start(1, 1) * -1;
    attend.kept = weights_kept(part, context);
    const int start = attention_scalars(part, context.global_operands, attributes).start;
    if (start < 0) return attend;
    // A kernel's scalars are none of its inputs, so it is read where it does not matter too. Further away than this all
    // queries see what they see there.
    const i64 queries = context.global_operands[0].shape[1], keys = context.global_operands[1].shape[1];
    attend.start = LowerContext::scalar(start, -queries - attend.window, keys + attend.window) + attend.start;
    return attend;
}

std::vector<ValueId> no_second_gradient(const GradientContext& context) {
    Diagnostics& diagnostics = context.builder.diagnostics();
    const Span span = context.builder.place().span;
    const auto is_said = [&](const Diagnostic& each) {
        return each.code == "E0246" && !each.labels.empty() && each.labels[0].span == span;
    };
    // The ops of one gradient stand in one place.
    if (std::none_of(diagnostics.all().begin(), diagnostics.all().end(), is_said))
        diagnostics.error("E0246", span, "attention has no second derivative")
            .help("write it out: an einsum, a softmax and an einsum");
    return std::vector<ValueId>(context.inputs.size(), -1);
}

OpDef attention_op_def(AttendPart part, std::string_view name, std::string_view doc) {
    // Bias, mask, segments of queries and of keys, start; a key's words, and where a part of the weights begins.
    const int may_be_left_out = part == AttendPart::logsumexp ? 5 : 11;
    const int count = attend_inputs(part).count;
    OpDef def;
    def.name = name;
    def.doc = doc;
    def.operands = {count, count + may_be_left_out};
    def.attributes = {
        {"causal", AttributeDef::Type::flag, false, "a query sees the keys up to its own position; false unless said"},
        {"scale", AttributeDef::Type::number, false, "of the scores; 1 / sqrt(head_dim) unless said"},
        {"window", AttributeDef::Type::integer, false,
         "a query sees only the keys that are less than so many positions away; all unless said"},
        {"soft_cap", AttributeDef::Type::number, false,
         "scores become soft_cap * tanh(score / soft_cap); as they are unless said"}};
    if (part != AttendPart::logsumexp) {
        const std::vector<AttributeDef> of_drop = drop_attributes(part);
        def.attributes.insert(def.attributes.end(), of_drop.begin(), of_drop.end());
        def.draws = true;
    }
    def.complete = complete;
    def.op_class = OpDef::Class::contraction;
    return def;
}

} // namespace shard
