// Walks a YAML tree along with the text that it was read from, and lays out what it meets.
#pragma once

#include "cli/style/styled_lines.h"
#include "cli/style/yaml_gap.h"
#include "planner/text/yaml.h"

#include <span>

namespace shard {

class YamlWriter {
public:
    // `text` is what `root` was read from.
    YamlWriter(std::string_view text, const Yaml& root);

    StyledLines& lines() { return lines_; }
    bool has_anchor() const { return has_anchor_; }
    size_t comments() const { return comments_; } // how many were met
    // The line at which each entry of the root begins, with the comments above it; then that of what stands behind the
    // last. Empty if the root is no block of keys.
    const std::vector<size_t>& entries() const { return entries_; }

private:
    size_t offset(const Span& span) const;
    YamlGap gap(size_t until);
    bool is_block(const Yaml& node) const;

    void write_root(const Yaml& root);
    // Where a block's first entry stands: on a line of its own, which may be that below a dash and an anchor, or behind a
    // dash on the current line, which it goes on with.
    enum class Begins { below, below_dash, behind_dash };
    void write_block(const Yaml& node, size_t indent, Begins begins);
    void write_block_value(const Yaml& node, size_t column, size_t indent);
    void write_inline(const Yaml& node, const YamlGap& before, size_t indent, size_t reserve);
    void write_flow(const Yaml& node, size_t reserve);
    void write_pair(const YamlEntry& entry, size_t align, size_t reserve);
    void write_flow_item(const Yaml& node, size_t item, size_t align, size_t reserve);
    void write_key(const YamlEntry& entry);
    void write_scalar(const Yaml& node, size_t indent);
    void write_block_scalar(size_t indent);
    void write_quoted(size_t indent);
    void write_plain(const std::string& value, size_t indent);

    void put_comments(const YamlGap& gap, size_t indent);
    void put_comments_above(YamlGap& gap, const YamlProperty& property, size_t indent);
    void put_inline_comments(const YamlGap& gap);
    bool put_flow_comments(const YamlGap& gap, size_t align); // whether a line has to be begun
    bool fits(const Yaml& node, size_t item, size_t align, size_t reserve);

    struct Level {
        size_t column = 0, indent = 0; // as it was, as it is
    };
    std::string_view text_;
    std::vector<size_t> line_starts_;
    size_t at_ = 0;     // all before it is written
    size_t depth_ = 0;  // of blocks
    size_t parent_ = 0; // the column of the innermost block's entries, as it was
    bool wide_ = false; // lines have no end: for measuring
    std::vector<Level> levels_;
    StyledLines lines_;
    std::vector<size_t> entries_;
    size_t body_ = 0;    // the line behind the directives
    size_t of_next_ = 0; // lines of the comments put last that belong to what follows: they stand at its level
    bool has_anchor_ = false;
    size_t comments_ = 0;
};

} // namespace shard
