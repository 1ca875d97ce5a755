// Bits of numbers: taken as those of another type, and random ones.
#include "importer/model/op_context.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

bool is_whole(const Draft& draft, DraftId value, i64 number) {
    return draft[value].number && draft[value].number->integer == number;
}

// A floating-point type: how many bits stand after the point, and all bits of its 1.
struct FloatBits {
    DType whole;
    int after_point;
    i64 one;
};

std::optional<FloatBits> bits_of_float(DType dtype) {
    if (dtype == DType::f32) return FloatBits{DType::u32, 23, 0x3F800000};
    if (dtype == DType::bf16) return FloatBits{DType::u16, 7, 0x3F80};
    if (dtype == DType::f16) return FloatBits{DType::u16, 10, 0x3C00};
    if (dtype == DType::f64) return FloatBits{DType::u64, 52, 0x3FF0000000000000};
    return std::nullopt;
}

// The value whose lowest bits are a float's after the point, with the bits of 1 before them: what jax.random makes
// of random bits, from 1 to below 2.
std::optional<DraftId> after_point(const Draft& draft, DraftId bits, const FloatBits& of) {
    const DraftEntry* const one = draft.entry_of(bits);
    if (one == nullptr || one->op != "bit_or" || !is_whole(draft, one->operands[1], of.one)) return std::nullopt;
    const DraftEntry* const shifted = draft.entry_of(one->operands[0]);
    if (shifted == nullptr || shifted->op != "shift_right") return std::nullopt;
    // Bits of a narrower type have nothing above.
    const DraftEntry* const widened = draft.entry_of(shifted->operands[0]);
    const DType from = widened != nullptr && widened->op == "cast" ? draft.type(widened->operands[0]).dtype : of.whole;
    const i64 width =
        8 * std::min(is_integer(from) && !is_signed(from) ? byte_size(from) : byte_size(of.whole), byte_size(of.whole));
    return is_whole(draft, shifted->operands[1], width - of.after_point) ? std::optional(one->operands[0])
                                                                         : std::nullopt;
}

// Two words in place of each whole number of 64 bits, along a dim behind the others: the lower one first.
bool is_words(const DraftType& words, const DraftType& whole) {
    Shape shape = whole.shape;
    shape.push_back(2);
    return words == DraftType{DType::u32, shape} && (whole.dtype == DType::u64 || whole.dtype == DType::i64);
}

DraftId of_words(Draft& draft, DraftId words, DType dtype) {
    const Shape both = draft.type(words).shape;
    const Shape shape(both.begin(), both.end() - 1);
    const DraftType type{DType::u64, shape};
    const auto word = [&](i64 n) {
        const std::string place = fmt::format(", dim: [{}], start: [{}], limit: [{}]", shape.size(), n, n + 1);
        DraftType one{DType::u32, both};
        one.shape.back() = 1;
        return draft.cast(draft.reshape(draft.add("slice", {words}, place, one), shape), DType::u64);
    };
    const DraftId low = word(0), by = draft.number({DType::u64, {}}, {0, 32});
    const DraftId high = draft.pointwise("shift_left", {word(1), by}, type);
    const DraftId whole = draft.cast(draft.pointwise("bit_or", {low, high}, type), dtype);
    draft.mark_words(whole, words);
    return whole;
}

DraftId words_of(Draft& draft, DraftId whole) {
    if (draft[whole].words >= 0) return draft[whole].words;
    const DraftId bits = draft.cast(whole, DType::u64);
    const DraftType type = draft.type(bits);
    Shape one = type.shape;
    one.push_back(1);
    const auto number = [&](i64 value) { return draft.number({DType::u64, {}}, {0, value}); };
    const auto word = [&](DraftId of) { return draft.reshape(draft.cast(of, DType::u32), one); };
    const DraftId low = word(draft.pointwise("bit_and", {bits, number(0xFFFFFFFF)}, type));
    const DraftId high = word(draft.pointwise("shift_right", {bits, number(32)}, type));
    Shape both = type.shape;
    both.push_back(2);
    return draft.add("concatenate", {low, high}, fmt::format(", dim: {}", type.shape.size()), {DType::u32, both});
}

