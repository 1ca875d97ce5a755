#include "planner/build/build_dims.h"

#include "planner/model/axis_arithmetic.h"
#include "planner/model/names.h"
#include "planner/text/yaml_values.h"
#include "plans/base/index_of.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

void report_unknown(const ArgumentContext& context, std::string_view code, Span span, std::string message,
                    std::string_view word, const std::vector<std::string_view>& candidates) {
    DiagnosticBuilder error = context.diagnostics.error(code, span, std::move(message));
    if (candidates.empty() && code == "E0225")
        error.help(fmt::format("'{}' has no arguments: `shardc explain {}` says what it does", context.op, context.op));
    else if (!candidates.empty())
        error.help(did_you_mean(
            word, candidates,
            fmt::format("there {}: {}", candidates.size() == 1 ? "is" : "are", fmt::join(candidates, ", "))));
}

const AxisDecl* known_axis(const ArgumentContext& context, const Yaml& yaml, const std::string& text) {
    const AxisDecl* axis = context.model.find_axis(text);
    if (!axis)
        report_unknown(context, "E0228", yaml.span, fmt::format("there is no axis '{}'", text), text,
                       name_texts(context.model.axes));
    return axis;
}

std::optional<i64> read_named_size(const ArgumentContext& context, const Yaml& yaml, std::string_view what,
                                   std::string& name) {
    if (const YamlScalar* scalar = yaml.scalar()) {
        if (!is_name(scalar->text)) return read_integer(yaml, what, context.model.axes, context.diagnostics);
        const AxisDecl* axis = known_axis(context, yaml, scalar->text);
        if (!axis) return std::nullopt;
        name = scalar->text;
        return axis->size;
    }
    context.diagnostics.error("E0226", yaml.span,
                              fmt::format("a size must be a number or an axis name, not {}", yaml.kind()));
    return std::nullopt;
}

std::optional<i64> read_dim(const ArgumentContext& context, std::string_view what, const Yaml& yaml,
                            const std::vector<std::string>& logical) {
    const YamlScalar* scalar = yaml.scalar();
    if (!scalar) {
        context.diagnostics.error("E0226", yaml.span,
                                  fmt::format("`{}` must be a dim's number or axis name, not {}", what, yaml.kind()));
        return std::nullopt;
    }
    const i64 rank = static_cast<i64>(logical.size());
    if (!is_name(scalar->text)) {
        const std::optional<i64> number = read_integer(yaml, what, context.model.axes, context.diagnostics);
        if (!number) return std::nullopt;
        if (*number >= -rank && *number < rank) return *number < 0 ? *number + rank : *number;
        context.diagnostics
            .error("E0228", yaml.span, fmt::format("there is no dim {}: the value has {} dims", *number, rank))
            .help(rank == 0 ? "a scalar has no dims"
                            : fmt::format("dims are 0 to {}, or -{} to -1 from the end", rank - 1, rank));
        return std::nullopt;
    }
    const std::ptrdiff_t count = std::count(logical.begin(), logical.end(), scalar->text);
    if (count == 1) return static_cast<i64>(index_of(logical, scalar->text));
    std::vector<std::string_view> names;
    for (const std::string& name : logical)
        if (!name.empty()) names.push_back(name);
    if (count == 0)
        report_unknown(context, "E0228", yaml.span, fmt::format("the value has no dim named '{}'", scalar->text),
                       scalar->text, names);
    else
        context.diagnostics.error("E0228", yaml.span, fmt::format("{} dims are named '{}'", count, scalar->text))
            .help("say which one by its number");
    return std::nullopt;
}

} // namespace shard
