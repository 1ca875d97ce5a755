// dot_general as an einsum: batch dims, then the free dims of the left, then those of the right.
#include "importer/model/arguments.h"
#include "importer/model/op_context.h"
#include "importer/model/transposed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace shard {

namespace {

struct Contraction {
    std::vector<i64> left_batch, right_batch, left, right;
};

// contracting_dims = [1] x [0] of the pretty form, or #stablehlo.dot<lhs_contracting_dimensions = [1], ...>.
std::optional<Contraction> contraction_of(OpContext& context) {
    Contraction result;
    const auto read = [&](const MlirAttribute* attribute, std::vector<i64>& into) {
        if (attribute == nullptr) return true;
        const std::optional<std::vector<i64>> numbers = integers_of(*attribute);
        if (numbers) into = *numbers;
        return numbers.has_value();
    };
    const auto pair = [&](std::string_view key, std::vector<i64>& left, std::vector<i64>& right) {
        const MlirItem* const item = find_item(context.op.items, {key});
        if (item == nullptr) return true;
        return item->parts.size() == 2 && read(&item->parts[0], left) && read(&item->parts[1], right);
    };
    bool fits = true;
    if (const MlirAttribute* const numbers = find_attribute(context.op.items, {"dot_dimension_numbers"})) {
        fits = read(find_attribute(numbers->items, {"lhs_batching_dimensions"}), result.left_batch) &&
               read(find_attribute(numbers->items, {"rhs_batching_dimensions"}), result.right_batch) &&
               read(find_attribute(numbers->items, {"lhs_contracting_dimensions"}), result.left) &&
               read(find_attribute(numbers->items, {"rhs_contracting_dimensions"}), result.right);
    } else {
        fits = pair("batching_dims", result.left_batch, result.right_batch) &&
               pair("contracting_dims", result.left, result.right);
    }
    fits = fits && result.left_batch.size() == result.right_batch.size() && result.left.size() == result.right.size();
    if (!context.expect(fits, "needs lists of dims, as many of the left as of the right")) return std::nullopt;
    return result;
}

// `value` with its letters in the order that they have in `all`, and repeated along the others.
DraftId aligned(Draft& draft, DraftId value, const std::string& letters, const std::string& all, const Shape& shape) {
    // Dims rise where a broadcast puts them.
    std::vector<i64> dims, order;
    for (const char letter : all)
        if (const size_t at = letters.find(letter); at != std::string::npos) {
            dims.push_back(static_cast<i64>(all.find(letter)));
            order.push_back(static_cast<i64>(at));
        }
    return draft.broadcast(transposed(draft, value, order), shape, dims);
}

// Models contract floating-point numbers only: all products, and their sums.
DraftId contract_whole_numbers(Draft& draft, const std::array<DraftId, 2>& operands,
                               const std::array<std::string, 2>& letters, std::string all, const DraftType& type) {
    const size_t rank = all.size();
    Shape shape = type.shape;
    for (size_t i = 0; i < letters[0].size(); ++i)
        if (all.find(letters[0][i]) == std::string::npos) {
            all += letters[0][i];
            shape.push_back(draft.type(operands[0]).shape[i]);
        }
    std::vector<DraftId> factors;
    for (const size_t side : {size_t{0}, size_t{1}})
        factors.push_back(aligned(draft, draft.cast(operands[side], type.dtype), letters[side], all, shape));
    DraftId product = draft.pointwise("mul", factors, {type.dtype, shape});
    std::vector<i64> summed;
    for (size_t dim = rank; dim < all.size(); ++dim) summed.push_back(static_cast<i64>(dim));
    return summed.empty() ? product
                          : draft.add("reduce_sum", {product}, fmt::format(", dims: {}", list_text(summed)), type);
}

// x times a scale, if nothing is summed and one operand, x, has all dims of the result. The product keeps the order of x's
// dims and is turned to the result's: jnp.einsum turns it back, and then neither is left.
std::optional<DraftId> scaled(Draft& draft, const std::array<DraftId, 2>& operands, std::array<std::string, 2> letters,
                              const std::string& all, const DraftType& type) {
    for (const size_t whole : {size_t{0}, size_t{1}}) {
        std::string& own = letters[whole];
        if (own.size() != all.size()) continue;
        DraftId x = operands[whole];
        if (const DraftEntry* const above = draft.sure_entry_of(x); above != nullptr && above->op == "transpose") {
            const std::vector<i64> order = listed(above->arguments, "permutation");
            std::string before = own;
            for (size_t dim = 0; dim < order.size(); ++dim) before[static_cast<size_t>(order[dim])] = own[dim];
            own = before;
            x = above->operands[0];
        }
        const Shape shape = draft.type(x).shape;
        std::vector<DraftId> factors = {x, aligned(draft, operands[1 - whole], letters[1 - whole], own, shape)};
        if (whole == 1) std::swap(factors[0], factors[1]);
        const DraftId product = draft.pointwise("mul", factors, {type.dtype, shape});
        std::vector<i64> order;
        for (const char letter : all) order.push_back(static_cast<i64>(own.find(letter)));
        return transposed(draft, product, order);
    }
    return std::nullopt;
}

bool import_dot_general(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type || !context.expect(context.operand_count() == 2, "takes 2 operands")) return false;
    const std::optional<Contraction> contraction = contraction_of(context);
    if (!contraction) return false;
    const Shape left_shape = context.type(0).shape, right_shape = context.type(1).shape;
    if (left_shape.size() + right_shape.size() > 26) return context.refuse("a contraction of more than 26 dims");
    std::string left(left_shape.size(), ' '), right(right_shape.size(), ' '), result;
    char next = 'a';
    bool fits = true;
    const auto name_pairs = [&](const std::vector<i64>& of_left, const std::vector<i64>& of_right, bool kept) {
        for (size_t i = 0; i < of_left.size() && fits; ++i) {
            const i64 l = of_left[i], r = of_right[i];
            fits = l >= 0 && r >= 0 && l < std::ssize(left) && r < std::ssize(right) &&
                   left[static_cast<size_t>(l)] == ' ' && right[static_cast<size_t>(r)] == ' ' &&
                   left_shape[static_cast<size_t>(l)] == right_shape[static_cast<size_t>(r)];
            if (!fits) return;
            left[static_cast<size_t>(l)] = right[static_cast<size_t>(r)] = next;
            if (kept) result += next;
            ++next;
        }
    };
    name_pairs(contraction->left_batch, contraction->right_batch, true);
    name_pairs(contraction->left, contraction->right, false);
    if (!context.expect(fits, "pairs dims of one size, each once")) return false;
    for (std::string* const side : {&left, &right})
        for (char& letter : *side)
            if (letter == ' ') result += letter = next++;
    if (!context.expect(result.size() == type->shape.size(), "has another number of dims than its result"))
        return false;
    if (element_count(left_shape) == 0) { // a sum of nothing
        context.set(0, context.draft.number(*type, {}));
        return true;
    }
    if (!is_floating(type->dtype)) {
        context.set(0, contract_whole_numbers(context.draft, {context.operand(0), context.operand(1)}, {left, right},
                                              result, *type));
        return true;
    }
    // A wider result says that sums are made in its type.
    const DraftId a = context.draft.cast(context.operand(0), type->dtype),
                  b = context.draft.cast(context.operand(1), type->dtype);
    if (contraction->left.empty())
        if (const std::optional<DraftId> product = scaled(context.draft, {a, b}, {left, right}, result, *type)) {
            context.set(0, *product);
            return true;
        }
    // What is a matrix product of the last dims is written as one.
    if (left.size() >= 1 && right.size() == 2 && left.back() == right.front() && contraction->left.size() == 1 &&
        contraction->left_batch.empty()) {
        context.set(0, context.draft.add("dot", {a, b}, {}, *type));
        return true;
    }
    context.set(0,
                context.draft.literal("einsum", fmt::format("\"{},{}->{}\"", left, right, result), {a, b}, {}, *type));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_contractions() { return {{"stablehlo.dot_general", import_dot_general}}; }

} // namespace shard
