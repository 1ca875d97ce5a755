#include "planner/ops_support/device.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

InferResult infer(const InferContext& context) {
    const TensorType &key = context.operands[0], &data = context.operands[1];
    if (key.dtype != DType::u32 || key.shape != Shape{2}) {
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("a key is two words, u32 (2), and this is {}, {}", operand_text(context, 0),
                               name(key.dtype)))
            .help("declare it as an input, key: {shape: [2], dtype: u32, init: zeros}, which is PRNGKey(0)");
        return std::nullopt;
    }
    if (data.dtype != DType::i32 && data.dtype != DType::u32) {
        context.diagnostics.error(
            "E0223", context.span,
            fmt::format("what is folded into a key are whole numbers, i32 or u32, and this is {}, {}",
                        operand_text(context, 1), name(data.dtype)));
        return std::nullopt;
    }
    Shape keys = data.shape;
    keys.push_back(2);
    TensorType type = make_type(DType::u32, keys);
    std::copy(data.logical.begin(), data.logical.end(), type.logical.begin());
    return InferResult{{type}};
}

bool splits(std::span<const TensorType>, const Attributes&) { return true; }
std::optional<ValueId> expand(Builder& builder, std::span<const ValueId> operands, const Attributes&) {
    Chain chain(builder);
    const auto word_of_key = [&](i64 word) { return part_of(chain, operands[0], 0, word, 2); };
    const ValueId first = word_of_key(0), second = word_of_key(1);
    TensorType one = builder.type(operands[1]);
    one.shape.push_back(1);
    one.logical.emplace_back();
    const ValueId data = chain("reshape", {chain.cast(operands[1], DType::u32)}, shape_of(one.shape, one.logical));
    const auto word = [&](i64 n) { return chain("fold_in_word", {first, second, data}, attributes_of({{"word", n}})); };
    const ValueId words[] = {word(0), word(1)};
    const ValueId key = chain("concatenate", {words[0], words[1]},
                              attributes_of({{"dim", std::vector<i64>{std::ssize(one.shape) - 1}}}));
    return chain.ok() ? std::optional(key) : std::nullopt;
}

} // namespace

const OpDef& op_fold_in() {
    static const OpDef def = [] {
        OpDef made;
        made.name = "fold_in";
        made.doc =
            "The key that comes of a key (two u32 words) and a number, as jax.random.fold_in; of many numbers as many "
            "keys, (..., 2).\n{fold_in: [key, n]}";
        made.operands = {2, 2};
        made.infer = infer;
        made.splits = splits;
        made.expand = expand;
        return made;
    }();
    return def;
}

} // namespace shard
