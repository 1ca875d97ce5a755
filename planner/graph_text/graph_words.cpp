#include "planner/graph_text/graph_words.h"

#include "plans/base/parse_number.h"
#include "plans/json/json_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

using Type = AttributeDef::Type;

constexpr i64 max_priority = 1'000'000; // of a dim: the planner's own are far below

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> read_items(LineScanner& at) {
    std::vector<std::string_view> items;
    at.expect("[");
    while (at.ok() && !at.take("]")) {
        if (!items.empty()) at.expect(",");
        items.push_back(trimmed(at.until_any(",]")));
        if (items.back().empty()) at.problem("expected an entry of the list");
    }
    return items;
}

bool is_of_numbers(const std::vector<std::string_view>& items) {
    return !items.empty() && std::all_of(items.begin(), items.end(), [](std::string_view item) {
        return item.starts_with('-') || (item >= "0" && item < ":");
    });
}

AttributeValue read_list(LineScanner& at, std::optional<Type> type) {
    const Span here = at.place();
    const std::vector<std::string_view> items = read_items(at);
    const auto read = [&](auto zero) -> AttributeValue {
        std::vector<decltype(zero)> values;
        for (std::string_view item : items) {
            const std::optional<decltype(zero)> value = parse_number<decltype(zero)>(item);
            if (!value) at.problem(here, fmt::format("'{}' is no number of this list", item));
            values.push_back(value.value_or(zero));
        }
        return values;
    };
    if (type == Type::elements) return read(0.0);
    if (type == Type::axes || type == Type::mesh_axes || (!items.empty() && !is_of_numbers(items))) {
        std::vector<std::string> names;
        for (std::string_view item : items) names.emplace_back(item == "~" ? "" : item);
        return names;
    }
    return read(i64{0});
}

std::string read_text(LineScanner& at) {
    const Span here = at.place();
    std::string quoted;
    do { // a quote behind a backslash is part of the text
        at.expect("\"");
        quoted += fmt::format("\"{}", at.until("\""));
    } while (at.ok() && quoted.ends_with('\\'));
    at.expect("\"");
    const JsonParse parsed = parse_json(quoted + "\"");
    const std::string* const text = parsed.ok ? std::get_if<std::string>(&parsed.root.value) : nullptr;
    if (text == nullptr) at.problem(here, "expected a text in quotes");
    return text == nullptr ? "" : *text;
}

} // namespace

Shape read_shape(LineScanner& at) {
    Shape shape;
    const Span here = at.place();
    at.expect("(");
    while (at.ok() && !at.take(")")) {
        if (!shape.empty()) at.expect(",");
        if (at.take(")")) break; // "(8,)"
        shape.push_back(at.integer());
        if (shape.back() < 1) at.problem("a dim has at least one element");
    }
    if (at.ok() && !checked_element_count(shape)) at.problem(here, "more elements than 64 bits count");
    return shape;
}

TensorType read_type(LineScanner& at) {
    TensorType type;
    const Span here = at.place();
    const std::optional<DType> dtype = parse_dtype(at.word());
    if (!dtype) at.problem(here, "expected an element type");
    type.dtype = dtype.value_or(DType::f32);
    at.expect("(");
    while (at.ok() && !at.take(")")) {
        if (!type.shape.empty()) at.expect(",");
        const std::string_view part = trimmed(at.until_any(":,)"));
        const bool is_named = at.take(":");
        const std::optional<i64> size = is_named ? at.integer() : parse_number<i64>(part);
        if (!size) at.problem("expected the size of a dim");
        if (size.value_or(0) < 1) at.problem("a dim has at least one element");
        type.shape.push_back(size.value_or(0));
        type.logical.emplace_back(is_named ? part : "");
    }
    if (at.ok() && !checked_element_count(type.shape)) at.problem(here, "more elements than 64 bits count");
    return type;
}

Sharding read_sharding(LineScanner& at, const Mesh& mesh) {
    const Span here = at.place();
    std::string text(at.until("]"));
    at.expect("]");
    text += ']';
    while (at.next_is("U{") || at.next_is("R{")) {
        text += fmt::format(" {}", at.until("}"));
        at.expect("}");
        text += '}';
    }
    const std::optional<Sharding> sharding = parse_sharding(mesh, text);
    if (!sharding) at.problem(here, "expected a sharding over the axes of the mesh");
    return sharding.value_or(Sharding{});
}

std::vector<std::string> read_names(LineScanner& at) {
    return std::get<std::vector<std::string>>(read_list(at, Type::axes));
}

AttributeValue read_attribute(LineScanner& at, std::optional<Type> type) {
    if (at.next_is("[")) return read_list(at, type);
    if (at.next_is("\"")) return read_text(at);
    const Span here = at.place();
    const std::string_view word = trimmed(at.until_any(",}"));
    if (word == "true" || word == "false") return word == "true";
    const bool is_double = type == Type::number || type == Type::element;
    if (const std::optional<i64> integer = parse_number<i64>(word); integer && !is_double) return *integer;
    const std::optional<double> number = parse_number<double>(word);
    if (!number) at.problem(here, "expected a number, true, false, a text in quotes or a list");
    return number.value_or(0);
}

// Axes stay names: the mesh may not have them.
ShardingSpec read_spec(LineScanner& at) {
    ShardingSpec spec;
    at.expect("[");
    while (at.ok() && !at.take("]")) {
        if (!spec.dims.empty()) at.expect("|");
        DimSpec dim;
        if (!at.take("-"))
            for (bool more = !at.next_is("?") && !at.next_is("@"); more && at.ok(); more = at.take(","))
                dim.axes.emplace_back(trimmed(at.until_any("|],?@")));
        dim.open = at.take("?");
        if (at.take("@")) dim.priority = static_cast<int>(std::clamp<i64>(at.integer(), 0, max_priority));
        spec.dims.push_back(std::move(dim));
    }
    if (at.take("R{")) {
        do spec.replicated.emplace_back(trimmed(at.until_any(",}")));
        while (at.take(","));
        at.expect("}");
    }
    return spec;
}

} // namespace shard
