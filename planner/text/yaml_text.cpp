#include "planner/text/yaml_text.h"

#include "plans/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

std::string_view other_encoding(std::string_view text) {
    const auto is = [text](std::string_view pattern) { // 'a' stands for a byte that is not 0
        if (text.size() < pattern.size()) return false;
        return std::equal(pattern.begin(), pattern.end(), text.begin(),
                          [](char wanted, char c) { return wanted == 'a' ? c != 0 : c == wanted; });
    };
    constexpr std::string_view nul("\0\0", 2);
    if (text.starts_with("\xFF\xFE")) return text.substr(2).starts_with(nul) ? "UTF-32" : "UTF-16";
    if (text.starts_with("\xFE\xFF")) return "UTF-16";
    if (text.starts_with(std::string_view("\0\0\xFE\xFF", 4))) return "UTF-32";
    if (is(std::string_view("\0\0\0a", 4))) return "UTF-32BE";
    if (is(std::string_view("a\0\0\0", 4))) return "UTF-32LE";
    if (is(std::string_view("\0a\0a", 4))) return "UTF-16BE";
    if (is(std::string_view("a\0a\0", 4))) return "UTF-16LE";
    return {};
}

void report_encoding(std::string_view encoding, Span place, Diagnostics& diagnostics) {
    diagnostics.error("E0108", place, fmt::format("the file is {}, not UTF-8", encoding))
        .help(fmt::format("save it as UTF-8: iconv -f {} -t UTF-8 FILE > NEW", encoding));
}

size_t skip_yaml_blanks(std::string_view text, size_t at) {
    while (at < text.size()) {
        if (text[at] == '#')
            at = std::min(text.find('\n', at), text.size());
        else if (std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos)
            ++at;
        else
            break;
    }
    return at;
}

size_t yaml_property_end(std::string_view text, size_t at) {
    const bool is_verbatim = text.substr(at, 2) == "!<";
    return std::min(text.find_first_of(is_verbatim ? " \t\r\n" : " \t\r\n,[]{}", at), text.size());
}

TextPlaces::TextPlaces(const Sources& sources, int file) : file_(file), text_(sources.text(file)) {
    line_starts_.push_back(0);
    for (size_t i = 0; i < text_.size(); ++i)
        if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

Span TextPlaces::at(size_t offset, int length) const {
    offset = std::min(offset, text_.size());
    // A place after the last line break would be on a line that editors do not show: take the last line with text.
    if (offset == text_.size())
        while (offset > 0 && (text_[offset - 1] == '\n' || text_[offset - 1] == '\r')) --offset;
    const std::vector<size_t>::const_iterator next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    const size_t line = next - line_starts_.begin();
    return {file_, static_cast<int>(line), static_cast<int>(offset - line_starts_[line - 1]) + 1, std::max(length, 1)};
}

// By the table of lines, not by looking for the end: a file may be one long line.
size_t TextPlaces::end_of_line(size_t offset) const {
    const std::vector<size_t>::const_iterator next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    size_t end = next == line_starts_.end() ? text_.size() : *next - 1;
    if (end > offset && text_[end - 1] == '\r') --end;
    return end;
}

bool check_yaml_text(const Sources& sources, int file, Diagnostics& diagnostics) {
    const std::string& text = sources.text(file);
    if (text.size() > max_yaml_bytes) {
        diagnostics
            .error("E0107", {file, 1, 1, 1},
                   fmt::format("the file has {} bytes, more than the {} that are read", text.size(), max_yaml_bytes))
            .help("write repeated parts once, as a module with `repeat`");
        return false;
    }
    std::string_view rest = text;
    const auto fail = [&](std::string message) -> DiagnosticBuilder {
        const TextPlaces places(sources, file);
        return diagnostics.error("E0108", places.at(text.size() - rest.size()), std::move(message));
    };
    if (const std::string_view encoding = other_encoding(rest); !encoding.empty()) {
        report_encoding(encoding, {file, 1, 1, 1}, diagnostics);
        return false;
    }
    if (constexpr std::string_view mark = "\xEF\xBB\xBF"; rest.starts_with(mark) && rest.substr(3).starts_with(mark)) {
        fail("the file begins with two byte order marks").help("save it as UTF-8 without them");
        return false;
    }
    while (!rest.empty()) {
        const unsigned char c = static_cast<unsigned char>(rest[0]);
        if (c == '\r' && !rest.starts_with("\r\n")) {
            fail("a carriage return without a line feed").help("end lines with a line feed");
            return false;
        }
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
            fail(fmt::format("not a text file: it holds the byte 0x{:02X}", c));
            return false;
        }
        const size_t length = utf8_length(rest);
        if (length == 0) {
            fail(fmt::format("not UTF-8: unexpected byte 0x{:02X}", c)).help("save the file as UTF-8");
            return false;
        }
        rest.remove_prefix(length);
    }
    return true;
}

