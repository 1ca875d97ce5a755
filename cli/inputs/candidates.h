// Names that a model or a plan has, for who completes them in a shell. Files that are not there, or are wrong, have none.
#pragma once

#include "cli/command/command.h"

#include <string>
#include <vector>

namespace shard {

// `words` are those typed where a model and a layout, or a plan, are asked for.
std::vector<Candidate> tensor_candidates(const std::vector<std::string>& words, const Arguments& typed, Env& env);
std::vector<Candidate> output_candidates(const std::vector<std::string>& words, const Arguments& typed, Env& env);
// Inputs and parameters, each with a "=" behind it.
std::vector<Candidate> input_candidates(const std::vector<std::string>& words, const Arguments& typed, Env& env);

// Logical axes of the model that is the first of the words, with `end` behind each.
std::vector<Candidate> axis_candidates(const std::vector<std::string>& words, std::string_view end, Env& env);

// Of registries (`shardc list`): all items of one, or of all.
std::vector<Candidate> registry_candidates(std::string_view name);
std::vector<Candidate> all_registry_candidates();

} // namespace shard
