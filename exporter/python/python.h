// Python as text, laid out as the formatter black does: what does not fit into 88 columns has each item on a line of
// its own, with a comma behind the last.
//
//     bracket("shardings = (", {item("\"data\""), item("None")}, ")")
#pragma once

#include "plans/base/base.h"

#include <string>
#include <string_view>
#include <vector>

namespace shard {

// A piece of an expression: text alone; text that opens a bracket, what is inside, and what closes it; or an operator
// and its two operands.
struct PythonText {
    std::string text;
    std::vector<PythonText> items = {};
    std::string closes = {};
};

PythonText bracket(std::string opens, std::vector<PythonText> items, std::string closes);
PythonText tuple(std::vector<PythonText> items, std::string before = {}); // (a,) of one item
PythonText infix(std::string op, PythonText left, PythonText right);      // op with the blanks around it: " + "
bool is_infix(const PythonText& python);
std::string flat(const PythonText& python); // on one line, however long

// From column `indent` on; `after` follows it on its last line. Ends in a line break.
std::string lines(const PythonText& python, size_t indent, std::string_view after = {});
// "name = value". An operator's operands, if they do not fit, stand in brackets, one below the other.
std::string assignment(std::string_view name, const PythonText& value, size_t indent);

// "text" as a literal, whatever it holds.
std::string quoted(std::string_view text);
// Text as it may stand in a docstring.
std::string docstring(std::string_view text);

} // namespace shard
