#include "importer/program/program_paths.h"

namespace shard {

std::string path_of(std::string_view text) {
    std::string path;
    for (const char c : text) {
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (fits)
            path += c;
        else if (!path.empty() && path.back() != '.')
            path += '.';
    }
    while (path.ends_with('.')) path.pop_back();
    return path;
}

std::string noted_result(const MlirFunction& main, size_t i) {
    if (i >= main.result_attributes.size() || main.result_attributes[i].parts.empty()) return {};
    const MlirAttribute* const noted = find_attribute(main.result_attributes[i].parts[0].items, {"jax.result_info"});
    return noted == nullptr ? std::string() : noted->text;
}

} // namespace shard
