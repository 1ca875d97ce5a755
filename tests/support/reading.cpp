#include "tests/support/reading.h"

#include "planner/read/layout_reader.h"
#include "planner/read/model_reader.h"
#include "planner/read/policy_reader.h"
#include "plans/diagnostics/usual_help.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

std::string place(Span span) { return fmt::format("{}:{}+{}", span.line, span.column, span.length); }

template<typename Result>
std::string problems(std::string text, Result (*read)(const Sources&, int, Diagnostics&)) {
    Sources sources;
    const int file = sources.add("test.yaml", std::move(text));
    Diagnostics diagnostics;
    const Result result = read(sources, file, diagnostics);
    CHECK(static_cast<bool>(result) == !diagnostics.has_error());
    return report_text(diagnostics);
}

template<typename Result>
Result accepted(std::string text, std::optional<Result> (*read)(const Sources&, int, Diagnostics&)) {
    Sources sources;
    const int file = sources.add("test.yaml", std::move(text));
    Diagnostics diagnostics;
    std::optional<Result> result = read(sources, file, diagnostics);
    REQUIRE(report_text(diagnostics) == "");
    REQUIRE(result.has_value());
    return std::move(*result);
}

} // namespace

std::string report_text(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& d : diagnostics.all()) {
        text += fmt::format("{} {} {}\n", d.code, d.labels.empty() ? "-" : place(d.labels[0].span), d.message);
        for (size_t i = 1; i < d.labels.size(); ++i)
            text += fmt::format("  label {} {}\n", place(d.labels[i].span), d.labels[i].text);
        for (const std::string& note : d.notes) text += fmt::format("  note {}\n", note);
        if (d.help != usual_help(d.code)) text += fmt::format("  help {}\n", d.help);
    }
    return text;
}

std::string yaml_problems(std::string text) { return problems<YamlDocument>(std::move(text), parse_yaml); }
std::string model_problems(std::string text) { return problems<std::optional<Model>>(std::move(text), read_model); }
std::string layout_problems(std::string text) { return problems<std::optional<Layout>>(std::move(text), read_layout); }
std::string policy_problems(std::string text) {
    return problems<std::optional<PolicyDecl>>(std::move(text), read_policy);
}

Model model_of(std::string text) { return accepted<Model>(std::move(text), read_model); }
Layout layout_of(std::string text) { return accepted<Layout>(std::move(text), read_layout); }

} // namespace shard
