#include "importer/model/op_context.h"

#include "importer/model/program_walk.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace shard {

#define REGISTER(stem) std::vector<ImportRow> import_rows_##stem();
#include "import_rows_registry.inc"
#undef REGISTER

namespace {

const std::map<std::string_view, ImportRow>& import_table() {
    static const std::map<std::string_view, ImportRow> table = [] {
        std::map<std::string_view, ImportRow> rows;
#define REGISTER(stem)                                                                                                 \
    for (const ImportRow& row : import_rows_##stem()) rows.emplace(row.op, row);
#include "import_rows_registry.inc"
#undef REGISTER
        return rows;
    }();
    return table;
}

} // namespace

const ImportRow* find_import(std::string_view op) {
    const std::map<std::string_view, ImportRow>::const_iterator it = import_table().find(op);
    return it == import_table().end() ? nullptr : &it->second;
}

std::vector<std::string_view> imported_ops() {
    std::vector<std::string_view> names;
    for (const std::pair<const std::string_view, ImportRow>& row : import_table()) names.push_back(row.first);
    return names;
}

namespace {

DType as_long(DTypeInfo::Kind kind, DType dtype) {
    for (const DType other : all_dtypes())
        if (info(other).kind == kind && byte_size(other) == byte_size(dtype)) return other;
    return dtype;
}

} // namespace

DType signed_of(DType dtype) { return as_long(DTypeInfo::Kind::signed_integer, dtype); }
DType unsigned_of(DType dtype) { return as_long(DTypeInfo::Kind::unsigned_integer, dtype); }

std::optional<DType> dtype_of_element(std::string_view element) {
    if (element == "i1") return DType::boolean;
    std::string text(element);
    const bool is_unsigned = text.starts_with("ui");
    if (is_unsigned) text.erase(1, 1);
    // What says the bits of a small float is in capitals: f8E5M2.
    for (size_t c = std::min(text.find('E'), text.size()); c < text.size(); ++c)
        text[c] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[c])));
    const std::optional<DType> dtype = parse_dtype(text);
    if (!dtype || *dtype == DType::boolean) return std::nullopt;
    return is_unsigned == (info(*dtype).kind == DTypeInfo::Kind::unsigned_integer) ? dtype : std::nullopt;
}

std::optional<std::vector<i64>> integers_of(const MlirAttribute& list) {
    std::vector<i64> numbers;
    if (list.kind == MlirAttribute::Kind::elements) { // dense<[1, 2]> : tensor<2xi64>, as older programs have it
        const i64 count = element_count(list.type);
        const size_t written = list.numbers.size();
        if (count > 64 || (written != 1 && written != static_cast<size_t>(count))) return std::nullopt;
        for (i64 i = 0; i < count; ++i) {
            const std::string& text = list.numbers[written == 1 ? 0 : static_cast<size_t>(i)];
            const std::optional<i64> number = parse_number<i64>(text);
            if (!number) return std::nullopt;
            numbers.push_back(*number);
        }
        return numbers;
    }
    if (list.kind != MlirAttribute::Kind::list) return std::nullopt;
    for (const MlirItem& item : list.items) {
        if (item.parts.size() != 1 || item.parts[0].kind != MlirAttribute::Kind::integer) return std::nullopt;
        numbers.push_back(item.parts[0].integer);
    }
    return numbers;
}

void warn_of_device_sharding(Span span, Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics.all())
        if (diagnostic.code == "W0801") return;
    diagnostics.warning("W0801", span, "a sharding over devices is left out: it is no split over axes of one mesh")
        .help("lower with Shardy, which names axes: jax.config.update('jax_use_shardy_partitioner', True); or write "
              "the layout by hand");
}

DraftId OpContext::operand(size_t i) const { return walk_.value(op.operands[i]); }

std::optional<DraftType> OpContext::result_type(size_t i) {
    if (!expect(i < op.results.size(), fmt::format("has at least {} result{}", i + 1, i == 0 ? "" : "s")))
        return std::nullopt;
    return walk_.draft_type(op.results[i]);
}

