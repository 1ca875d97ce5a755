#include "exporter/jax/jax_spelled.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

namespace shard {

PythonText jax_spelled(std::string_view pattern, const std::vector<PythonText>& operands) {
    const auto inside = [](const PythonText& operand) {
        return is_infix(operand) ? bracket("(", {operand}, ")") : operand;
    };
    if (pattern.starts_with("{0} ")) { // {0} + {1}
        const size_t second = pattern.find("{1}");
        return infix(std::string(pattern.substr(3, second - 3)), inside(operands[0]), inside(operands[1]));
    }
    const size_t open = pattern.find('('), close = pattern.rfind(')');
    const bool is_call = open != std::string_view::npos && pattern.find('(', open + 1) == std::string_view::npos;
    fmt::dynamic_format_arg_store<fmt::format_context> texts;
    for (const PythonText& operand : operands) texts.push_back(flat(is_call ? operand : inside(operand)));
    if (!is_call) return {fmt::vformat(pattern, texts)};
    std::vector<PythonText> items; // each may stand on a line of its own
    for (std::string_view rest = pattern.substr(open + 1, close - open - 1); !rest.empty();) {
        const size_t comma = std::min(rest.find(", "), rest.size());
        items.push_back({fmt::vformat(rest.substr(0, comma), texts)});
        rest.remove_prefix(std::min(comma + 2, rest.size()));
    }
    return bracket(std::string(pattern.substr(0, open + 1)), std::move(items), std::string(pattern.substr(close)));
}

} // namespace shard
