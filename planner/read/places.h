// `at: "model.py:214"` of an entry or an array, or "step.mlir:12:30" with a column: the line of the program that the
// model was made of. What is said of its values (reports, findings) is said of that line; mistakes in it are said where
// it is written.
#pragma once

#include "planner/text/yaml.h"

namespace shard {

// Puts the files that places of the model name into `sources`, as names without a text: nothing reads them.
void load_places(Sources& sources, int model_file);
// Those of them that are among the sources.
std::vector<int> files_of_places(const Sources& sources, int model_file);
// E0113 if it is no place. One in a file that is not among the sources is not known().
Span read_place(const Yaml& yaml, const Sources* sources, Diagnostics& diagnostics);

} // namespace shard