void OpContext::set(size_t result, DraftId value) {
    const std::optional<DraftType> said = result_type(result);
    if (!said) return;
    const DraftType& made = draft.type(value);
    if (*said == made)
        walk_.set(op.results[result], value);
    else
        diagnostics_.error("E0801", op.span,
                           fmt::format("the program says {} {}, and this makes {} {}", name(said->dtype),
                                       shape_text(said->shape), name(made.dtype), shape_text(made.shape)));
}

std::optional<std::vector<i64>> OpContext::integers(std::initializer_list<std::string_view> keys,
                                                    std::optional<size_t> count) {
    const MlirAttribute* const attribute = find_attribute(op.items, keys);
    std::optional<std::vector<i64>> numbers;
    if (attribute != nullptr) numbers = integers_of(*attribute);
    if (!expect(numbers && (!count || numbers->size() == *count),
                count ? fmt::format("needs {} numbers as `{}`", *count, *keys.begin())
                      : fmt::format("needs numbers as `{}`", *keys.begin())))
        return std::nullopt;
    return numbers;
}

std::optional<std::vector<i64>> OpContext::dims(std::initializer_list<std::string_view> keys, size_t rank,
                                                std::optional<size_t> count) {
    std::optional<std::vector<i64>> numbers = integers(keys, count);
    if (!numbers) return std::nullopt;
    std::vector<bool> seen(rank, false);
    for (const i64 dim : *numbers) {
        if (!expect(dim >= 0 && dim < static_cast<i64>(rank) && !seen[static_cast<size_t>(dim)],
                    fmt::format("names dims that its operand has, each once, as `{}`", *keys.begin())))
            return std::nullopt;
        seen[static_cast<size_t>(dim)] = true;
    }
    return numbers;
}

std::optional<i64> OpContext::integer(std::initializer_list<std::string_view> keys) {
    const MlirAttribute* const attribute = find_attribute(op.items, keys);
    if (attribute != nullptr && attribute->kind == MlirAttribute::Kind::integer) return attribute->integer;
    expect(false, fmt::format("needs a number as `{}`", *keys.begin()));
    return std::nullopt;
}

std::string OpContext::word(std::string_view key, std::initializer_list<std::string_view> choices) const {
    return chosen_word(op.items, {key}, choices);
}

bool OpContext::refuse(std::string message, std::string help) {
    DiagnosticBuilder said = diagnostics_.error("E0804", op.span, std::move(message));
    if (!draft.line().empty()) said.note(traced_from(draft.line()));
    if (!help.empty()) said.help(std::move(help));
    return false;
}

bool OpContext::expect(bool condition, std::string_view what) {
    if (!condition) diagnostics_.error("E0801", op.span, fmt::format("{} {}", op.name, what));
    return condition;
}

void OpContext::warn_of_callback(std::string_view target) {
    diagnostics_.warning("W0804", op.span, fmt::format("a call of '{}' is left out: nothing comes of it", target))
        .help("jax.debug.print and callbacks are no part of a plan");
}

const DeviceShardings& OpContext::device_shardings() const { return walk_.device_shardings(); }

void OpContext::warn_of_devices() { warn_of_device_sharding(op.span, diagnostics_); }

const std::vector<std::string>* OpContext::region_axes() const { return walk_.region_axes(); }

std::optional<DraftType> OpContext::type_of(MlirId value) { return walk_.draft_type(value); }

std::optional<std::vector<DraftId>> OpContext::run_in(const MlirRegion& region, Draft& body,
                                                      const std::vector<DraftId>& arguments,
                                                      const std::vector<std::string>& axes) {
    return walk_.apart(region, body, arguments, axes, op.span);
}

std::optional<std::vector<DraftId>> OpContext::run(const MlirRegion& region, const std::vector<DraftId>& arguments) {
    return walk_.region(region, arguments, op.span);
}

std::optional<std::vector<DraftId>> OpContext::call(const std::string& function,
                                                    const std::vector<DraftId>& arguments) {
    const MlirFunction* const called = module.find(function);
    if (!expect(called != nullptr, fmt::format("calls @{}, which is not there", function))) return std::nullopt;
    return walk_.call(*called, arguments, op.span);
}

} // namespace shard
