#include "importer/mlir/mlir_cursor.h"

#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace shard {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

} // namespace

void MlirCursor::skip() {
    for (; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_;
            line_begin_ = at_ + 1;
            new_line_ = true;
        } else if (c == '/' && after() == '/') {
            at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

char MlirCursor::peek() {
    skip();
    return at_end() ? '\0' : text_[at_];
}

bool MlirCursor::take(char expected) {
    if (peek() != expected || at_end()) return false;
    ++at_;
    new_line_ = false;
    return true;
}

bool MlirCursor::take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    new_line_ = false;
    return true;
}

bool MlirCursor::expect(char expected_character) {
    if (take(expected_character)) return true;
    expected(fmt::format("'{}'", expected_character));
    return false;
}

char MlirCursor::take_any() {
    if (at_end()) return '\0';
    const char c = text_[at_++];
    if (c == '\n') {
        ++line_;
        line_begin_ = at_;
    }
    return c;
}

bool MlirCursor::next_is_word() { return is_letter(peek()); }

std::string_view MlirCursor::peek_word() {
    skip();
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
}

std::string_view MlirCursor::word() {
    const std::string_view found = peek_word();
    at_ += found.size();
    if (!found.empty()) new_line_ = false;
    return found;
}

std::string_view MlirCursor::number() {
    skip();
    size_t end = at_;
    const auto at = [&](size_t i) { return i < text_.size() ? text_[i] : '\0'; };
    if (at(end) == '-') ++end;
    if (!is_digit(at(end))) return {};
    if (at(end) == '0' && at(end + 1) == 'x' && is_hex(at(end + 2))) {
        for (end += 2; is_hex(at(end));) ++end;
    } else {
        while (is_digit(at(end))) ++end;
        if (at(end) == '.')
            for (++end; is_digit(at(end));) ++end;
        const size_t sign = at(end + 1) == '-' || at(end + 1) == '+' ? 2 : 1;
        if ((at(end) == 'e' || at(end) == 'E') && is_digit(at(end + sign)))
            for (end += sign; is_digit(at(end));) ++end;
    }
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    new_line_ = false;
    return found;
}

std::string MlirCursor::quoted() {
    const Span begin = here();
    if (!expect('"')) return {};
    std::string result;
    while (!at_end()) {
        const char c = take_any();
        if (c == '"') return result;
        if (c == '\n') break;
        if (c != '\\') {
            result += c;
            continue;
        }
        // \n, \t, \", \\, or two hexadecimal digits.
        const std::string_view digits = text_.substr(at_, 2);
        if (const std::optional<std::uint8_t> byte = parse_number<std::uint8_t>(digits, 16);
            digits.size() == 2 && byte) {
            result += static_cast<char>(*byte);
            at_ += 2;
        } else {
            const char escaped = take_any();
            result += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
        }
    }
    fail("E0801", begin, "this quote is never closed", "the file may have been cut off: write it again");
    return {};
}

std::string MlirCursor::name() {
    if (peek() == '"') return quoted();
    const std::string_view found = word();
    if (found.empty()) expected("a name");
    return std::string(found);
}

Span MlirCursor::here() {
    skip();
    // At the end of the file the place is the end of its last line, which a carriage return is no part of.
    const bool is_behind_return = at_end() && at_ > line_begin_ && text_[at_ - 1] == '\r';
    return {file_, line_, static_cast<int>(at_ - line_begin_) + (is_behind_return ? 0 : 1), 1};
}

Span MlirCursor::from(const Span& begin) const {
    Span span = begin;
    if (line_ == begin.line) span.length = std::max(1, static_cast<int>(at_ - line_begin_) + 1 - begin.column);
    return span;
}

void MlirCursor::fail(std::string_view code, Span span, std::string message, std::string help) {
    if (!failed_) {
        DiagnosticBuilder said = diagnostics_->error(code, span, std::move(message));
        if (!help.empty()) said.help(std::move(help));
    }
    failed_ = true;
    at_ = text_.size();
}

void MlirCursor::expected(std::string_view what) {
    if (failed_) return;
    const Span span = here();
    const std::string found = at_end() ? "the file ends" : fmt::format("there is '{}'", std::string(1, text_[at_]));
    fail("E0801", span, fmt::format("{} is expected here, and {}", what, found));
}

} // namespace shard
