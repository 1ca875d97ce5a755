#include "planner/text/named_file.h"

#include "plans/disk/file.h"

#include <filesystem>

namespace shard {

bool is_file_name(std::string_view name) { return name.ends_with(".yaml") || name.ends_with(".yml"); }

std::string path_beside(std::string_view name, const Span& where, const Sources& sources) {
    std::filesystem::path path(name);
    if (path.is_relative() && where.file >= 0 && where.file < sources.count())
        path = std::filesystem::path(sources.name(where.file)).parent_path() / path;
    return path.lexically_normal().string();
}

int find_source(const Sources& sources, std::string_view path) {
    for (int file = 0; file < sources.count(); ++file)
        if (sources.name(file) == path || std::filesystem::path(sources.name(file)).lexically_normal() == path)
            return file;
    return -1;
}

int load_source(Sources& sources, const std::string& path) {
    if (const int known = find_source(sources, path); known >= 0) return known;
    std::error_code error;
    std::string problem;
    if (!std::filesystem::is_regular_file(path, error)) return -1;
    std::optional<std::string> text = read_file(path, problem, text_file_limit);
    return text ? sources.add(path, std::move(*text)) : -1;
}

std::string source_problem(const std::string& path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (std::filesystem::is_directory(status)) return "is a directory";
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return "is no regular file";
    std::string problem = error ? error.message() : "it is there";
    read_file(path, problem, text_file_limit);
    return problem;
}

} // namespace shard
