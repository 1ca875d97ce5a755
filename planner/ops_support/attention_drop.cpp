#include "planner/ops_support/attention_drop.h"

#include "planner/graph/draws.h"
#include "planner/graph/loop_index.h"
#include "planner/graph/step_count.h"
#include "planner/graph/types_of.h"
#include "planner/model/type_limits.h"
#include "planner/ops_support/draw.h"
#include "planner/ops_support/drop_key.h"
#include "planner/ops_support/infer.h"
#include "plans/kernel/attend_pairs.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr int dims_drawn = 4; // batch, heads, queries, keys

// The last ones are set by passes.
constexpr std::string_view of_drop[] = {
    "dropout",     "key",   "fold",   "fold_dim", "counted",    "place",        "bits",
    "loops_alike", "drawn", "blocks", "loops",    "loop_trips", "loop_reverse", "broadcast_dropout"};

bool refuse(const InferContext& context, std::string message, std::string help) {
    context.diagnostics.error("E0226", context.span, std::move(message)).help(std::move(help));
    return false;
}

bool check_numbers(const InferContext& context) {
    const Attributes& attributes = context.attributes;
    if (attributes.has("key")) {
        const std::vector<i64>& key = attributes.integers("key");
        if (key.empty() || key.size() > 2 || !are_words(key))
            return refuse(context, fmt::format("`key` of '{}' is no key", context.op),
                          "a seed, or two 32-bit words: key: [0, 42]");
    }
    if (attributes.has("place") && !are_words(attributes.integers("place")))
        return refuse(context, fmt::format("`place` of '{}' holds a number that is none of 32 bits", context.op),
                      "numbers from 0 to 4294967295");
    const std::optional<BitLayout> bits = bit_layout_from_name(attributes.string("bits", std::string("partitionable")));
    if (!bits || *bits == BitLayout::rbg)
        return refuse(context, fmt::format("`bits` of '{}' is no layout of random bits", context.op),
                      "partitionable or legacy");
    if (!attributes.has("drawn")) return true;
    const std::vector<i64>& drawn = attributes.integers("drawn");
    if (drawn.size() == dims_drawn && std::all_of(drawn.begin(), drawn.end(), [](i64 size) { return size > 0; }))
        return true;
    return refuse(context, fmt::format("`drawn` of '{}' is no shape of weights", context.op),
                  "sizes of batch, heads, queries and keys");
}

} // namespace

AttentionScalars attention_scalars(AttendPart part, std::span<const TensorType> operands,
                                   const Attributes& attributes) {
    const int first = attend_pairs(part, operands).count, end = static_cast<int>(operands.size()), rest = end - first;
    AttentionScalars scalars;
    const bool is_counted = attributes.flag("counted", false);
    if (rest > 0 && attributes.has("dropout") && !is_counted && is_computed_key(operands.back())) {
        scalars.key = end - 1;
    } else if (is_counted || (attributes.has("dropout") && rest > 1)) {
        if (rest > dims_drawn) scalars.first = end - dims_drawn;
        const int behind = scalars.first < 0 ? end : scalars.first;
        if (is_counted)
            scalars.count = behind - 1;
        else
            scalars.words = behind - 2;
    }
    if (first < (scalars.drop() < 0 ? end : scalars.drop())) scalars.start = first;
    return scalars;
}

