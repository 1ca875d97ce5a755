// A program of StableHLO as a model file, and its shardings as a layout file.
#pragma once

#include "importer/model/draft.h"

#include <functional>
#include <optional>
#include <string>

namespace shard {

struct ImportRequest {
    // Which arguments are parameters, by what the program calls them: "params.w1", "x", or "arg0" without names.
    std::function<bool(const std::string& path)> is_param;
};

struct ImportedProgram {
    std::string model;  // YAML
    std::string layout; // YAML; a mesh of one device where the program has none
    Span place;         // of the function that it is
    std::vector<ModelValue> values;
};

// Errors are E0801 to E0806.
std::optional<ImportedProgram> import_program(const Sources& sources, int file, const ImportRequest& request,
                                              Diagnostics& diagnostics);

} // namespace shard
