// Models that are named on the command line: YAML as it is, and programs of StableHLO as the model that `import` makes
// of them.
#pragma once

#include "cli/terminal/env.h"
#include "importer/program/import_program.h"
#include "plans/diagnostics/diagnostic.h"

#include <string>
#include <vector>

namespace shard {

// A text that is no program, by its name or its first words, is taken as it is. The model of a program is called as its
// file, with .yaml behind, and is what `import` prints, but that arrays and ops for which the traced program has no line
// say theirs in the file. Programs come first in `sources`, so that places in them are right.
std::optional<int> load_model(Env& env, Sources& sources, const std::string& path, Diagnostics& diagnostics);

// What is said of the model of a program, at the op or the argument of the program that its line is for; of lines that
// import adds, at the program's function. Nobody has the model in a file. Of other models nothing changes.
void say_of_program(const Sources& sources, int model, Diagnostics& diagnostics);

// Of a warning: that something of a program is not in its model. Commands that tell nothing else of the model say it.
bool is_of_import(const Diagnostic& diagnostic);

// The model and layout of a program, checked: the planner takes the model and comes to the types that the program says.
// Where it does not, the errors are E0801, or those of the model, at the op that it is about. Parameters are what one of
// the patterns matches: their whole path, or its first part (params of params.w1). Of no patterns: params, also of a
// state (state.params.w1).
struct ProgramOptions {
    std::vector<std::string> params = {};
    ImportAs as = ImportAs::unsaid;
    std::string optimizer = {}; // as models write it; empty: the usual one
    std::vector<GivenAxes> axes = {};
    bool says_lines = false; // of the file, where the traced program has none
};
std::optional<ImportedProgram> checked_program(const Sources& sources, int file, const ProgramOptions& options,
                                               Diagnostics& diagnostics);

} // namespace shard
