// `include:` of a model, modules of other files: a file beside the one that names it, or one in the box
// (planner/library/). A file of modules holds `modules` and may include others.
//
//     include: [blocks.yaml, llama]
#pragma once

#include "planner/text/yaml.h"

#include <vector>

namespace shard {

// Puts the files that a model includes, and those that these include, into `sources`. What cannot be had is left out:
// read_included reports it.
void load_includes(Sources& sources, int model_file);

// The files that are included, in the order in which they are met, each once.
std::vector<int> included_files(const Sources& sources, int model_file);

// The modules of these files; E0121 for a file that is not among the sources, and what is wrong with those that are.
// `model` is the model's file as parsed.
std::vector<YamlEntry> read_included(const Yaml& model, const Sources& sources, Diagnostics& diagnostics);

struct LibraryFile {
    std::string name, doc, text;
};
std::vector<LibraryFile> library(); // what is in the box, sorted by name

} // namespace shard
