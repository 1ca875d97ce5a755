#include "cli/style/yaml_writer.h"

#include "planner/text/yaml_text.h"

#include <algorithm>

namespace shard {

YamlWriter::YamlWriter(std::string_view text, const Yaml& root) : text_(text) {
    line_starts_.push_back(0);
    for (size_t i = 0; i < text.size(); ++i)
        if (text[i] == '\n') line_starts_.push_back(i + 1);
    if (text.starts_with("\xEF\xBB\xBF")) at_ = 3;
    write_root(root);
}

size_t YamlWriter::offset(const Span& span) const {
    return line_starts_[static_cast<size_t>(span.line - 1)] + static_cast<size_t>(span.column - 1);
}

YamlGap YamlWriter::gap(size_t until) {
    YamlGap read = read_yaml_gap(text_, at_, until, at_);
    has_anchor_ = has_anchor_ || !read.properties.empty();
    comments_ += read.comments.size();
    return read;
}

// Blocks have no bracket; an alias stands for what it names.
bool YamlWriter::is_block(const Yaml& node) const {
    if (node.map() == nullptr && node.list() == nullptr) return false;
    return std::string_view("[{*").find(text_[offset(node.span)]) == std::string_view::npos;
}

void YamlWriter::write_root(const Yaml& root) {
    if (is_block(root)) {
        write_block(root, 0, Begins::below);
    } else {
        const bool is_null = root.is_null() && yaml_null_length(text_, offset(root.span)) == 0;
        YamlGap before = gap(is_null ? skip_yaml_blanks(text_, at_) : offset(root.span));
        if (!before.properties.empty()) // what stands behind an anchor comes above it
            for (size_t n = before.properties[0].comments; n < before.comments.size(); ++n)
                before.comments[n].own_line = true;
        put_comments(before, 0);
        lines_.begin(0);
        write_inline(root, before, 2, 0);
    }
    const YamlGap behind = gap(text_.size());
    put_comments(behind, 0);
    entries_.push_back(lines_.count() - of_next_);
}

// Comments above an entry of a block: each at the level that it stood at, of those that were open. Of two levels in one
// column, as those of a key and of a list below it that is not indented, the outer.
void YamlWriter::put_comments(const YamlGap& gap, size_t indent) {
    of_next_ = 0;
    std::vector<YamlDirective>::const_iterator directive = gap.directives.begin();
    const auto put_directives = [&](size_t comments) {
        for (; directive != gap.directives.end() && directive->comments == comments; ++directive) {
            lines_.begin(0);
            lines_.append(directive->text);
            body_ = lines_.count();
            ++of_next_;
        }
    };
    for (size_t n = 0; n < gap.comments.size(); ++n) {
        put_directives(n);
        const YamlComment& comment = gap.comments[n];
        if (!comment.own_line && !lines_.empty()) {
            lines_.attach(comment.text);
            continue;
        }
        size_t at = indent;
        for (size_t i = levels_.size(); i > depth_ && comment.column != std::string_view::npos; --i)
            if (comment.column >= levels_[i - 1].column && (i < 2 || levels_[i - 2].column < levels_[i - 1].column)) {
                at = std::max(indent, levels_[i - 1].indent);
                break;
            }
        of_next_ = at == indent ? of_next_ + 1 : 0;
        lines_.comment_line(comment.text, at, comment.blank_before && !lines_.empty());
    }
    put_directives(gap.comments.size());
}

// Comments between a key and its value, which stand on one line now.
void YamlWriter::put_inline_comments(const YamlGap& gap) {
    for (const YamlComment& comment : gap.comments) {
        if (comment.own_line)
            lines_.comment_above(comment.text);
        else
            lines_.attach(comment.text);
    }
}

// Those that stand above the anchor of a block, which are taken from the gap: the anchor has a line of its own in a file's
// outermost block, and stands behind the key in others.
void YamlWriter::put_comments_above(YamlGap& gap, const YamlProperty& property, size_t indent) {
    YamlGap above = gap;
    above.comments.resize(property.comments);
    gap.comments.erase(gap.comments.begin(), gap.comments.begin() + static_cast<std::ptrdiff_t>(property.comments));
    gap.directives.clear();
    if (depth_ > 1) {
        put_inline_comments(above);
    } else {
        put_comments(above, indent);
        lines_.begin(indent);
    }
}

bool YamlWriter::put_flow_comments(const YamlGap& gap, size_t align) {
    for (const YamlComment& comment : gap.comments) {
        if (comment.own_line)
            lines_.comment_line(comment.text, align, false);
        else
            lines_.attach(comment.text);
    }
    return !gap.comments.empty();
}

void YamlWriter::write_key(const YamlEntry& entry) {
    const size_t begin = offset(entry.key_span);
    at_ = begin;
    if (text_[begin] == '"' || text_[begin] == '\'') {
        at_ = closing_quote(text_, begin) + 1;
        lines_.append(text_.substr(begin, at_ - begin));
    } else {
        lines_.append(entry.key);
        at_ = begin + entry.key.size();
    }
}

void YamlWriter::write_block(const Yaml& node, size_t indent, Begins begins) {
    bool inline_first = begins == Begins::behind_dash;
    const YamlMap* map = node.map();
    const size_t count = map != nullptr ? map->size() : node.list()->size();
    const size_t column = yaml_column(text_, offset(node.span)), outer = parent_;
    const size_t depth = depth_++;
    parent_ = column;
    for (size_t i = 0; i < count; ++i) {
        const Yaml* item = map != nullptr ? nullptr : &(*node.list())[i];
        size_t null_length = 0, begin = 0;
        if (item != nullptr && item->is_null()) { // its own place says nothing if it is not written
            const YamlWrittenNull null = written_yaml_null(text_, behind_yaml_dash(text_, at_), column);
            begin = null.begin;
            null_length = null.length;
        } else {
            begin = offset(item != nullptr ? item->span : (*map)[i].key_span);
        }
        YamlGap before = gap(begin);
        std::string prefix;
        bool below = false; // the item's anchor has a line of its own
        for (const YamlProperty& property : before.properties) {
            const bool of_block = i == 0 && property.ends_line && !(item != nullptr && property.behind_dash);
            if (of_block) {
                put_comments_above(before, property, indent);
                lines_.append((inline_first || lines_.column() == 0 ? "" : " ") + property.text);
                inline_first = false;
            } else {
                prefix += property.text + " ";
                below = below || (item != nullptr && is_block(*item) && property.ends_line);
            }
        }
        if (i == 0) {
            levels_.resize(std::min(levels_.size(), depth));
            if (inline_first || begins == Begins::below_dash)
                put_inline_comments(before);
            else
                put_comments(before, indent);
            levels_.resize(depth);
            levels_.push_back({column, indent});
        } else {
            put_comments(before, indent);
            levels_.resize(depth + 1);
        }
        if (i > 0 || !inline_first) {
            const bool has_comment_above = !before.comments.empty() && before.comments.back().own_line;
            lines_.begin(indent, before.blank_before && !lines_.empty() && (i > 0 || depth == 0 || has_comment_above));
        }
        if (depth == 0 && map != nullptr) {
            entries_.push_back(i == 0 ? std::max(body_, lines_.last_paragraph(lines_.count() - 1))
                                      : lines_.count() - 1 - of_next_);
        }
        if (map != nullptr) {
            if (before.has_question) lines_.append("? ");
            lines_.append(prefix);
            write_key((*map)[i]);
            if (before.has_question) lines_.begin(indent);
            at_ = text_.find(':', at_) + 1;
            lines_.append(":");
            write_block_value((*map)[i].value, column, indent);
        } else if (is_block(*item)) {
            lines_.append("- " + prefix);
            write_block(*item, indent + 2, below ? Begins::below_dash : Begins::behind_dash);
        } else if (item->is_null()) {
            const std::string line = "- " + prefix + std::string(text_.substr(begin, null_length));
            lines_.append(line.substr(0, line.find_last_not_of(' ') + 1));
            at_ = begin + null_length;
        } else {
            lines_.append("- " + prefix);
            write_inline(*item, {}, indent + 2, 0);
        }
    }
    parent_ = outer;
    --depth_;
}

// Behind "key:" on the current line.
void YamlWriter::write_block_value(const Yaml& node, size_t column, size_t indent) {
    if (is_block(node)) {
        write_block(node, indent + 2, Begins::below);
        return;
    }
    if (node.is_null()) {
        const YamlWrittenNull null = written_yaml_null(text_, at_, column);
        const YamlGap before = gap(null.begin);
        put_inline_comments(before);
        for (const YamlProperty& property : before.properties) lines_.append(" " + property.text);
        if (null.length > 0) lines_.append(" " + std::string(text_.substr(null.begin, null.length)));
        at_ = null.begin + null.length;
        return;
    }
    const YamlGap before = gap(offset(node.span));
    put_inline_comments(before);
    lines_.append(" ");
    write_inline(node, before, indent + 2, 0);
}

// A scalar, an alias or a collection in brackets, which `before` led to.
void YamlWriter::write_inline(const Yaml& node, const YamlGap& before, size_t indent, size_t reserve) {
    for (const YamlProperty& property : before.properties) lines_.append(property.text + " ");
    const char first = at_ < text_.size() ? text_[at_] : ' ';
    if (first == '*') {
        const size_t end = std::min(text_.find_first_of(" \t\r\n,]}", at_), text_.size());
        lines_.append(text_.substr(at_, end - at_));
        at_ = end;
        has_anchor_ = true;
    } else if (node.is_null()) {
        const size_t length = yaml_null_length(text_, at_);
        lines_.append(length > 0 ? text_.substr(at_, length) : "~"); // [a,,b]: nothing is written between two commas
        at_ += length;
    } else if (node.scalar() != nullptr) {
        write_scalar(node, indent);
    } else {
        write_flow(node, reserve);
    }
}

void YamlWriter::write_scalar(const Yaml& node, size_t indent) {
    const char first = text_[at_];
    if (first == '"' || first == '\'')
        write_quoted(indent);
    else if (node.scalar()->quoted)
        write_block_scalar(indent);
    else
        write_plain(node.scalar()->text, indent);
}

// Over several lines: what indents them is no part of it.
void YamlWriter::write_quoted(size_t indent) {
    const size_t end = closing_quote(text_, at_) + 1;
    std::string_view rest = text_.substr(at_, end - at_);
    at_ = end;
    bool is_first = true;
    while (true) {
        const size_t stop = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, stop);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!is_first) line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (is_first)
            lines_.append(line);
        else
            lines_.verbatim(line.empty() ? std::string() : std::string(indent, ' ').append(line));
        if (stop == rest.size()) return;
        if (is_first) lines_.detach();
        is_first = false;
        rest.remove_prefix(stop + 1);
    }
}

