// What the ops share that draw as jax.random does: bernoulli, uniform, normal, truncated_normal, randint, random_bits.
// Their key is one of:
//
//     {uniform: [8, 64], key: 42}               written, a seed or two words
//     {uniform: [8, 64], in: step, key: 42}     with a count folded in: other numbers in each step
//     {uniform: [8, 64], in: dropout_key}       computed: two u32 words, as an input or what fold_in makes; four of rbg
//
// A written key is folded with the running trips of the loops around it; a computed one is what it is, as in JAX.
#pragma once

#include "planner/graph/chain.h"
#include "planner/graph/op_def.h"

namespace shard {

// Of an operand: a key, u32 (2), and of rbg (4). A kernel reads its words, scalars.
bool is_computed_key(const TensorType& type);
bool has_rbg_key(std::span<const TensorType> operands);       // as one operand, or as words
std::vector<ValueId> words_of_key(Chain& chain, ValueId key); // of either
// Whether a key that is written, or numbers to fold into it, are 32-bit words.
bool are_words(const std::vector<i64>& numbers);

// The result, whose type is `fallback` unless said; nullopt after reporting a key or operand that is none.
std::optional<std::vector<TensorType>> infer_draw(const InferContext& context, DType fallback);
// The same of one of the types alone that `fits`, whose words are `what`; E0224 of others.
std::optional<std::vector<TensorType>> infer_draw(const InferContext& context, DType fallback, bool (*fits)(DType),
                                                  std::string_view what);
Kernel lower_draw(const LowerContext& context, const Distribution& distribution);
// Of an op whose operand is a key: the same of its words.
std::optional<ValueId> expand_draw(Builder& builder, std::string_view op, std::span<const ValueId> operands,
                                   const Attributes& attributes);
// All that these ops have in common, but `expand`.
OpDef draw_op(std::string_view name, std::string_view doc, std::vector<AttributeDef> own);

} // namespace shard
