#include "exporter/stablehlo/hlo_ops.h"

#include "plans/base/number.h"

#include "dtype_headers.inc"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <numeric>

namespace shard {

namespace {

std::string element_type(DType dtype) {
    if (dtype == DType::boolean) return "i1";
    std::string text(name(dtype));
    if (info(dtype).kind == DTypeInfo::Kind::unsigned_integer) text.insert(1, "i");
    // What says the bits of a small float is in capitals: f8E5M2.
    for (size_t c = std::min(text.find('e'), text.size()); c < text.size(); ++c)
        text[c] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[c])));
    return text;
}

template<typename Element>
std::string bits_text(double value) {
    if constexpr (std::is_same_v<Element, double>)
        return fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(value));
    else if constexpr (std::is_same_v<Element, float>)
        return fmt::format("0x{:08X}", std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    else if constexpr (requires(Element element) { element.bits; })
        return fmt::format("0x{:0{}X}", Element(static_cast<float>(value)).bits, 2 * sizeof(Element));
    else
        internal_error("no number of this type is infinite");
}

// NaN and the infinities are written as bits.
std::string bits_of(double value, DType dtype) {
    switch (dtype) {
#define REGISTER(stem)                                                                                                 \
    case DType::stem:                                                                                                  \
        return bits_text<ElementType<DType::stem>::Element>(value);
#include "dtype_registry.inc"
#undef REGISTER
    }
    internal_error("unknown type");
}

std::string type_list(const HloValues& results) {
    return results.size() == 1 ? hlo_type(results[0]) : fmt::format("({})", hlo_types(results));
}

} // namespace

std::string hlo_type(DType dtype, const Shape& shape) {
    std::string text = "tensor<";
    for (i64 size : shape) text += fmt::format("{}x", size);
    return fmt::format("{}{}>", text, element_type(dtype));
}

std::string hlo_type(const HloValue& value) { return hlo_type(value.dtype, value.shape); }

std::string hlo_types(const HloValues& values) {
    std::vector<std::string> types;
    for (const HloValue& value : values) types.push_back(hlo_type(value));
    return fmt::format("{}", fmt::join(types, ", "));
}

