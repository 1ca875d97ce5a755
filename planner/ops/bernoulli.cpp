#include "planner/graph/loop_index.h"
#include "planner/ops_support/generate.h"
#include "planner/ops_support/infer.h"
#include "planner/ops_support/rule_maker.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

bool are_words(const std::vector<i64>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](i64 word) { return word >= 0 && word <= 0xFFFFFFFF; });
}
bool is_key(const std::vector<i64>& words) { return (words.size() == 1 || words.size() == 2) && are_words(words); }

InferResult infer(const InferContext& context) {
    const auto refuse = [&](std::string message, std::string help) {
        context.diagnostics.error("E0226", context.span, std::move(message)).help(std::move(help));
        return std::nullopt;
    };
    const double probability = context.attributes.number("probability");
    if (!(probability >= 0 && probability <= 1))
        return refuse(fmt::format("{} is no probability", probability), "a number from 0 to 1");
    if (!is_key(context.attributes.integers("key")))
        return refuse("`key` of 'bernoulli' is no key", "a seed, or two 32-bit words: key: [0, 42]");
    if (context.attributes.has("place") && !are_words(context.attributes.integers("place")))
        return refuse("`place` of 'bernoulli' holds a number that is none of 32 bits", "numbers from 0 to 4294967295");
    if (!bit_layout_from_name(context.attributes.string("bits", std::string("partitionable"))))
        return refuse("`bits` of 'bernoulli' is no layout of random bits", "partitionable or legacy");
    if (!context.operands.empty()) {
        if (!check_dtype(context, 0, is_integer, "whole numbers to fold into its key")) return std::nullopt;
        if (context.operands[0].rank() != 0) {
            context.diagnostics.error(
                "E0223", context.span,
                fmt::format("'bernoulli' folds one number into its key, and {} is not", operand_text(context, 0)));
            return std::nullopt;
        }
    }
    const std::optional<DType> dtype = generated_dtype(context, DType::boolean);
    if (!dtype) return std::nullopt;
    return InferResult{{generated_type(context, *dtype)}};
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

Kernel lower(const LowerContext& context) {
    const Attributes& attributes = context.attributes;
    const std::vector<i64>& words = attributes.integers("key");
    Random random;
    random.distribution.kind = DistributionKind::bernoulli;
    random.distribution.probability = attributes.number("probability");
    random.key = words.size() == 1 ? key_from_seed(words[0])
                                   : Key{static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1])};
    random.layout = *bit_layout_from_name(attributes.string("bits", std::string("partitionable")));
    if (!context.global_operands.empty()) random.folds.push_back(LowerContext::scalar(0));
    if (attributes.has("place"))
        for (i64 fold : attributes.integers("place")) random.folds.push_back(constant(fold));
    for (Affine& index : loop_indices(attributes)) random.folds.push_back(std::move(index));
    if (attributes.has("blocks")) random.blocks = attributes.integers("blocks");
    Kernel kernel = generate(context, std::move(random));
    if (attributes.has("drawn")) std::get<Generate>(kernel).shape = attributes.integers("drawn"); // without padding
    return kernel;
}

} // namespace

const OpDef& op_bernoulli() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "bernoulli";
        made.doc =
            "True with a probability, as jax.random.bernoulli; an integer scalar, as a count of steps, is folded "
            "into the key first.\n"
            "{bernoulli: [batch, embed], in: step, probability: 0.9, key: 0}";
        made.operands = {0, 1};
        made.attributes = {
            {"shape", AttributeDef::Type::shape, false, "sizes or axis names"},
            {"axes", AttributeDef::Type::axes, false, "axis names, one a dim"},
            {"probability", AttributeDef::Type::number, true, "from 0 to 1"},
            {"key", AttributeDef::Type::integers, true, "a seed, or the key's two words"},
            {"place", AttributeDef::Type::integers, false, "numbers that are folded into the key then"},
            {"bits", AttributeDef::Type::string, false, "partitionable unless said, or legacy"},
            {"fold", AttributeDef::Type::string, false, "a mesh axis: a key for each device along it"},
            {"fold_dim", AttributeDef::Type::integer, false, "the dim that is split over it, from 0; 0 unless said"},
            {"dtype", AttributeDef::Type::dtype, false, "bool unless said"}};
        made.subject = "shape";
        made.infer = infer;
        made.complete = complete;
        made.rule = rule;
        made.lower = lower;
        made.draws = true;
        made.op_class = OpDef::Class::constant; // made again rather than kept for the backward pass
        return made;
    }();
    return def;
}

} // namespace shard
