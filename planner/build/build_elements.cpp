#include "planner/build/build_elements.h"

#include "planner/model/type_limits.h"
#include "planner/text/yaml_values.h"
#include "plans/dtype/element_bits.h"

#include <fmt/format.h>

namespace shard {

namespace {

// One value, or those of a list and of the lists within, one after the other. False: lists of different lengths.
bool add_leaves(const Yaml& yaml, size_t depth, std::vector<const Yaml*>& leaves, std::vector<i64>& shape) {
    const YamlList* list = yaml.list();
    if (list == nullptr) {
        leaves.push_back(&yaml);
        return depth == shape.size();
    }
    if (depth == shape.size() && leaves.empty()) shape.push_back(static_cast<i64>(list->size()));
    if (depth >= shape.size() || shape[depth] != static_cast<i64>(list->size())) return false;
    for (const Yaml& item : *list)
        if (!add_leaves(item, depth + 1, leaves, shape)) return false;
    return true;
}

std::optional<Elements> elements_of_bytes(DType dtype, const Yaml& yaml, std::string_view what,
                                          Diagnostics& diagnostics) {
    const std::optional<std::vector<ElementNumber>> numbers = read_element_bytes(yaml.scalar()->text, dtype);
    if (!numbers) {
        diagnostics
            .error("E0226", yaml.span,
                   fmt::format("the bytes of `{}` are not those of elements of type {}", what, name(dtype)))
            .help(fmt::format("write two hexadecimal digits a byte, the lowest byte first, {} bytes an element",
                              byte_size(dtype)));
        return std::nullopt;
    }
    Elements made;
    for (const ElementNumber& number : *numbers) {
        made.numbers.push_back(is_floating(dtype) ? number.real : static_cast<double>(number.integer));
        constexpr double beyond = 9223372036854775808.0; // what no i64 is
        if (is_floating(dtype) ||
            (made.numbers.back() < beyond && static_cast<i64>(made.numbers.back()) == number.integer))
            continue;
        diagnostics
            .error("E0226", yaml.span, fmt::format("f64, through which numbers pass, does not hold {}", number.integer))
            .help("beyond 2^53 not every whole number is one of f64's");
        return std::nullopt;
    }
    return made;
}

} // namespace

std::optional<double> read_element_of(std::optional<DType> dtype, const Yaml& yaml, std::string_view what,
                                      Diagnostics& diagnostics) {
    const std::optional<double> number = read_element(yaml, what, diagnostics);
    const std::optional<ElementProblem> problem =
        number && dtype ? element_problem(*dtype, yaml.scalar()->text, *number) : std::nullopt;
    if (!problem) return number;
    diagnostics.error("E0226", yaml.span, problem->message).help(problem->help);
    return std::nullopt;
}

std::optional<Elements> read_elements_of(std::optional<DType> dtype, const Yaml& yaml, std::string_view what,
                                         Diagnostics& diagnostics) {
    const YamlScalar* const text = yaml.scalar();
    if (text != nullptr && text->quoted && text->text.starts_with("0x"))
        return elements_of_bytes(dtype.value_or(DType::f32), yaml, what, diagnostics);
    std::vector<const Yaml*> leaves;
    Elements made;
    if (!add_leaves(yaml, 0, leaves, made.shape)) {
        diagnostics.error("E0226", yaml.span, fmt::format("`{}` has lists of different lengths", what))
            .help("write [[1, 2], [3, 4]], or one list with `shape` beside it");
        return std::nullopt;
    }
    size_t flags = 0;
    for (const Yaml* item : leaves) {
        const bool is_flag = item->kind() == "true or false";
        const std::optional<double> number = is_flag ? std::optional<double>(item->scalar()->text == "true" ? 1 : 0)
                                                     : read_element_of(dtype, *item, what, diagnostics);
        if (!number) return std::nullopt;
        flags += is_flag ? 1 : 0;
        made.numbers.push_back(*number);
    }
    made.flags = flags > 0 && flags == leaves.size();
    if (flags == 0 || made.flags || dtype) return made;
    diagnostics.error("E0226", yaml.span, fmt::format("`{}` has flags among numbers", what))
        .help("say what they are: `dtype: f32` makes 1 of true and 0 of false");
    return std::nullopt;
}

} // namespace shard