std::vector<AttributeDef> drop_attributes(AttendPart part) {
    std::vector<AttributeDef> attributes = {
        {"dropout", AttributeDef::Type::number, false,
         "a rate from 0 to 1: in training so many of the weights are 0, the others as much larger; none unless said"},
        {"key", AttributeDef::Type::integers, false,
         "of dropout: a seed or two words, unless the last operand is a key; by the model's rng.keys unless said"},
        {"fold", AttributeDef::Type::string, false, "of dropout: a mesh axis, a key for each device along it"},
        {"fold_dim", AttributeDef::Type::integer, false,
         "of dropout: the dim of the weights (batch, heads, queries, keys) that is split over it, from 0; 0 unless "
         "said"},
        {"counted", AttributeDef::Type::flag, false,
         "of dropout: the last operand is the count of steps, and weights are dropped in every mode; false unless "
         "said"},
        {"place", AttributeDef::Type::integers, false, "of dropout: numbers that are folded into the key then"},
        {"bits", AttributeDef::Type::string, false,
         "of dropout: partitionable or legacy; as the model's unless said, and partitionable of a key that is "
         "computed"},
        {"drawn", AttributeDef::Type::integers, false,
         "of dropout: the shape of all weights, where these are a part; four more operands behind the count or words "
         "say where it begins; batch or heads of 1 where all drop the same"},
        {"loops_alike", AttributeDef::Type::integer, false,
         "of dropout: how many of the loops around it, the inner ones first, have no bits of their own in every trip; "
         "0 "
         "unless said"}};
    if (part == AttendPart::values)
        attributes.push_back({"broadcast_dropout", AttributeDef::Type::flag, false,
                              "of dropout: all of the batch and all heads drop the same; false unless said"});
    return attributes;
}

Attributes without_drop(const Attributes& attributes) {
    Attributes made = attributes;
    made.remove([](std::string_view name) {
        return std::find(std::begin(of_drop), std::end(of_drop), name) != std::end(of_drop);
    });
    return made;
}

bool check_drop(AttendPart part, const InferContext& context) {
    const Attributes& attributes = context.attributes;
    if (!attributes.has("dropout")) {
        const auto* const found = std::find_if(std::begin(of_drop), std::end(of_drop),
                                               [&](std::string_view name) { return attributes.has(name); });
        if (found == std::end(of_drop)) return true;
        return refuse(context, fmt::format("`{}` of '{}' is of its dropout, and it has none", *found, context.op),
                      "write how much is dropped: dropout: 0.1");
    }
    if (!check_rate(attributes.number("dropout"), context.op, context.span, context.diagnostics)) return false;
    if (!check_numbers(context)) return false;
    const AttentionScalars scalars = attention_scalars(part, context.operands, attributes);
    for (const char* const of_written : {"key", "place", "fold", "fold_dim"})
        if (scalars.is_computed() && attributes.has(of_written))
            return refuse(context,
                          fmt::format("'{}' has a key that is computed, and `{}` is of one that is written", context.op,
                                      of_written),
                          "fold numbers into a computed key by fold_in");
    if (part != AttendPart::values && scalars.words < 0 && !(scalars.count >= 0 && attributes.has("key")))
        return refuse(context, fmt::format("'{}' drops what the attention dropped that it is of", context.op),
                      "say by which bits: the two words of a key that is computed; or key, and counted: true with the "
                      "count of steps as the last operand");
    const Shape shape = attributes.has("drawn") ? Shape(attributes.integers("drawn"))
                                                : Shape{context.operands[0].shape[0], context.operands[0].shape[2],
                                                        context.operands[0].shape[1], context.operands[1].shape[1]};
    if (size_problem(DType::boolean, shape).empty()) return true;
    context.diagnostics.error("E0227", context.span,
                              fmt::format("'{}' draws which weights stay, of the shape {}: {}", context.op,
                                          shape_text(shape), size_problem(DType::boolean, shape)));
    return false;
}

