#include "importer/mlir/mlir_places.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr int most_steps = 200; // places may refer to each other in a circle

bool is_installed(std::string_view file) {
    return file.find("site-packages/") != std::string_view::npos ||
           file.find("dist-packages/") != std::string_view::npos;
}

// As it would have to be written in a model: what does not fit is of no file that a person has.
bool is_writable(std::string_view file) {
    return !file.empty() && file.size() <= 300 && std::none_of(file.begin(), file.end(), [](unsigned char c) {
        return c < ' ' || c >= 0x7F || c == '"' || c == '\\' || c == '$';
    });
}

} // namespace

std::string own_line(const MlirModule& module, int location, const std::string& folder) {
    // Of callsite(callee at caller) the callee comes first.
    std::vector<int> left = {location};
    for (int step = 0; step < most_steps && !left.empty(); ++step) {
        const int at = left.back();
        left.pop_back();
        if (at < 0) continue;
        const MlirLocation& here = module.locations[at];
        if (here.line > 0 && is_writable(here.file) && !is_installed(here.file)) {
            std::string_view file = here.file;
            if (!folder.empty() && file.size() > folder.size() + 1 && file.starts_with(folder) &&
                file[folder.size()] == '/')
                file.remove_prefix(folder.size() + 1);
            return fmt::format("{}:{}", file, here.line);
        }
        left.insert(left.end(), here.inside.rbegin(), here.inside.rend());
    }
    return {};
}

} // namespace shard
