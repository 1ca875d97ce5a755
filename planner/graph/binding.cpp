#include "planner/graph/binding.h"

#include "planner/text/glob.h"

#include <charconv>
#include <map>

namespace shard {

namespace {

// "a" is the first binding, "a#3" the third.
i64 binding_of(std::string_view path) {
    const size_t hash = path.find('#');
    i64 number = 1;
    if (hash != std::string_view::npos) std::from_chars(path.data() + hash + 1, path.data() + path.size(), number);
    return number;
}

} // namespace

std::string without_binding(std::string_view path) {
    std::string result;
    bool number = false;
    for (char c : path) {
        number = c == '#' || (number && c != '.');
        if (!number) result += c;
    }
    return result;
}

std::vector<bool> bound_again(const std::vector<std::string>& paths) {
    std::vector<bool> again(paths.size());
    std::map<std::string, size_t, std::less<>> last; // by name without binding
    for (size_t p = 0; p < paths.size(); ++p) {
        if (paths[p].empty()) continue;
        const auto [other, added] = last.emplace(without_binding(paths[p]), p);
        if (added) continue;
        const bool newer = binding_of(paths[p]) > binding_of(paths[other->second]);
        again[newer ? other->second : p] = true;
        if (newer) other->second = p;
    }
    return again;
}

bool means(std::string_view glob, const std::string& path, bool is_bound_again) {
    if (path.empty()) return false;
    if (glob.find('#') != std::string_view::npos) return glob_matches(glob, path);
    if (path.find('#') == std::string::npos) return !is_bound_again && glob_matches(glob, path);
    return !is_bound_again && glob_matches(glob, without_binding(path));
}

} // namespace shard