// Its value is its text, with one blank for a line break and a break for each blank line.
void YamlWriter::write_plain(const std::string& value, size_t indent) {
    for (const char c : value) {
        if (c != ' ' && c != '\n') {
            ++at_;
            continue;
        }
        if (text_.substr(at_, 1).find_first_of(" \t\r\n") == 0) {
            // Blanks inside a line count one by one, those around a break all at once.
            const size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
            if (text_.substr(at_, next - at_).find('\n') == std::string_view::npos)
                ++at_;
            else
                at_ = next;
        }
    }
    size_t begin = 0;
    while (true) {
        const size_t end = std::min(value.find('\n', begin), value.size());
        const std::string_view line = std::string_view(value).substr(begin, end - begin);
        if (begin == 0)
            lines_.append(line);
        else
            lines_.verbatim(line.empty() ? std::string() : std::string(indent, ' ').append(line));
        if (end == value.size()) return;
        if (begin == 0) lines_.verbatim("");
        begin = end + 1;
    }
}

// | and >: all lines that are indented more than the block around them.
void YamlWriter::write_block_scalar(size_t indent) {
    const size_t head_end = std::min(text_.find('\n', at_), text_.size());
    std::string head(text_.substr(at_, head_end - at_));
    head.erase(head.find_last_not_of(" \t\r") + 1);
    const size_t comment = head.find('#');
    size_t digit = head.find_first_of("123456789"); // of indentation
    if (digit > comment) digit = std::string::npos;
    const bool keeps = head.substr(0, comment).find('+') != std::string::npos;
    comments_ += comment != std::string::npos ? 1 : 0;
    std::vector<std::string_view> found;
    size_t content = digit == std::string::npos ? 0 : parent_ + static_cast<size_t>(head[digit] - '0');
    if (digit != std::string::npos) head[digit] = '2';
    at_ = head_end;
    size_t kept = 0, end = at_;
    for (size_t next = std::min(at_ + 1, text_.size()); next < text_.size();) {
        const size_t stop = std::min(text_.find('\n', next), text_.size());
        std::string_view line = text_.substr(next, stop - next);
        if (line.ends_with('\r')) line.remove_suffix(1);
        const size_t blank = line.find_first_not_of(' ');
        if (blank != std::string_view::npos) {
            if (content == 0 && digit == std::string::npos) content = std::max(blank, parent_ + 1);
            if (blank < content) break;
        }
        found.push_back(line);
        if (blank != std::string_view::npos || keeps) {
            kept = found.size();
            end = stop;
        }
        next = stop + 1;
    }
    at_ = end;
    lines_.append(head);
    for (size_t i = 0; i < kept; ++i) {
        std::string_view line = found[i];
        line.remove_prefix(std::min(content, line.size()));
        lines_.verbatim(line.empty() ? std::string() : std::string(indent, ' ').append(line));
    }
}

} // namespace shard