std::optional<Generate> weights_kept(AttendPart part, const LowerContext& context) {
    const Attributes& attributes = context.attributes;
    if (!attributes.has("dropout")) return std::nullopt;
    const std::span<const TensorType> operands = context.global_operands;
    const AttentionScalars scalars = attention_scalars(part, operands, attributes);
    const Shape &q = operands[0].shape, &k = operands[1].shape, pairs = {q[0], q[2], q[1], k[1]};
    Random random;
    random.distribution.kind = DistributionKind::bernoulli;
    random.distribution.probability = 1 - attributes.number("dropout");
    random.layout = *bit_layout_from_name(attributes.string("bits", std::string("partitionable")));
    if (scalars.words >= 0) {
        random.words = {LowerContext::scalar(scalars.words), LowerContext::scalar(scalars.words + 1)};
    } else {
        const std::vector<i64>& words = attributes.integers("key");
        random.key = words.size() == 1
                         ? key_from_seed(words[0])
                         : Key{static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1])};
        random.folds.push_back(LowerContext::scalar(scalars.count));
        if (attributes.has("place"))
            for (i64 fold : attributes.integers("place")) random.folds.push_back(constant(fold));
        for (Affine& index : loop_indices(attributes)) random.folds.push_back(std::move(index));
    }
    if (attributes.has("blocks")) random.blocks = attributes.integers("blocks");
    Generate kept;
    kept.shape = attributes.has("drawn") ? Shape(attributes.integers("drawn")) : pairs;
    kept.start = {context.operand_start(0, 0), context.operand_start(0, 2), context.operand_start(0, 1),
                  context.operand_start(1, 1)};
    for (size_t d = 0; d < 2; ++d)
        if (kept.shape[d] == 1) kept.start[d] = {}; // of all
    for (int d = 0; scalars.first >= 0 && d < dims_drawn; ++d) {
        const size_t dim = static_cast<size_t>(d);
        const i64 last = std::max<i64>(0, kept.shape[dim] - pairs[dim]);
        kept.start[dim] = LowerContext::scalar(scalars.first + d, 0, last) + kept.start[dim];
    }
    kept.source = std::move(random);
    return kept;
}

bool drops_without_bits(std::span<const TensorType> operands, const Attributes& attributes) {
    if (!attributes.has("dropout")) return false;
    const AttentionScalars scalars = attention_scalars(AttendPart::values, operands, attributes);
    return attributes.has("broadcast_dropout") || !attributes.has("bits") ||
           !(scalars.words >= 0 || (scalars.count >= 0 && attributes.has("key")));
}

std::optional<ValueId> with_bits(Builder& builder, std::span<const ValueId> operands, const Attributes& attributes) {
    std::vector<ValueId> of(operands.begin(), operands.end());
    const bool is_counted = attributes.flag("counted", false);
    const std::vector<TensorType> types = types_of(builder.graph(), operands);
    const AttentionScalars scalars = attention_scalars(AttendPart::values, types, attributes);
    Attributes made = attributes;
    if (attributes.flag("broadcast_dropout", false) && !attributes.has("drawn"))
        made.set("drawn", std::vector<i64>{1, 1, types[0].shape[1], types[1].shape[1]});
    made.remove([](std::string_view name) { return name == "broadcast_dropout"; });
    if (attributes.number("dropout") == 0 || !(scalars.drop() >= 0 || builder.random().training)) {
        if (scalars.drop() >= 0) of.resize(static_cast<size_t>(scalars.drop()));
        return builder.emit("attention", of, without_drop(attributes));
    }
    if (scalars.is_computed()) {
        Chain chain(builder);
        if (scalars.key >= 0) {
            const std::vector<ValueId> words = words_of_key(chain, of.back());
            of.pop_back();
            of.insert(of.end(), words.begin(), words.end());
        }
        if (!made.has("bits")) made.set("bits", std::string(bit_layout_name(BitLayout::partitionable)));
        const ValueId attended = chain("attention", of, std::move(made));
        return chain.ok() ? std::optional(attended) : std::nullopt;
    }
    const std::optional<Attributes> key = drop_key(
        builder, attributes, "attention", "{attention: [q, k, v], dropout: 0.1, key: 0}", builder.place().span);
    if (!key) return std::nullopt;
    for (const auto& [name, value] : key->entries()) made.set(name, value);
    if (!is_counted) of.push_back(step_count(builder));
    made.set("counted", true);
    return builder.emit("attention", of, std::move(made));
}

} // namespace shard
