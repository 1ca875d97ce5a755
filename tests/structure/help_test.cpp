// Every diagnostic says what to do: in its own words where it is raised, or else with the usual remedy of its code.
#include "plans/diagnostics/codes.h"
#include "plans/diagnostics/diagnostic.h"
#include "plans/diagnostics/usual_help.h"
#include "test_paths.h"
#include "tests/structure/structure_rules.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace shard {
namespace {

bool is_code(std::string_view text) {
    return text.size() == 5 && (text[0] == 'E' || text[0] == 'W' || text[0] == 'P') &&
           std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// From `at` to the end of the statement: a semicolon outside of quotes.
std::string_view rest_of_statement(std::string_view text, size_t at) {
    bool quoted = false;
    size_t end = at;
    for (; end < text.size() && (quoted || text[end] != ';'); ++end) {
        if (quoted && text[end] == '\\')
            ++end;
        else if (text[end] == '"')
            quoted = !quoted;
    }
    return text.substr(at, end - at);
}

// "path:line CODE" of everything that is raised without words of its own on what to do.
std::vector<std::pair<std::string, std::string>> raised_without_help(const std::vector<SourceFile>& files) {
    std::vector<std::pair<std::string, std::string>> found;
    for (const SourceFile& file : files) {
        if (file.path.starts_with("tests/") || file.path.starts_with("bench/") || file.path.starts_with("plans/codes"))
            continue;
        const std::string_view text = file.text;
        for (const std::string_view call : {"error(", "warning(", "finding(", "fail(", "report("})
            for (size_t at = text.find(call); at != std::string_view::npos; at = text.find(call, at + 1)) {
                const size_t quote = text.find_first_not_of(" \n", at + call.size());
                if (quote == std::string_view::npos || text[quote] != '"' || !is_code(text.substr(quote + 1, 5)))
                    continue;
                if (rest_of_statement(text, quote).find(".help(") != std::string_view::npos) continue;
                const i64 line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
                found.emplace_back(fmt::format("{}:{}", file.path, line), text.substr(quote + 1, 5));
            }
    }
    return found;
}

} // namespace

TEST_CASE("a diagnostic without words of its own on what to do has the usual ones of its code") {
    const std::vector<std::pair<std::string, std::string>> found =
        raised_without_help(read_source_tree(SHARDC_SOURCE_DIR));
    CHECK(found.size() > 50);
    for (const auto& [place, code] : found) {
        if (code == "W0603") continue; // says that nothing is lost: there is nothing to do
        CHECK_MESSAGE(!usual_help(code).empty(), place, " raises ", code);
    }
    CHECK(raised_without_help({{"cli/a.cpp", "x.error(\"E0109\", {}, \"a; b\").help(\"do\");"}}).empty());
    CHECK(raised_without_help({{"cli/a.cpp", "x.error(\"E0109\", {}, \"a; b\");\ny.help(\"do\");"}}).size() == 1);
}

TEST_CASE("what to do is usual only of codes that there are") {
    for (const CodeDoc& code : all_codes())
        if (!usual_help(code.code).empty()) CHECK(usual_help(code.code).find('\n') == std::string_view::npos);
    Diagnostics diagnostics;
    diagnostics.error("E0109", {}, "the file is empty");
    diagnostics.error("E0109", {}, "the file is empty").help("fill it");
    CHECK(diagnostics.all()[0].help == usual_help("E0109"));
    CHECK(diagnostics.all()[1].help == "fill it");
}

} // namespace shard