std::string hlo_names(const HloValues& values) {
    std::vector<std::string> names;
    for (const HloValue& value : values) names.push_back(value.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string hlo_number(double value, DType dtype) {
    if (dtype == DType::boolean) return value != 0 ? "true" : "false";
    if (is_integer(dtype)) return whole_text(value);
    if (!std::isfinite(value)) return bits_of(value, dtype);
    std::string text = fmt::format("{}", value);
    if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
    return text;
}

std::string hlo_list(std::span<const i64> numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

std::string hlo_several(size_t results) { return results == 1 ? "" : fmt::format(":{}", results); }

void HloFunctions::define(const std::string& name, const HloValues& arguments,
                          const std::function<HloValues(HloOps&)>& body) {
    if (!defined_.insert(name).second) return;
    HloOps ops(*this, 4);
    const HloValues results = body(ops);
    std::vector<std::string> typed;
    for (const HloValue& argument : arguments)
        typed.push_back(fmt::format("{}: {}", argument.name, hlo_type(argument)));
    text_ +=
        fmt::format("  func.func private @{}({}) -> ({}) {{\n{}    return {} : {}\n  }}\n", name,
                    fmt::join(typed, ", "), hlo_types(results), ops.text(), hlo_names(results), hlo_types(results));
}

size_t HloOps::begin_line() {
    const std::string margin(indent_, ' ');
    if (!comment_.empty()) text_ += fmt::format("{}{}\n", margin, std::exchange(comment_, {}));
    text_ += margin;
    return text_.size();
}

void HloOps::line(std::string_view text) {
    begin_line();
    text_ += fmt::format("{}\n", text);
}

HloValue HloOps::at_the_top(const std::function<HloValue()>& make) {
    const std::string below = text_.substr(top_);
    text_.resize(top_);
    const size_t indent = std::exchange(indent_, top_indent_);
    std::string comment = std::exchange(comment_, {});
    HloValue value = make();
    comment_ = std::move(comment);
    indent_ = indent;
    top_ = text_.size();
    text_ += below;
    last_.clear();
    return value;
}

HloValue HloOps::named(const HloValue& value, std::string_view name) {
    if (value.name != last_) return value;
    HloValue renamed = value;
    renamed.name = fresh(name);
    text_.replace(last_at_, last_.size(), renamed.name);
    if (last_ == fmt::format("%{}", next_ - 1)) --next_;
    last_.clear();
    return renamed;
}

HloValue HloOps::made(DType dtype, Shape shape, std::string_view text) {
    HloValue result{fresh(), dtype, std::move(shape)};
    last_ = result.name;
    last_at_ = begin_line();
    text_ += fmt::format("{} = {}\n", result.name, text);
    return result;
}

HloValue HloOps::op(std::string_view head, const HloValues& operands, const std::string& tail, DType dtype,
                    const Shape& shape) {
    return made(dtype, shape,
                fmt::format("{} {}{} : ({}) -> {}", head, hlo_names(operands), tail, hlo_types(operands),
                            hlo_type(dtype, shape)));
}

HloValue HloOps::pointwise(std::string_view head, const HloValues& operands, DType dtype) {
    const Shape& shape = operands.back().shape;
    if (head.starts_with("chlo."))
        return made(
            dtype, shape,
            fmt::format("{} {} : {} -> {}", head, hlo_names(operands), hlo_types(operands), hlo_type(dtype, shape)));
    const bool one_type = std::all_of(operands.begin(), operands.end(),
                                      [dtype](const HloValue& operand) { return operand.dtype == dtype; });
    // A comparison, or a choice: of truths, too, it has two types at least.
    if (!one_type || head.ends_with(",") || head == "stablehlo.select") return op(head, operands, "", dtype, shape);
    return made(dtype, shape, fmt::format("{} {} : {}", head, hlo_names(operands), hlo_type(dtype, shape)));
}

HloValue HloOps::pointwise(std::string_view head, const HloValues& operands) {
    return pointwise(head, operands, operands.back().dtype);
}

HloValue HloOps::less(const HloValues& operands) {
    return pointwise("stablehlo.compare LT,", operands, DType::boolean);
}

HloValues HloOps::results_of(const std::string& name, HloValues results) {
    for (size_t r = 0; r < results.size(); ++r)
        results[r].name = results.size() == 1 ? name : fmt::format("{}#{}", name, r);
    return results;
}

HloValue HloOps::generic(std::string_view name, const HloValues& operands, std::string_view attributes, DType dtype,
                         const Shape& shape) {
    return made(dtype, shape,
                fmt::format("\"{}\"({}) <{{{}}}> : ({}) -> {}", name, hlo_names(operands), attributes,
                            hlo_types(operands), hlo_type(dtype, shape)));
}

HloValues HloOps::with_region(const std::string& name, const HloValues& operands, const std::string& attributes,
                              const std::vector<DType>& arguments,
                              const std::function<HloValue(const HloValues&)>& region, const HloValues& results) {
    return with_regions(name, operands, attributes, {{arguments, region}}, results);
}

HloValues HloOps::with_regions(const std::string& name, const HloValues& operands, const std::string& attributes,
                               const std::vector<Region>& regions, const HloValues& results) {
    const std::string made = fresh();
    const size_t at = begin_line();
    text_ += fmt::format("{}{} = \"{}\"({}) <{{{}}}> ({{\n", made, hlo_several(results.size()), name,
                         hlo_names(operands), attributes);
    for (const Region& region : regions) {
        if (&region != &regions.front()) line("}, {");
        HloValues scalars;
        std::vector<std::string> typed;
        for (DType dtype : region.arguments) {
            scalars.push_back({fresh(), dtype, {}});
            typed.push_back(fmt::format("{}: {}", scalars.back().name, hlo_type(dtype)));
        }
        line(fmt::format("^bb0({}):", fmt::join(typed, ", ")));
        deeper();
        const HloValue value = region.body(scalars);
        line(fmt::format("stablehlo.return {} : {}", value.name, hlo_type(value)));
        back();
    }
    line(fmt::format("}}) : ({}) -> {}", hlo_types(operands), type_list(results)));
    last_ = made;
    last_at_ = at;
    return results_of(made, results);
}

HloValues HloOps::call(const std::string& function, const HloValues& operands, const HloValues& results) {
    const std::string made = fresh();
    line(fmt::format("{}{} = func.call @{}({}) : ({}) -> {}", made, hlo_several(results.size()), function,
                     hlo_names(operands), hlo_types(operands), type_list(results)));
    return results_of(made, results);
}

HloValue HloOps::constant(double value, DType dtype, const Shape& shape) {
    return constant(hlo_number(value, dtype), dtype, shape);
}

HloValue HloOps::constant(std::string_view number, DType dtype, const Shape& shape) {
    return made(dtype, shape, fmt::format("stablehlo.constant dense<{}> : {}", number, hlo_type(dtype, shape)));
}

HloValue HloOps::iota(i64 dim, DType dtype, const Shape& shape) {
    return made(dtype, shape, fmt::format("stablehlo.iota dim = {} : {}", dim, hlo_type(dtype, shape)));
}

HloValue HloOps::broadcast(const HloValue& value, std::span<const i64> dims, const Shape& shape) {
    std::vector<i64> order(dims.size()), sorted(dims.begin(), dims.end());
    std::iota(order.begin(), order.end(), i64{0});
    std::sort(order.begin(), order.end(),
              [&dims](i64 a, i64 b) { return dims[static_cast<size_t>(a)] < dims[static_cast<size_t>(b)]; });
    std::sort(sorted.begin(), sorted.end());
    const HloValue ordered = transpose(value, order);
    if (ordered.shape == shape) return ordered;
    return op("stablehlo.broadcast_in_dim", {ordered}, fmt::format(", dims = {}", hlo_list(sorted)), value.dtype,
              shape);
}

HloValue HloOps::filled(const HloValue& scalar, const Shape& shape) { return broadcast(scalar, {}, shape); }

HloValue HloOps::bitcast(const HloValue& value, DType dtype) {
    return value.dtype == dtype ? value : op("stablehlo.bitcast_convert", {value}, "", dtype, value.shape);
}

HloValue HloOps::convert(const HloValue& value, DType dtype) {
    return value.dtype == dtype ? value : op("stablehlo.convert", {value}, "", dtype, value.shape);
}

HloValue HloOps::reshape(const HloValue& value, const Shape& shape) {
    return value.shape == shape ? value : op("stablehlo.reshape", {value}, "", value.dtype, shape);
}

HloValue HloOps::transpose(const HloValue& value, std::span<const i64> dims) {
    if (std::is_sorted(dims.begin(), dims.end())) return value;
    Shape shape;
    for (i64 dim : dims) shape.push_back(value.shape[static_cast<size_t>(dim)]);
    return op("stablehlo.transpose", {value}, fmt::format(", dims = {}", hlo_list(dims)), value.dtype, shape);
}

HloValue HloOps::slice(const HloValue& value, std::span<const i64> low, std::span<const i64> reach,
                       std::span<const i64> stride) {
    Shape shape;
    std::vector<std::string> dims;
    for (size_t d = 0; d < value.shape.size(); ++d) {
        shape.push_back((reach[d] - 1) / stride[d] + 1);
        dims.push_back(fmt::format("{}:{}", low[d], low[d] + reach[d]));
        if (stride[d] != 1) dims.back() += fmt::format(":{}", stride[d]);
    }
    if (shape == value.shape) return value;
    return op("stablehlo.slice", {value}, fmt::format(" [{}]", fmt::join(dims, ", ")), value.dtype, shape);
}

HloValue HloOps::dynamic_slice(const HloValue& value, HloValues starts, const Shape& sizes) {
    if (value.shape == sizes) return value;
    starts.insert(starts.begin(), value);
    return op("stablehlo.dynamic_slice", starts, fmt::format(", sizes = {}", hlo_list(sizes)), value.dtype, sizes);
}

HloValue HloOps::dynamic_update_slice(const HloValue& value, const HloValue& part, HloValues starts) {
    starts.insert(starts.begin(), {value, part});
    return op("stablehlo.dynamic_update_slice", starts, "", value.dtype, value.shape);
}

HloValue HloOps::reverse(const HloValue& value, std::span<const i64> dims) {
    if (dims.empty()) return value;
    return made(value.dtype, value.shape,
                fmt::format("stablehlo.reverse {}, dims = {} : {}", value.name, hlo_list(dims), hlo_type(value)));
}

HloValue HloOps::pad(const HloValue& value, const HloValue& fill, std::span<const i64> low, std::span<const i64> high,
                     std::span<const i64> interior) {
    Shape shape = value.shape;
    for (size_t d = 0; d < shape.size(); ++d) shape[d] += low[d] + high[d] + interior[d] * (shape[d] - 1);
    return op("stablehlo.pad", {value, fill},
              fmt::format(", low = {}, high = {}, interior = {}", hlo_list(low), hlo_list(high), hlo_list(interior)),
              value.dtype, shape);
}

} // namespace shard