bool import_bitcast(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 1, "takes 1 operand")) return false;
    Draft& draft = context.draft;
    const DraftType from = context.type(0);
    if (is_integer(type->dtype) && is_integer(from.dtype) && from.shape == type->shape &&
        byte_size(type->dtype) == byte_size(from.dtype)) {
        context.set(0, draft.cast(context.operand(0), type->dtype));
        return true;
    }
    if (is_words(from, *type)) {
        context.set(0, of_words(draft, context.operand(0), type->dtype));
        return true;
    }
    if (is_words(*type, from)) {
        context.set(0, words_of(draft, context.operand(0)));
        return true;
    }
    const std::optional<FloatBits> bits = bits_of_float(type->dtype);
    const std::optional<DraftId> fraction = bits && from.dtype == bits->whole && type->shape == from.shape
                                                ? after_point(draft, context.operand(0), *bits)
                                                : std::nullopt;
    if (!fraction) {
        const bool is_known = from.dtype != DType::boolean && type->dtype != DType::boolean &&
                              from.shape == type->shape && byte_size(from.dtype) == byte_size(type->dtype);
        if (!is_known)
            return context.refuse("bits of numbers taken as those of another size",
                                  "types of one size are known, and two u32 as one of 64 bits");
        context.set(0,
                    draft.add("bitcast", {context.operand(0)}, fmt::format(", dtype: {}", name(type->dtype)), *type));
        return true;
    }
    const DType dtype = type->dtype;
    const DraftId scaled = draft.pointwise(
        "mul", {draft.cast(*fraction, dtype), draft.number({dtype, {}}, {std::ldexp(1.0, -bits->after_point), 0})},
        *type);
    context.set(0, draft.pointwise("add", {scaled, draft.number({dtype, {}}, {1, 0})}, *type));
    return true;
}

// As XLA draws on CPUs and GPUs, where it may choose: jax.random's rbg and unsafe_rbg.
bool import_rng_bit_generator(OpContext& context, std::string_view) {
    const std::optional<DraftType> after = context.result_type(0), type = context.result_type(1);
    if (!after || !type ||
        !context.expect(context.operand_count() == 1 && context.type(0) == *after, "gives its state back"))
        return false;
    const std::string algorithm =
        chosen_word(context.op.items, {"algorithm", "rng_algorithm"}, {"DEFAULT", "PHILOX", "THREE_FRY"});
    if ((algorithm != "DEFAULT" && algorithm != "PHILOX") || *after != DraftType{DType::u64, {2}} ||
        !is_integer(type->dtype))
        return context.refuse("random bits that are not drawn as jax.random does it",
                              "by DEFAULT or PHILOX, whole numbers, from a state of two numbers of 64 bits");
    Draft& draft = context.draft;
    DraftId key = words_of(draft, context.operand(0));
    const DraftEntry* const reshape = draft.entry_of(key);
    key = reshape != nullptr && reshape->op == "reshape" && draft.type(reshape->operands[0]).shape == Shape{4}
              ? reshape->operands[0]
              : draft.reshape(key, {4});
    const bool is_wide = byte_size(type->dtype) == 8;
    DraftType drawn{DType::u32, type->shape};
    if (is_wide) drawn.shape.push_back(2);
    const DraftId bits = draft.literal("random_bits", list_text(drawn.shape), {draft.entry_for(key)}, {}, drawn);
    if (is_wide)
        context.set(1, of_words(draft, bits, type->dtype));
    else if (byte_size(type->dtype) == 4)
        context.set(1, draft.cast(bits, type->dtype));
    else { // the lowest ones
        const i64 mask = (i64{1} << (8 * byte_size(type->dtype))) - 1;
        const DraftId low = draft.pointwise("bit_and", {bits, draft.number({DType::u32, {}}, {0, mask})}, drawn);
        context.set(1, draft.cast(draft.cast(low, unsigned_of(type->dtype)), type->dtype));
    }
    const i64 blocks = (element_count(drawn.shape) + 3) / 4;
    context.set(0, draft.pointwise("add", {context.operand(0), draft.list(*after, {{0, 0}, {0, blocks}})}, *after));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_number_bits() {
    return {{"stablehlo.bitcast_convert", import_bitcast}, {"stablehlo.rng_bit_generator", import_rng_bit_generator}};
}

} // namespace shard
