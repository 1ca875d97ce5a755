// What may stand where somebody stopped typing: what shells ask for completion, all in the same way.
#pragma once

#include "cli/command/command.h"

#include <span>

namespace shard {

struct Completion {
    std::vector<Candidate> candidates; // that begin as the word does
    bool files = false;                // so may names of files, behind the last '='
};

// `words`: those after the program's name, the last one to be completed, perhaps "". What is wrong in the others does
// not matter. Where more than a hundred dotted names fit, each is given up to its next dot.
Completion complete(std::span<const std::string> words, Env& env);

} // namespace shard
