// Documents that are tests. In a Markdown file, a fenced block
//
//     ```yaml model.yaml        is a file of that name, for the commands that follow; so is ```json and ```mlir
//     ```console                holds commands after "$ shardc" and, below each, exactly what they print: stdout, then
//                               stderr, then "[exit N]" if the exit code N is not 0
//     ```graph                  is a graph as text (planner/graph_text), by which a pass is shown alone:
//     ```graph after PASS...    is what these passes, one after the other, make of the last one
//
// Numbers that a `run` computes may differ in their last digits: the kernels of BLAS differ between machines.
// A command whose output ends in a line "..." need only begin like that. Files not in the document are looked up in the
// repository. A plan that a document makes is also run and compared with the one-device plan, unless its block says
// ```console no-run. Checkpoints are folders on the disk: `--save ck` is one of the document's own.
#pragma once

#include "tests/support/memory_files.h"

namespace shard {

struct DocumentFailure {
    int line = 0; // of the command in the document
    std::string command, expected, actual;
};

struct DocumentResult {
    int commands = 0; // commands run
    int proved = 0;   // plans run and compared
    std::vector<DocumentFailure> failures;
    std::string rewritten; // the document with what the commands really print
};

// `folder`: below which the document's checkpoints lie, and nothing else does.
DocumentResult check_document(const std::string& text, const std::string& repository_root,
                              const std::string& folder = {});

} // namespace shard
