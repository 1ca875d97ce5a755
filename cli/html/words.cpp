#include "cli/html/words.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr int axis_colors = 6; // that the style sheet has

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

} // namespace

std::string axis_class(int axis) { return fmt::format("a{}", axis % axis_colors); }

std::string memory_class(std::string_view role) {
    std::string out = "m-" + std::string(role);
    std::replace(out.begin(), out.end(), ' ', '-');
    return out;
}

void write_axes(Markup& out, const Mesh& mesh, std::string_view text, std::string_view tag) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (!text.empty()) {
        const std::string_view::iterator end = is_word(text[0]) ? std::find_if_not(text.begin(), text.end(), is_word)
                                                                : std::find_if(text.begin(), text.end(), is_word);
        const std::string_view word = text.substr(0, end - text.begin());
        text.remove_prefix(word.size());
        if (const std::optional<int> axis = mesh.find(word))
            out.leaf(tag, {{"class", axis_class(*axis)}}, word);
        else
            out.text(word);
    }
}

std::string line_id(size_t source, int line) { return fmt::format("s{}-{}", source, line); }

void write_place(Markup& out, const Plan& plan, const SourceRef& source, std::string_view shown) {
    if (source.line <= 0) return;
    for (size_t i = 0; i < plan.sources.size(); ++i) {
        if (plan.sources[i].name != source.file || plan.sources[i].text.empty()) continue;
        out.leaf("a", {{"href", "#" + line_id(i, source.line)}, {"title", source.file}}, file_name(shown));
        return;
    }
    out.text(shown);
}

void write_name(Markup& out, std::string_view name, std::string_view kind) {
    out.open("td", {{"class", kind}});
    while (!name.empty()) {
        const size_t end = std::min(name.size(), name.find(',')) + 1;
        out.text(name.substr(0, end));
        name.remove_prefix(std::min(name.size(), end));
        if (!name.empty()) out.leaf("wbr");
    }
    out.close();
}

void write_number(Markup& out, std::string_view shown, double value) {
    out.leaf("td", {{"class", "n"}, {"data-v", fmt::format("{:.9g}", value)}}, shown);
}

void write_head(Markup& out, std::initializer_list<std::string_view> columns) {
    out.open("thead").open("tr");
    for (std::string_view column : columns) {
        const bool is_number = column.starts_with('-');
        out.leaf("th", {{"scope", "col"}, {"class", is_number ? "n" : ""}}, column.substr(is_number ? 1 : 0));
    }
    out.close().close().line();
}

} // namespace shard
