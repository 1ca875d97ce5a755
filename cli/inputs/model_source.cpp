#include "cli/inputs/model_source.h"

#include "cli/diagnostics/diagnostics.h"
#include "importer/mlir/mlir_module.h"
#include "planner/text/glob.h"

#include <algorithm>

namespace shard {

ImportRequest import_request(const std::vector<std::string>& patterns) {
    const std::vector<std::string> used = patterns.empty() ? std::vector<std::string>{"params"} : patterns;
    return {.is_param = [used](const std::string& path) {
        return std::any_of(used.begin(), used.end(), [&](const std::string& pattern) {
            return glob_matches(pattern, path) || glob_matches(pattern, path.substr(0, path.find('.')));
        });
    }};
}

std::optional<int> load_model(Env& env, Sources& sources, const std::string& path, Diagnostics& diagnostics) {
    const std::optional<int> file = load_source(env, sources, path, diagnostics);
    if (!file || !looks_like_mlir(sources.text(*file))) return file;
    const std::optional<ImportedProgram> program = import_program(sources, *file, import_request({}), diagnostics);
    if (!program) return std::nullopt;
    return sources.add(sources.name(*file) + ".yaml", program->model);
}

} // namespace shard
