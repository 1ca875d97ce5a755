#include "planner/graph_text/line_scanner.h"

#include "plans/base/parse_number.h"

#include <fmt/format.h>

#include <cctype>

namespace shard {

namespace {

bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-.#'").find(c) != std::string_view::npos;
}

} // namespace

void LineScanner::pass_blanks() {
    while (at_ < line_.size() && line_[at_] == ' ') ++at_;
}

bool LineScanner::at_end() {
    pass_blanks();
    return !ok_ || at_ >= line_.size();
}

bool LineScanner::next_is(std::string_view text) {
    pass_blanks();
    return ok_ && line_.substr(at_).starts_with(text);
}

bool LineScanner::take(std::string_view text) {
    if (!next_is(text)) return false;
    at_ += text.size();
    return true;
}

void LineScanner::expect(std::string_view text) {
    if (!take(text)) problem(fmt::format("expected '{}'", text));
}

std::string_view LineScanner::word() {
    pass_blanks();
    const size_t begin = at_;
    while (ok_ && at_ < line_.size() && is_of_word(line_[at_])) ++at_;
    if (at_ == begin) problem("expected a name");
    return line_.substr(begin, at_ - begin);
}

std::string_view LineScanner::until(std::string_view end) {
    pass_blanks();
    if (!ok_) return {};
    const size_t begin = at_;
    at_ = std::min(line_.find(end, begin), line_.size());
    return line_.substr(begin, at_ - begin);
}

std::string_view LineScanner::until_any(std::string_view ends) {
    pass_blanks();
    if (!ok_) return {};
    const size_t begin = at_;
    at_ = std::min(line_.find_first_of(ends, begin), line_.size());
    return line_.substr(begin, at_ - begin);
}

std::string_view LineScanner::until_last(std::string_view end, std::string_view limit) {
    pass_blanks();
    if (!ok_) return {};
    const std::string_view rest = line_.substr(at_);
    const std::string_view part = rest.substr(0, rest.find(limit));
    const std::string_view found = part.substr(0, part.rfind(end));
    at_ += found.size();
    return found;
}

i64 LineScanner::integer() {
    pass_blanks();
    const Span here = place();
    const size_t begin = at_;
    if (line_.substr(at_).starts_with('-')) ++at_;
    while (at_ < line_.size() && line_[at_] >= '0' && line_[at_] <= '9') ++at_;
    const std::optional<i64> number = parse_number<i64>(line_.substr(begin, at_ - begin));
    if (!number) problem(here, "expected a whole number");
    return ok_ ? *number : 0;
}

Span LineScanner::place() {
    pass_blanks();
    const size_t last = line_.empty() ? 0 : line_.size() - 1;
    return {begin_.file, begin_.line, begin_.column + static_cast<int>(std::min(at_, last)), 1};
}

void LineScanner::problem(Span span, std::string what) {
    if (ok_) diagnostics_->error("E0508", span, std::move(what));
    ok_ = false;
}

} // namespace shard
