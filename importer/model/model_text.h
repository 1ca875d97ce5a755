// A draft as the text of a model file. Values are given their names here: those of the program for inputs, what they
// would best be called for the rest, each once.
//
// A block is a module and an entry that repeats it. Parameters of its repetitions are then called as the model calls
// them, Block.0.w for Block_0_w: by a dot in place of the lines beside the number.
#pragma once

#include "importer/model/axis_names.h"
#include "importer/model/draft_block.h"

#include <set>

namespace shard {

// What the program says of a value that is in the model.
struct ModelValue {
    std::string name;
    DraftType type;
    Span place;   // in the program
    int line = 0; // of the model
};

struct ModelText {
    std::string text;
    std::vector<ModelValue> values;
};

using DraftUpdates = std::vector<std::pair<DraftId, DraftId>>; // inputs with what they hold next

// Afterwards `draft.name_of` says what inputs, outputs and values outside of blocks are called. With `program`, the name
// of its file, arrays and ops for which the traced program has no line say theirs in it, `at: "loss.mlir:27:9"`. Modules
// all of whose lines are `checkpointed` have `remat: full`.
ModelText model_text(Draft& draft, const std::string& name, const DraftOrder& order,
                     const std::vector<DraftId>& outputs, const DraftUpdates& updates = {}, const AxisNames& axes = {},
                     const std::string& program = {}, const std::set<std::string>& checkpointed = {});

} // namespace shard
