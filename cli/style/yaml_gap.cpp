#include "cli/style/yaml_gap.h"

#include "planner/text/yaml_text.h"

#include <algorithm>

namespace shard {

namespace {

constexpr std::string_view blanks = " \t\r\n";

size_t line_end(std::string_view text, size_t at) { return std::min(text.find('\n', at), text.size()); }

std::string trimmed(std::string_view text) { return std::string(text.substr(0, text.find_last_not_of(blanks) + 1)); }

bool is_blank_at(std::string_view text, size_t at) {
    return at >= text.size() || blanks.find(text[at]) != std::string_view::npos;
}

bool begins_line(std::string_view text, size_t at) {
    return at == 0 || text[at - 1] == '\n' || text.substr(0, at) == "\xEF\xBB\xBF"; // a byte order mark
}

} // namespace

size_t yaml_column(std::string_view text, size_t at) {
    const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return before == std::string_view::npos ? at : at - before - 1;
}

size_t behind_yaml_dash(std::string_view text, size_t at) {
    for (at = skip_yaml_blanks(text, at); at < text.size(); at = skip_yaml_blanks(text, at)) {
        if (text[at] == '-' && is_blank_at(text, at + 1)) return at + 1;
        const bool is_directive = text[at] == '%' && begins_line(text, at);
        at = is_directive ? line_end(text, at) : std::min(text.find_first_of(blanks, at), text.size());
    }
    return at;
}

size_t yaml_null_length(std::string_view text, size_t at) {
    for (const std::string_view word : {"~", "null", "Null", "NULL"}) {
        if (text.substr(std::min(at, text.size()), word.size()) != word) continue;
        const size_t end = at + word.size();
        if (!is_blank_at(text, end) && std::string_view(",]}").find(text[end]) == std::string_view::npos) return 0;
        const size_t next = std::min(text.find_first_not_of(" \t", end), text.size());
        return next < text.size() && text[next] == ':' ? 0 : word.size(); // a key
    }
    return 0;
}

YamlWrittenNull written_yaml_null(std::string_view text, size_t at, std::optional<size_t> column) {
    YamlWrittenNull found{at, 0};
    size_t next = skip_yaml_blanks(text, at);
    const auto is_its = [&] { return next < text.size() && (!column || yaml_column(text, next) > *column); };
    for (; is_its() && text[next] == '&'; next = skip_yaml_blanks(text, found.begin))
        found.begin = yaml_property_end(text, next);
    const size_t length = !is_its()           ? 0
                          : text[next] == '*' ? yaml_property_end(text, next) - next
                                              : yaml_null_length(text, next);
    if (length > 0) found = {next, length};
    return found;
}

YamlGap read_yaml_gap(std::string_view text, size_t at, size_t until, size_t& end) {
    YamlGap gap;
    const bool to_bracket = until == std::string_view::npos;
    until = std::min(until, text.size());
    bool fresh = begins_line(text, at), behind_dash = false;
    while (at < until) {
        const char c = text[at];
        if (c == '\n') {
            gap.blank_before = gap.blank_before || (fresh && gap.new_line);
            gap.new_line = fresh = true;
            ++at;
        } else if (is_blank_at(text, at)) {
            ++at;
        } else if (c == '#') {
            const size_t stop = line_end(text, at);
            gap.comments.push_back({trimmed(text.substr(at, stop - at)), fresh || behind_dash, gap.blank_before,
                                    behind_dash ? std::string_view::npos : yaml_column(text, at)});
            gap.blank_before = fresh = false;
            at = stop;
        } else if (fresh && (c == '%' || text.substr(at, 3) == "---") && begins_line(text, at)) {
            const size_t stop = c == '%' ? line_end(text, at) : at + 3;
            gap.directives.push_back({trimmed(text.substr(at, stop - at)), gap.comments.size()});
            fresh = false;
            at = stop;
        } else if (c == '&' || c == '!') {
            const size_t stop = yaml_property_end(text, at);
            const size_t next = std::min(text.find_first_not_of(" \t\r", stop), text.size());
            const bool ends_line = next == text.size() || text[next] == '\n' || text[next] == '#';
            gap.properties.push_back(
                {std::string(text.substr(at, stop - at)), ends_line, behind_dash, gap.comments.size()});
            fresh = false;
            at = stop;
        } else {
            if (to_bracket && (c == ']' || c == '}')) break;
            behind_dash = behind_dash || (c == '-' && is_blank_at(text, at + 1));
            gap.has_question = gap.has_question || c == '?';
            fresh = false;
            ++at;
        }
    }
    end = at;
    return gap;
}

} // namespace shard
