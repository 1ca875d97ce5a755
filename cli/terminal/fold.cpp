#include "cli/terminal/fold.h"

#include "plans/base/characters.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "a of block.3.x" -> pattern "a of block.\x1f.x", indices {3}.
struct Pattern {
    std::string text;
    std::vector<i64> indices;
};
constexpr char hole = '\x1f';

Pattern pattern_of(std::string_view text) {
    Pattern pattern;
    bool in_name = false; // inside a dotted name that does not begin with a digit
    for (size_t i = 0; i < text.size();) {
        if (!is_word(text[i])) {
            in_name = in_name && text[i] == '.';
            pattern.text += text[i++];
            continue;
        }
        size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        std::string_view word = text.substr(i, end - i);
        bool number = std::all_of(word.begin(), word.end(), is_digit);
        if (number && in_name && i > 0 && text[i - 1] == '.' && word.size() < 10) {
            pattern.text += hole;
            pattern.indices.push_back(std::stoll(std::string(word)));
        } else {
            pattern.text += word;
            in_name = !number;
        }
        i = end;
    }
    return pattern;
}

// {3, 3, 3} "3"; {0, 1, 2} "{0..2}"; {0, 2, 2} "{0,2}".
std::string range_text(std::vector<i64> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() == 1) return std::to_string(values.front());
    if (values.size() > 2 && values.back() - values.front() + 1 == static_cast<i64>(values.size()))
        return fmt::format("{{{}..{}}}", values.front(), values.back());
    return fmt::format("{{{}}}", fmt::join(values, ","));
}

} // namespace

std::vector<FoldedRow> fold_rows(const std::vector<std::vector<std::string>>& rows) {
    struct Group {
        FoldedRow row;
        std::vector<Pattern> patterns;
        std::vector<std::vector<std::vector<i64>>> seen; // per field and hole, the indices
    };
    std::vector<Group> groups;
    std::map<std::string, size_t> by_key;
    for (size_t r = 0; r < rows.size(); ++r) {
        std::vector<Pattern> patterns;
        std::string key;
        for (const std::string& field : rows[r]) {
            patterns.push_back(pattern_of(field));
            key += patterns.back().text + '\n';
        }
        std::map<std::string, size_t>::iterator it = by_key.try_emplace(key, groups.size()).first;
        if (it->second == groups.size()) {
            groups.push_back({{}, patterns, {}});
            for (const Pattern& pattern : patterns) groups.back().seen.emplace_back(pattern.indices.size());
        }
        Group& group = groups[it->second];
        group.row.members.push_back(static_cast<int>(r));
        for (size_t f = 0; f < patterns.size(); ++f)
            for (size_t h = 0; h < patterns[f].indices.size(); ++h) group.seen[f][h].push_back(patterns[f].indices[h]);
    }
    std::vector<FoldedRow> result;
    for (Group& group : groups) {
        for (size_t f = 0; f < group.patterns.size(); ++f) {
            std::string text;
            size_t next = 0;
            for (char c : group.patterns[f].text)
                text += c == hole ? range_text(group.seen[f][next++]) : std::string(1, c);
            group.row.fields.push_back(text);
        }
        result.push_back(std::move(group.row));
    }
    return result;
}

} // namespace shard
