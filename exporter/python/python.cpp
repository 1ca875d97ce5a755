#include "exporter/python/python.h"

#include "plans/base/printable.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr size_t width = 88;

bool is_bracket(const PythonText& python) { return !python.closes.empty(); }

} // namespace

PythonText bracket(std::string opens, std::vector<PythonText> items, std::string closes) {
    return {std::move(opens), std::move(items), std::move(closes)};
}

PythonText tuple(std::vector<PythonText> items, std::string before) {
    std::string closes = items.size() == 1 ? ",)" : ")";
    return {before + "(", std::move(items), std::move(closes)};
}

PythonText infix(std::string op, PythonText left, PythonText right) {
    return {std::move(op), {std::move(left), std::move(right)}, {}};
}

bool is_infix(const PythonText& python) { return !is_bracket(python) && !python.items.empty(); }

std::string flat(const PythonText& python) {
    if (is_infix(python)) return flat(python.items[0]) + python.text + flat(python.items[1]);
    std::string text = python.text;
    for (size_t i = 0; i < python.items.size(); ++i) text += (i > 0 ? ", " : "") + flat(python.items[i]);
    return text + python.closes;
}

std::string lines(const PythonText& python, size_t indent, std::string_view after) {
    const std::string margin(indent, ' ');
    const std::string whole = margin + flat(python) + std::string(after);
    if (whole.size() <= width || !is_bracket(python) || python.items.empty()) return whole + "\n";
    std::string text = margin + python.text + "\n";
    for (const PythonText& item : python.items) text += lines(item, indent + 4, ",");
    const std::string closes = python.closes.starts_with(",") ? python.closes.substr(1) : python.closes;
    return text + margin + closes + std::string(after) + "\n";
}

std::string assignment(std::string_view name, const PythonText& value, size_t indent) {
    const std::string margin(indent, ' '), before = fmt::format("{}{} = ", margin, name);
    const std::string whole = flat(value);
    if (before.size() + whole.size() <= width) return before + whole + "\n";
    if (is_bracket(value) && before.size() + value.text.size() > width)
        return fmt::format("{}(\n{}{})\n", before, lines(value, indent + 4), margin);
    if (is_bracket(value) && !value.items.empty()) {
        PythonText named = value;
        named.text = fmt::format("{} = {}", name, value.text);
        return lines(named, indent);
    }
    const std::string inner(indent + 4, ' ');
    const bool has_brackets = whole.find_first_of("([") != std::string::npos;
    if (!is_infix(value) && has_brackets) return before + whole + "\n";
    if (inner.size() + whole.size() <= width) return fmt::format("{}(\n{}{}\n{})\n", before, inner, whole, margin);
    if (!is_infix(value)) return before + whole + "\n"; // nothing to break
    return fmt::format("{}(\n{}{}\n{}{}{}\n{})\n", before, inner, flat(value.items[0]), inner, value.text.substr(1),
                       flat(value.items[1]), margin);
}

std::string docstring(std::string_view text) {
    std::string escaped;
    for (char c : printable(text)) {
        if (c == '"' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

std::string quoted(std::string_view text) { return "\"" + docstring(text) + "\""; }

} // namespace shard
