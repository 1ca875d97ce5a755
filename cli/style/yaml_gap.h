// What stands between two values of a YAML text: comments, anchors, blank lines, and the marks of its structure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

struct YamlComment {
    std::string text;     // with its #
    bool own_line = true; // nothing stands before it
    bool blank_before = false;
    size_t column = 0; // from 0
};

struct YamlProperty { // &anchor
    std::string text;
    bool ends_line = false; // its value begins below
    bool behind_dash = false;
    size_t comments = 0; // of the gap, so many stand above
};

struct YamlDirective { // %YAML, and the --- behind them
    std::string text;
    size_t comments = 0; // of the gap, so many stand above
};

struct YamlGap {
    std::vector<YamlComment> comments = {};
    std::vector<YamlProperty> properties = {};
    std::vector<YamlDirective> directives = {};
    bool new_line = false;     // what follows is on another line
    bool blank_before = false; // above what follows
    bool has_question = false; // a key that is marked with ?
};

// From `at`, outside of values, to `until`; with npos to the next bracket that closes, or the end.
YamlGap read_yaml_gap(std::string_view text, size_t at, size_t until, size_t& end);

// Behind the next `-` of a list; directives, anchors and tags may stand before it.
size_t behind_yaml_dash(std::string_view text, size_t at);

// Bytes of ~ or null at a place; 0 if something else stands there.
size_t yaml_null_length(std::string_view text, size_t at);

// A value that is nothing, looked for from `at`: behind its anchors, and how many bytes say so (~, null or an alias; 0 if
// none do). In a block it stands right of `column`, which its entry stands at.
struct YamlWrittenNull {
    size_t begin = 0, length = 0;
};
YamlWrittenNull written_yaml_null(std::string_view text, size_t at, std::optional<size_t> column = std::nullopt);

// The column of a place, from 0.
size_t yaml_column(std::string_view text, size_t at);

} // namespace shard
