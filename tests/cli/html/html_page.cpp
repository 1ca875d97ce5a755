#include "tests/cli/html/html_page.h"

#include "test_paths.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace shard {

HtmlPage::HtmlPage(const std::string& model, const std::string& layout, const std::string& mode) {
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = mode;
    compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    when = when_collectives_run(compilation);
}

std::string HtmlPage::html(const Plan& plan) const {
    return plan_html({&plan, when, {}, {}, "", {&compilation, &sources, &request}});
}

std::string section(const std::string& html, const std::string& id) {
    const size_t begin = html.find("<section id=\"" + id + "\">");
    REQUIRE(begin != std::string::npos);
    return html.substr(begin, html.find("</section>", begin) - begin);
}

i64 count(const std::string& text, const std::string& word) {
    i64 found = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
}

std::string file_text(const std::string& path) {
    std::ifstream stream(std::filesystem::path(SHARDC_SOURCE_DIR) / path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::string markup_problem(const std::string& html) {
    std::vector<std::string> open;
    std::string_view rest = html;
    rest.remove_prefix(std::min(rest.size(), std::string_view("<!DOCTYPE html>").size()));
    while (!rest.empty()) {
        const size_t at = rest.find_first_of("<&");
        if (at == std::string_view::npos) break;
        rest.remove_prefix(at);
        if (rest[0] == '&') {
            bool is_known = false;
            for (std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;"})
                is_known = is_known || rest.starts_with(entity);
            if (!is_known) return "a bare &: " + std::string(rest.substr(0, 20));
            rest.remove_prefix(1);
            continue;
        }
        const size_t end = rest.find('>');
        if (end == std::string_view::npos) return "a tag without an end: " + std::string(rest.substr(0, 20));
        const std::string_view tag = rest.substr(1, end - 1);
        rest.remove_prefix(end + 1);
        if (std::count(tag.begin(), tag.end(), '"') % 2 != 0 || tag.find('<') != std::string_view::npos)
            return "a broken tag: " + std::string(tag);
        if (tag.ends_with('/')) continue;
        if (tag.starts_with('/')) {
            if (open.empty() || open.back() != tag.substr(1)) return "closed, but not open: " + std::string(tag);
            open.pop_back();
            continue;
        }
        open.emplace_back(tag.substr(0, tag.find(' ')));
        const std::string close = "</" + open.back() + ">";
        if (open.back() == "style" || open.back() == "script")
            rest.remove_prefix(std::min(rest.find(close), rest.size()));
    }
    return open.empty() ? "" : "not closed: " + open.back();
}

} // namespace shard
