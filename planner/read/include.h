// `include:` of a model, modules of other files: a file beside the one that names it, or one in the box
// (planner/library/). A file of modules holds `modules` and may include others.
//
//     include: [blocks.yaml, llama]
#pragma once

#include "planner/text/yaml.h"

#include <functional>
#include <vector>

namespace shard {

// The text at a path; nullopt if there is none.
using ReadText = std::function<std::optional<std::string>(const std::string& path)>;

// Puts the files that a model includes, and those that these include, into `sources`, unless they are there. What cannot
// be had is left out: read_included reports it. Without `read` they are files of the disk.
void load_includes(Sources& sources, int model_file, const ReadText& read = {});

// The files that are included, in the order in which they are met, each once.
std::vector<int> included_files(const Sources& sources, int model_file);

// Whether a source is of the box.
bool is_boxed(std::string_view source_name);

// The modules of these files; E0121 for a file that is not among the sources, and what is wrong with those that are.
// `model` is the model's file as parsed.
std::vector<YamlEntry> read_included(const Yaml& model, const Sources& sources, Diagnostics& diagnostics);

struct LibraryFile {
    std::string name, doc, text;
};
std::vector<LibraryFile> library(); // what is in the box, sorted by name

} // namespace shard
