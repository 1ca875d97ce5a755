#include "planner/ops_support/draw.h"

#include "planner/graph/loop_index.h"
#include "planner/ops_support/device.h"
#include "planner/ops_support/generate.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

bool is_key(const std::vector<i64>& words) { return (words.size() == 1 || words.size() == 2) && are_words(words); }

bool is_word(const TensorType& type) { return type.dtype == DType::u32 && type.rank() == 0; }
bool has_computed_key(std::span<const TensorType> operands) {
    return operands.size() > 1 || has_rbg_key(operands) || (operands.size() == 1 && is_computed_key(operands[0]));
}

// As it is said, or as the key has it; nullopt: none, or one of other keys.
std::optional<BitLayout> layout_of(std::span<const TensorType> operands, const Attributes& attributes) {
    const BitLayout usual = has_rbg_key(operands) ? BitLayout::rbg : BitLayout::partitionable;
    const std::optional<BitLayout> said =
        bit_layout_from_name(attributes.string("bits", std::string(bit_layout_name(usual))));
    return said && (*said == BitLayout::rbg) == (usual == BitLayout::rbg) ? said : std::nullopt;
}

bool check_key(const InferContext& context) {
    const Attributes& attributes = context.attributes;
    const auto refuse = [&](std::string message, std::string help) {
        context.diagnostics.error("E0226", context.span, std::move(message)).help(std::move(help));
        return false;
    };
    const auto op = [&](std::string_view rest) { return fmt::format("'{}' {}", context.op, rest); };
    if (!layout_of(context.operands, attributes))
        return refuse(fmt::format("`bits` of '{}' is no layout of random bits under its key", context.op),
                      "partitionable or legacy of a key of two words, rbg of one of four");
    if (has_computed_key(context.operands)) {
        for (const char* const of_written : {"key", "place", "fold"})
            if (attributes.has(of_written))
                return refuse(fmt::format("'{}' has a key that is computed, and `{}` is of one that is written",
                                          context.op, of_written),
                              "fold numbers into a computed key by fold_in");
        for (const TensorType& word : context.operands)
            if (context.operands.size() == 3 || (context.operands.size() > 1 && !is_word(word)))
                return refuse(op("takes a key, or its words, u32"), "in: key, where key is u32 (2), of rbg (4)");
        return true;
    }
    if (!attributes.has("key"))
        return refuse(op("has no key"), "a seed, or two 32-bit words, key: [0, 42]; or one that is computed, in: key");
    if (!is_key(attributes.integers("key")))
        return refuse(fmt::format("`key` of '{}' is no key", context.op), "a seed, or two 32-bit words: key: [0, 42]");
    if (attributes.has("place") && !are_words(attributes.integers("place")))
        return refuse(fmt::format("`place` of '{}' holds a number that is none of 32 bits", context.op),
                      "numbers from 0 to 4294967295");
    if (context.operands.empty()) return true;
    if (!check_dtype(context, 0, is_integer, "whole numbers to fold into its key")) return false;
    if (context.operands[0].rank() == 0) return true;
    context.diagnostics
        .error("E0223", context.span,
               fmt::format("'{}' folds one number into its key, and {} is not", context.op, operand_text(context, 0)))
        .help("a count of steps; or a key, which is u32 (2)");
    return false;
}

void complete(std::span<const TensorType>, std::span<const TensorType> results, Attributes& attributes) {
    attributes.set("shape", results[0].shape);
    attributes.set("dtype", std::string(name(results[0].dtype)));
}

IndexRule rule(std::span<const TensorType> operands, std::span<const TensorType> results, const Attributes&) {
    RuleMaker maker(operands.size(), 1);
    for (i64 size : results[0].shape) maker.result().push_back({maker.factor(FactorKind::pass_through, size)});
    return maker.rule();
}

bool splits(std::span<const TensorType> operands, const Attributes&) {
    return operands.size() == 1 && has_computed_key(operands);
}

