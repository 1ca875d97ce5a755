#include "plans/json/json_places.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace shard {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// Walks over JSON that was read before, or up to where it is not JSON: it never runs past the end, and checks nothing.
class Scan {
public:
    explicit Scan(std::string_view text) : text_(text) { skip_blanks(); }

    size_t at() const { return at_; }
    char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    // Into an object's next member, or a list's next value: true if there is one. The first call enters.
    bool next_item(bool first) {
        if (!first && next() != ',') return false;
        ++at_;
        skip_blanks();
        return next() != '\0' && next() != '}' && next() != ']';
    }

    // A member's key as it is written; the scan goes on to its value.
    std::string_view key() {
        const size_t start = at_ + 1;
        skip_string();
        const std::string_view name = text_.substr(std::min(start, at_), at_ - std::min(at_, start + 1));
        skip_blanks();
        if (next() == ':') ++at_;
        skip_blanks();
        return name;
    }

    void skip_value() {
        int depth = 0;
        do {
            const char c = next();
            if (c == '"') {
                skip_string();
            } else if (c == '{' || c == '[') {
                ++depth, ++at_;
            } else if (c == '}' || c == ']') {
                --depth, ++at_;
            } else if (depth == 0) {
                at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
            } else {
                ++at_;
            }
        } while (depth > 0 && at_ < text_.size());
        skip_blanks();
    }

    void skip_string() {
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
            if (text_[at_] == '\\') ++at_;
        at_ = std::min(at_ + 1, text_.size());
    }

private:
    void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

    std::string_view text_;
    size_t at_ = 0;
};

// Goes from an object to the value of a key. Returns the place of the key, the last of its name if there are several.
std::optional<size_t> enter_key(Scan& scan, std::string_view wanted) {
    if (scan.next() != '{') return std::nullopt;
    std::optional<size_t> found;
    Scan value = scan, walk = scan;
    for (bool more = walk.next_item(true); more; more = walk.next_item(false)) {
        const size_t start = walk.at();
        if (walk.next() != '"') break;
        if (walk.key() == wanted) found = start, value = walk;
        walk.skip_value();
    }
    if (found) scan = value;
    return found;
}

bool enter_index(Scan& scan, i64 index) {
    if (scan.next() != '[') return false;
    Scan walk = scan;
    i64 i = 0;
    for (bool more = walk.next_item(true); more; more = walk.next_item(false)) {
        if (i++ == index) {
            scan = walk;
            return true;
        }
        const size_t before = walk.at();
        walk.skip_value();
        if (walk.at() == before) break;
    }
    return false;
}

Scan follow(std::string_view text, std::string_view path) {
    Scan scan(text);
    path = path.substr(0, path.find(' '));
    while (!path.empty()) {
        if (path.front() == '[') {
            i64 index = -1;
            const std::from_chars_result end = std::from_chars(path.data() + 1, path.data() + path.size(), index);
            path.remove_prefix(std::min(static_cast<size_t>(end.ptr - path.data()) + 1, path.size()));
            if (end.ec != std::errc() || !enter_index(scan, index)) break;
        } else {
            if (path.front() == '.') path.remove_prefix(1);
            const std::string_view key = path.substr(0, path.find_first_of(".["));
            path.remove_prefix(key.size());
            if (!enter_key(scan, key)) break;
        }
    }
    return scan;
}

} // namespace

Span JsonText::at(i64 offset, i64 length) const {
    if (file < 0) return {};
    size_t to = std::clamp<i64>(offset, 0, static_cast<i64>(text.size()));
    if (offset >= static_cast<i64>(text.size()))
        while (to > 0 && blanks.find(text[to - 1]) != std::string_view::npos) --to;
    const std::string_view before = text.substr(0, to);
    const i64 line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
    constexpr i64 most = std::numeric_limits<int>::max();
    return {file, static_cast<int>(std::min(line, most)),
            static_cast<int>(std::min(static_cast<i64>(to - line_start) + 1, most)),
            static_cast<int>(std::clamp<i64>(length, 1, most))};
}

Span JsonText::value(std::string_view path) const {
    if (file < 0) return {};
    Scan scan = follow(text, path);
    const size_t start = scan.at();
    if (scan.next() == '{' || scan.next() == '[') return at(static_cast<i64>(start));
    if (scan.next() == '"')
        scan.skip_string();
    else
        return at(static_cast<i64>(start),
                  static_cast<i64>(std::min(text.find_first_of(",]} \t\r\n", start), text.size()) - start));
    return at(static_cast<i64>(start), static_cast<i64>(scan.at() - start));
}

Span JsonText::key(std::string_view path, std::string_view key) const {
    if (file < 0) return {};
    Scan scan = follow(text, path);
    const size_t object = scan.at();
    const std::optional<size_t> start = enter_key(scan, key);
    if (!start) return at(static_cast<i64>(object));
    return at(static_cast<i64>(*start), static_cast<i64>(key.size()) + 2);
}

} // namespace shard
