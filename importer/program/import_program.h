// A program of StableHLO as a model file, and its shardings as a layout file.
#pragma once

#include "importer/model/model_text.h"

#include <functional>
#include <optional>
#include <string>

namespace shard {

// What a program is taken for: the loss of a model, which shardc makes train steps of; or a step as it is, whose donated
// arguments are updated. Unsaid, it is a step if it donates any, and a loss if its first result is a number and it has
// parameters.
enum class ImportAs { unsaid, loss, step };

struct ImportRequest {
    // Which arguments are parameters, by what the program calls them: "params.w1", "x", or "arg0" without names.
    std::function<bool(const std::string& path)> is_param;
    ImportAs as = ImportAs::unsaid;
    std::string optimizer = "adamw: {learning_rate: 0.001}"; // of a loss, as models write it
    std::string folder = {};                                 // lines of files in it are named from there
    std::vector<GivenAxes> axes = {};
    std::string program = {}; // what the model calls the program's file, of which it names lines; empty: it does not
};

struct ImportedProgram {
    std::string model;       // YAML
    std::string layout;      // YAML; a mesh of one device where the program has none
    Span place;              // of the function that it is
    bool is_on_mesh = false; // has manual regions, over axes that the layout's mesh has
    std::vector<ModelValue> values;
    ImportAs is = ImportAs::unsaid; // what it was taken for
    // Of a program whose first result is a number, but that has no parameters: a pattern of what may be some, "p.**".
    std::string likely_params;
    std::vector<std::pair<std::string, std::string>> names; // of its arguments: their paths, what the model calls them
    std::vector<size_t> results;                            // by output of the model, the program's result that it is
    // Of a loss whose program makes gradients too: what the model calls a parameter, and the result that is its gradient.
    std::vector<std::pair<std::string, size_t>> gradients = {};
};

// Errors are E0801 to E0806, E0809 and E0811.
std::optional<ImportedProgram> import_program(const Sources& sources, int file, const ImportRequest& request,
                                              Diagnostics& diagnostics);

} // namespace shard
