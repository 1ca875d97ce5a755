#include "planner/text/glob.h"

namespace shard {

// `*` matches any run of characters without dots, `**` any run, `?` one character that is not a dot. Remembering the
// last star of each kind is enough to decide in time proportional to the product of the lengths: an earlier `*` can be
// given up once a later star matched, and a `**` is only returned to when no `*` behind it can grow.
bool glob_matches(std::string_view glob, std::string_view path) {
    struct Star {
        size_t glob = std::string_view::npos; // what follows the star; npos = none
        size_t path = 0;                      // where its run ends
    };
    Star one, any;
    size_t g = 0;
    size_t p = 0;
    for (;;) {
        if (g < glob.size() && glob[g] == '*') {
            const bool both = glob.substr(g).starts_with("**");
            g += both ? 2 : 1;
            (both ? any : one) = {g, p};
            if (both) one = {};
            continue;
        }
        if (g == glob.size() && p == path.size()) return true;
        if (g < glob.size() && p < path.size() && (glob[g] == path[p] || (glob[g] == '?' && path[p] != '.'))) {
            ++g;
            ++p;
            continue;
        }
        if (one.glob != std::string_view::npos && one.path < path.size() && path[one.path] != '.') {
            p = ++one.path;
            g = one.glob;
        } else if (any.glob != std::string_view::npos && any.path < path.size()) {
            p = ++any.path;
            g = any.glob;
            one = {};
        } else {
            return false;
        }
    }
}

} // namespace shard
