#include "planner/graph/binding.h"
#include "planner/text/glob.h"

#include <doctest/doctest.h>

#include <random>

namespace shard {
namespace {

// By definition: with a number any path that matches, without one what is not bound again, by its name.
bool means(std::string_view glob, const std::string& path, bool is_bound_again) {
    if (path.empty()) return false;
    if (glob.find('#') != std::string_view::npos) return glob_matches(glob, path);
    return !is_bound_again && glob_matches(glob, without_binding(path));
}

} // namespace

TEST_CASE("what a pattern means among many paths is what it means of each") {
    const std::vector<std::string> words = {"a", "b", "a#2", "b#3", "a#10"},
                                   parts = {"a", "b", "*", "?", "a#2", "a#*", "{a,b}"};
    std::mt19937 random(5);
    const auto draw = [&random](const std::vector<std::string>& from) { return from[random() % from.size()]; };
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> paths;
        for (int p = 0; p < 20; ++p)
            paths.push_back(p % 7 == 3 ? "" : p % 2 == 0 ? draw(words) : draw(words) + "." + draw(words));
        const std::vector<bool> again = bound_again(paths);
        const MeantPaths all(paths, again);
        for (int g = 0; g < 10; ++g) {
            const std::string glob = g % 2 == 0 ? draw(parts) : draw(parts) + "." + draw(parts);
            CAPTURE(glob);
            std::vector<size_t> meant;
            for (size_t p = 0; p < paths.size(); ++p)
                if (means(glob, paths[p], again[p])) meant.push_back(p);
            CHECK(all.meant_by(glob) == meant);
        }
    }
}

} // namespace shard