size_t closing_quote(std::string_view text, size_t open) {
    const char quote = text[open];
    for (size_t i = open + 1; i < text.size(); ++i) {
        if (quote == '"' && text[i] == '\\') {
            ++i;
        } else if (text[i] == quote) {
            if (quote == '"' || text.substr(i + 1, 1) != "'") return i;
            ++i; // '' in single quotes is one quote
        }
    }
    return std::string_view::npos;
}

bool BracketScan::next() {
    const std::string_view text = places_->text();
    for (; at_ < text.size(); ++at_) {
        const char c = text[at_];
        const bool starts = at_ == 0 || std::string_view(" \t\r\n[{,:").find(text[at_ - 1]) != std::string_view::npos;
        if (starts && (c == '"' || c == '\'')) {
            at_ = std::min(closing_quote(text, at_), text.size() - 1);
        } else if (starts && c == '#') {
            at_ = places_->end_of_line(at_);
        } else if (c == '[' || c == '{' || c == ']' || c == '}') {
            depth_ += c == '[' || c == '{' ? 1 : -1;
            ++marks_;
            ++at_;
            return true;
        } else if (std::string_view(",:?-&*!").find(c) != std::string_view::npos) {
            ++marks_;
        }
    }
    return false;
}

std::optional<size_t> crossed_bracket(const TextPlaces& places, size_t open) {
    const std::string_view text = places.text();
    const auto closed_by = [text](char c) {
        return [text, c](size_t at) { return (text[at] == '[' ? ']' : '}') == c; };
    };
    std::vector<size_t> opened;
    BracketScan scan(places, open);
    while (scan.next()) {
        const char c = text[scan.at()];
        if (c == '[' || c == '{') {
            opened.push_back(scan.at());
        } else if (opened.empty()) {
            break;
        } else if (closed_by(c)(opened.back())) {
            opened.pop_back();
            if (opened.empty()) break;
        } else {
            if (std::any_of(opened.begin(), opened.end(), closed_by(c))) return opened.back();
            break; // one too many
        }
    }
    return std::nullopt;
}

size_t next_comment(const TextPlaces& places, size_t from) {
    const std::string_view text = places.text();
    for (size_t at = from; at < text.size(); ++at) {
        const char c = text[at];
        const bool starts = at == 0 || std::string_view(" \t\r\n[{,:").find(text[at - 1]) != std::string_view::npos;
        if (starts && c == '#') return at;
        if (starts && (c == '"' || c == '\'')) at = std::min(closing_quote(text, at), text.size() - 1);
    }
    return std::string_view::npos;
}

bool check_tokens(const TextPlaces& places, Diagnostics& diagnostics) {
    BracketScan scan(places, 0);
    while (scan.next())
        if (scan.depth() > max_yaml_depth) {
            diagnostics.error("E0105", places.at(scan.at()),
                              fmt::format("nested more than {} levels deep", max_yaml_depth));
            return false;
        }
    if (scan.marks() <= max_yaml_marks) return true;
    diagnostics.error("E0106", places.at(0), fmt::format("more than {} commas, colons and brackets", max_yaml_marks))
        .help("write repeated parts once, as a module with `repeat`");
    return false;
}

} // namespace shard
