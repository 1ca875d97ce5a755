#include "exporter/python/python.h"

#include "plans/base/printable.h"

namespace shard {

namespace {

constexpr size_t width = 88;

bool is_bracket(const PythonText& python) { return !python.closes.empty(); }

std::string on_one_line(const PythonText& python) {
    std::string text = python.text;
    for (size_t i = 0; i < python.items.size(); ++i) text += (i > 0 ? ", " : "") + on_one_line(python.items[i]);
    return text + python.closes;
}

} // namespace

PythonText bracket(std::string opens, std::vector<PythonText> items, std::string closes) {
    return {std::move(opens), std::move(items), std::move(closes)};
}

PythonText tuple(std::vector<PythonText> items, std::string before) {
    std::string closes = items.size() == 1 ? ",)" : ")";
    return {before + "(", std::move(items), std::move(closes)};
}

std::string lines(const PythonText& python, size_t indent, std::string_view after) {
    const std::string margin(indent, ' ');
    const std::string whole = margin + on_one_line(python) + std::string(after);
    if (whole.size() <= width || !is_bracket(python) || python.items.empty()) return whole + "\n";
    std::string text = margin + python.text + "\n";
    for (const PythonText& item : python.items) text += lines(item, indent + 4, ",");
    const std::string closes = python.closes.starts_with(",") ? python.closes.substr(1) : python.closes;
    return text + margin + closes + std::string(after) + "\n";
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
