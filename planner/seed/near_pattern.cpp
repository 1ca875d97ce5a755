#include "planner/seed/near_pattern.h"

#include "planner/text/glob.h"
#include "plans/diagnostics/diagnostic.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shard {

namespace {

using Parts = std::vector<std::string>;

constexpr size_t most_parts = 32, most_names = 2000;

Parts parts_of(std::string_view text) {
    Parts parts;
    for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
        end = text.find('.', begin);
        parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    }
    return parts;
}

bool matches_any(const std::string& pattern, const std::vector<std::string>& names) {
    if (!is_glob(pattern)) return std::find(names.begin(), names.end(), pattern) != names.end();
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return glob_matches(pattern, name); });
}

// block.*.upp: block.*.up, if there is such a thing.
std::string spelled_otherwise(const Parts& parts, const std::vector<std::string>& names) {
    std::set<std::string> words;
    for (const std::string& name : names)
        for (std::string& part : parts_of(name)) words.insert(std::move(part));
    for (size_t i = 0; i < parts.size(); ++i) {
        if (is_glob(parts[i])) continue;
        // The nearest word may be one that never stands there.
        std::vector<std::string_view> left(words.begin(), words.end());
        for (std::string_view word = nearest(parts[i], left); !word.empty(); word = nearest(parts[i], left)) {
            Parts changed = parts;
            changed[i] = word;
            std::string pattern = fmt::format("{}", fmt::join(changed, "."));
            if (matches_any(pattern, names)) return pattern;
            std::erase(left, word);
        }
    }
    return {};
}

// **.Dense_0.kernel: **.Dense_0_kernel, as `import` calls it.
std::string joined_otherwise(const Parts& parts, const std::vector<std::string>& names) {
    for (size_t begin = 0; begin + 1 < parts.size(); ++begin)
        for (size_t end = begin + 2; end <= parts.size(); ++end) {
            const auto at = [&parts](size_t i) { return parts.begin() + static_cast<std::ptrdiff_t>(i); };
            Parts changed(parts.begin(), at(begin));
            changed.push_back(fmt::format("{}", fmt::join(at(begin), at(end), "_")));
            changed.insert(changed.end(), at(end), parts.end());
            std::string pattern = fmt::format("{}", fmt::join(changed, "."));
            if (matches_any(pattern, names)) return pattern;
        }
    return {};
}

std::string with_dots(std::string text) {
    std::replace(text.begin(), text.end(), '_', '.');
    return text;
}

} // namespace

std::string near_pattern(const std::string& pattern, std::vector<std::string> names, const std::string& otherwise) {
    if (!is_glob(pattern)) {
        const std::string near = did_you_mean(pattern, {names.begin(), names.end()}, {});
        if (!near.empty()) return near;
    }
    names.resize(std::min(names.size(), most_names)); // each is tried with many patterns
    // Paths of a JAX program begin with the name of the argument.
    std::string path = pattern;
    while (path.starts_with("params.")) path.erase(0, 7);
    const Parts parts = parts_of(path);
    if (parts.size() > most_parts || path.find('{') != std::string::npos) return otherwise;
    for (const std::string& found : {path != pattern && matches_any(path, names) ? path : std::string(),
                                     joined_otherwise(parts, names), spelled_otherwise(parts, names)})
        if (!found.empty()) return fmt::format("did you mean '{}'?", found);
    for (const std::string& name : names)
        if (glob_matches(with_dots(path), with_dots(name)))
            return is_glob(path) ? fmt::format("parts are joined otherwise here: '{}'", name)
                                 : fmt::format("did you mean '{}'?", name);
    return otherwise;
}

} // namespace shard
