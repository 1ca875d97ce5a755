// Arrays that the program itself holds, and counting.
#include "importer/model/fold.h"
#include "importer/model/op_context.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shard {

namespace {

// 1.0e-3, 3, true, or the bits of a floating-point number: 0xFF800000.
std::optional<DraftNumber> parse_element(const std::string& text, DType dtype) {
    if (text == "true") return DraftNumber{0, 1};
    if (text == "false") return DraftNumber{0, 0};
    if (text.starts_with("0x")) {
        const std::optional<std::uint64_t> bits = parse_number<std::uint64_t>(text.substr(2), 16);
        return bits ? number_of_bits(*bits, dtype) : std::nullopt;
    }
    if (!is_floating(dtype)) {
        const std::optional<i64> integer = parse_number<i64>(text);
        return integer ? std::optional<DraftNumber>({0, *integer}) : std::nullopt;
    }
    const std::optional<double> real = parse_number<double>(text);
    if (!real) return std::nullopt;
    // f32 is rounded once, from the decimal.
    const std::optional<float> narrow = parse_number<float>(text);
    if (dtype == DType::f32 && narrow) return DraftNumber{*narrow, 0};
    return DraftNumber{rounded(*real, dtype).value_or(*real), 0}; // decimals are fewer than a narrow type needs
}

// The bytes of all elements, or of one of them; of truths also a bit for each, as MLIR once kept them.
std::optional<std::vector<DraftNumber>> parse_bytes(std::string_view text, DType dtype, i64 count) {
    std::optional<std::vector<DraftNumber>> numbers = read_element_bytes(text, dtype);
    if (!numbers) return std::nullopt;
    const i64 given = std::ssize(*numbers);
    if (dtype == DType::boolean && given != count && given == (count + 7) / 8 && count > 1 && given > 1) {
        std::vector<DraftNumber> bits;
        for (i64 i = 0; i < count; ++i)
            bits.push_back({0, (*numbers)[static_cast<size_t>(i / 8)].integer >> (i % 8) & 1});
        return bits;
    }
    if (dtype == DType::boolean)
        for (DraftNumber& number : *numbers) number.integer = number.integer != 0 ? 1 : 0;
    return given == 1 || given == count ? numbers : std::nullopt;
}

// 0, 1, 2, ... along one dim, which numpy.arange gives.
DraftId counted(Draft& draft, DType dtype, i64 size) {
    const std::string arguments = dtype == DType::i32 ? "" : fmt::format(", dtype: {}", name(dtype));
    const DraftId value = draft.literal("iota", list_text({size}), {}, arguments, {dtype, {size}});
    draft.mark_count(value);
    return value;
}

bool import_constant(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    if (!type) return false;
    const MlirAttribute* elements = find_attribute(context.op.items, {"value"});
    for (const MlirItem& item : context.op.items)
        for (const MlirAttribute& part : item.parts)
            if (elements == nullptr && part.kind == MlirAttribute::Kind::elements) elements = &part;
    if (!context.expect(elements != nullptr && elements->kind == MlirAttribute::Kind::elements,
                        "needs its elements, dense<...>"))
        return false;
    const i64 count = element_count(type->shape);
    std::vector<DraftNumber> numbers;
    if (!elements->text.empty()) {
        const std::optional<std::vector<DraftNumber>> parsed = parse_bytes(elements->text, type->dtype, count);
        if (!context.expect(parsed.has_value(), "has bytes that are not those of its elements")) return false;
        numbers = *parsed;
    }
    for (const std::string& text : elements->numbers) {
        const std::optional<DraftNumber> number = parse_element(text, type->dtype);
        if (const std::optional<std::uint64_t> bits = parse_number<std::uint64_t>(text);
            !number && type->dtype == DType::u64 && bits) {
            if (elements->numbers.size() > 1)
                return context.refuse(fmt::format("the number {} in a list", text),
                                      "in it, those below 2^63 are known");
            context.set(0, context.draft.of_halves(*type, *bits));
            return true;
        }
        if (!context.expect(number.has_value(), "has elements of another type")) return false;
        numbers.push_back(*number);
    }
    if (count == 0 && numbers.empty()) { // dense<> : tensor<0xi32>, which nothing that is planned reads
        context.set(0, context.draft.number(*type, {}));
        return true;
    }
    const bool is_splat = numbers.size() == 1 && !elements->is_listed;
    if (!context.expect(is_splat || (numbers.size() == static_cast<size_t>(count) && count > 0),
                        "has another number of elements than its type says"))
        return false;
    if (numbers.size() == 1) {
        context.set(0, context.draft.number(*type, numbers.front()));
        return true;
    }
    i64 place = 0;
    if (type->shape.size() == 1 && is_integer(type->dtype) &&
        std::all_of(numbers.begin(), numbers.end(), [&](const DraftNumber& n) { return n.integer == place++; })) {
        context.set(0, counted(context.draft, type->dtype, count));
        return true;
    }
    context.set(0, context.draft.list(*type, std::move(numbers)));
    return true;
}

bool import_iota(OpContext& context, std::string_view) {
    const std::optional<DraftType> type = context.result_type();
    const std::optional<i64> dim = context.integer({"dim", "iota_dimension"});
    if (!type || !dim ||
        !context.expect(*dim >= 0 && *dim < static_cast<i64>(type->shape.size()), "counts along a dim that it has"))
        return false;
    // One dim is counted, and the others repeat it.
    const DType dtype = is_integer(type->dtype) ? type->dtype : DType::i32;
    const DraftId value = counted(context.draft, dtype, type->shape[static_cast<size_t>(*dim)]);
    context.set(0, context.draft.broadcast(context.draft.cast(value, type->dtype), type->shape, {*dim}));
    return true;
}

} // namespace

std::vector<ImportRow> import_rows_constants() {
    return {{"stablehlo.constant", import_constant}, {"stablehlo.iota", import_iota}};
}

} // namespace shard
