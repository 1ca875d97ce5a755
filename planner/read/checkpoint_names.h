// `checkpoint_names:` of a model: the file beside it that says what checkpoints from elsewhere call its parameters.
// Planning needs nothing of it; `run --restore` reads it, also out of a plan file, which holds its text.
#pragma once

#include "planner/read/include.h"

namespace shard {

// Puts the file into `sources`, if the model names one that is there. Without `read` it is a file of the disk.
void load_checkpoint_names(Sources& sources, int model_file, const ReadText& read = {});
// Where it is among the sources; -1 if it is not.
int find_checkpoint_names(const Sources& sources, int model_file);
// E0122 if a model names a file that is not among the sources. `model` is the model's file as parsed.
void check_checkpoint_names(const Yaml& model, const Sources& sources, Diagnostics& diagnostics);

} // namespace shard
