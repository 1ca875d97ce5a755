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

MeantPaths::MeantPaths(std::vector<std::string> paths, const std::vector<bool>& bound_again)
    : paths_(std::move(paths)), last_(paths_.size()) {
    for (size_t p = 0; p < paths_.size(); ++p) {
        if (paths_[p].empty()) continue;
        by_path_[paths_[p]].push_back(p);
        if (bound_again[p]) continue;
        last_[p] = without_binding(paths_[p]);
        by_last_[last_[p]].push_back(p);
    }
}

std::vector<size_t> MeantPaths::meant_by(std::string_view glob) const {
    const bool with_binding = glob.find('#') != std::string_view::npos;
    if (!is_glob(glob)) {
        const Places& places = with_binding ? by_path_ : by_last_;
        const Places::const_iterator found = places.find(glob);
        return found == places.end() ? std::vector<size_t>() : found->second;
    }
    const std::vector<std::string>& names = with_binding ? paths_ : last_;
    std::vector<size_t> meant;
    for (size_t p = 0; p < names.size(); ++p)
        if (!names[p].empty() && glob_matches(glob, names[p])) meant.push_back(p);
    return meant;
}

} // namespace shard
