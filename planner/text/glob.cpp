#include "planner/text/glob.h"

#include "plans/base/base.h"
#include "plans/base/characters.h"
#include "plans/base/parse_number.h"

#include <algorithm>
#include <vector>

namespace shard {

namespace {

constexpr int most_nested = 8; // braces within braces; reports write two
constexpr size_t none = std::string_view::npos;

// The place of the brace that closes the first one, or of the comma that ends its first alternative; none: neither.
size_t end_of_alternative(std::string_view text, bool at_comma) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
        if (at_comma ? depth == 0 && text[i] == ',' : depth == 0) return i;
    }
    return none;
}

// A set of places in the path: where a match of what was read of the pattern can end.
using Ends = std::vector<bool>;

class Matcher {
public:
    explicit Matcher(std::string_view path) : path_(path) {}

    bool matches(std::string_view glob) const {
        Ends begin(path_.size() + 1, false);
        begin[0] = true;
        return after(glob, std::move(begin), 0).back();
    }

private:
    Ends after(std::string_view glob, Ends ends, int depth) const {
        while (!glob.empty() && std::find(ends.begin(), ends.end(), true) != ends.end()) {
            if (glob.starts_with('*')) {
                const bool any = glob.starts_with("**");
                for (size_t p = 0; p < path_.size(); ++p)
                    if (ends[p] && (any || path_[p] != '.')) ends[p + 1] = true;
                glob.remove_prefix(any ? 2 : 1);
                continue;
            }
            const size_t close = glob.front() == '{' && depth < most_nested ? end_of_alternative(glob, false) : none;
            if (close != none) {
                ends = after_braces(glob.substr(1, close - 1), ends, depth + 1);
                glob.remove_prefix(close + 1);
                continue;
            }
            for (size_t p = path_.size(); p > 0; --p)
                ends[p] = ends[p - 1] && (glob.front() == path_[p - 1] || (glob.front() == '?' && path_[p - 1] != '.'));
            ends[0] = false;
            glob.remove_prefix(1);
        }
        return ends;
    }

    Ends after_braces(std::string_view inside, const Ends& ends, int depth) const {
        Ends all(ends.size(), false);
        for (bool more = true; more;) {
            const size_t comma = end_of_alternative(inside, true);
            const std::string_view alternative = inside.substr(0, comma);
            const Ends some = is_range(alternative) ? after_range(alternative, ends) : after(alternative, ends, depth);
            for (size_t p = 0; p < all.size(); ++p) all[p] = all[p] || some[p];
            more = comma != none;
            if (more) inside.remove_prefix(comma + 1);
        }
        return all;
    }

    static bool is_range(std::string_view text) {
        const size_t dots = text.find("..");
        return dots != none && parse_number<i64>(text.substr(0, dots)) && parse_number<i64>(text.substr(dots + 2));
    }

    // A number as it is written: 7, not 07.
    Ends after_range(std::string_view range, const Ends& ends) const {
        constexpr size_t most_digits = 18;
        const size_t dots = range.find("..");
        const i64 first = *parse_number<i64>(range.substr(0, dots)), last = *parse_number<i64>(range.substr(dots + 2));
        Ends out(ends.size(), false);
        for (size_t p = 0; p < path_.size(); ++p) {
            i64 number = 0;
            for (size_t q = p; ends[p] && q < path_.size() && is_digit(path_[q]) && q - p < most_digits; ++q) {
                number = number * 10 + (path_[q] - '0');
                if (first <= number && number <= last) out[q + 1] = true;
                if (number == 0) break;
            }
        }
        return out;
    }

    std::string_view path_;
};

} // namespace

// Most pairs of a pattern and a path do not match, and most of these differ at an end.
bool glob_matches(std::string_view glob, std::string_view path) {
    if (!is_glob(glob)) return glob == path;
    if (!path.starts_with(glob.substr(0, glob.find_first_of("*?{")))) return false;
    return path.ends_with(glob.substr(glob.find_last_of("*?{}") + 1)) && Matcher(path).matches(glob);
}

bool is_glob(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return c == '*' || c == '?' || c == '{'; });
}

} // namespace shard