std::vector<AttributeDef> attributes_with(std::vector<AttributeDef> own) {
    std::vector<AttributeDef> all = {{"shape", AttributeDef::Type::shape, false, "sizes or axis names"},
                                     {"axes", AttributeDef::Type::axes, false, "axis names, one a dim"}};
    all.insert(all.end(), own.begin(), own.end());
    const std::vector<AttributeDef> of_key = {
        {"key", AttributeDef::Type::integers, false, "a seed, or the key's two words, unless the operand is a key"},
        {"place", AttributeDef::Type::integers, false, "numbers that are folded into the key then"},
        {"bits", AttributeDef::Type::string, false, "partitionable unless said, or legacy; rbg of a key of four words"},
        {"fold", AttributeDef::Type::string, false, "a mesh axis: a key for each device along it"},
        {"fold_dim", AttributeDef::Type::integer, false, "the dim that is split over it, from 0; 0 unless said"},
        {"dtype", AttributeDef::Type::dtype, false, "the type of what is drawn"}};
    all.insert(all.end(), of_key.begin(), of_key.end());
    return all;
}

} // namespace

bool is_computed_key(const TensorType& type) { return type.dtype == DType::u32 && type.shape == Shape{2}; }

bool has_rbg_key(std::span<const TensorType> operands) {
    return operands.size() == 4 ||
           (operands.size() == 1 && operands[0].dtype == DType::u32 && operands[0].shape == Shape{4});
}

std::vector<ValueId> words_of_key(Chain& chain, ValueId key) {
    std::vector<ValueId> words;
    const i64 count = chain.type(key).shape[0];
    for (i64 word = 0; word < count; ++word)
        words.push_back(chain("reshape", {part_of(chain, key, 0, word, count)}, shape_of({})));
    return words;
}

bool are_words(const std::vector<i64>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](i64 word) { return word >= 0 && word <= 0xFFFFFFFF; });
}

InferResult infer_draw(const InferContext& context, DType fallback) {
    if (!check_key(context)) return std::nullopt;
    const std::optional<DType> dtype = generated_dtype(context, fallback);
    if (!dtype) return std::nullopt;
    return InferResult{{generated_type(context, *dtype)}};
}

InferResult infer_draw(const InferContext& context, DType fallback, bool (*fits)(DType), std::string_view what) {
    const std::optional<DType> dtype = generated_dtype(context, fallback);
    if (!dtype) return std::nullopt;
    if (fits(*dtype)) return infer_draw(context, fallback);
    context.diagnostics.error("E0224", context.span, fmt::format("'{}' draws no {}", context.op, name(*dtype)))
        .help(what == name(fallback) ? std::string("cast what is drawn")
                                     : fmt::format("{}, {} unless said; and cast what is drawn", what, name(fallback)));
    return std::nullopt;
}

Kernel lower_draw(const LowerContext& context, const Distribution& distribution) {
    const Attributes& attributes = context.attributes;
    Random random;
    random.distribution = distribution;
    random.layout = *layout_of(context.global_operands, attributes);
    if (has_computed_key(context.global_operands)) {
        for (int n = 0; n < std::ssize(context.global_operands); ++n) random.words.push_back(LowerContext::scalar(n));
    } else {
        const std::vector<i64>& words = attributes.integers("key");
        random.key = words.size() == 1
                         ? key_from_seed(words[0])
                         : Key{static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1])};
        if (!context.global_operands.empty()) random.folds.push_back(LowerContext::scalar(0));
        if (attributes.has("place"))
            for (i64 fold : attributes.integers("place")) random.folds.push_back(constant(fold));
        for (Affine& index : loop_indices(attributes)) random.folds.push_back(std::move(index));
    }
    if (attributes.has("blocks")) random.blocks = attributes.integers("blocks");
    Kernel kernel = generate(context, std::move(random));
    if (attributes.has("drawn")) std::get<Generate>(kernel).shape = attributes.integers("drawn"); // without padding
    return kernel;
}

std::optional<ValueId> expand_draw(Builder& builder, std::string_view op, std::span<const ValueId> operands,
                                   const Attributes& attributes) {
    Chain chain(builder);
    const ValueId drawn = chain(op, words_of_key(chain, operands[0]), attributes);
    return chain.ok() ? std::optional(drawn) : std::nullopt;
}

OpDef draw_op(std::string_view name, std::string_view doc, std::vector<AttributeDef> own) {
    OpDef made;
    made.name = name;
    made.doc = doc;
    made.operands = {0, 4};
    made.attributes = attributes_with(std::move(own));
    made.subject = "shape";
    made.complete = complete;
    made.rule = rule;
    made.splits = splits;
    made.draws = true;
    made.op_class = OpDef::Class::constant; // made again rather than kept for the backward pass
    return made;
}

} // namespace shard
