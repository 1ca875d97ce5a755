// --set: what a model or a layout says otherwise than its file. The value is put into the text itself before anything
// reads it, so that places, and the texts that a plan holds, are those of what was planned.
//
//     --set batch=128          an argument or an axis of the model
//     --set mesh.data=16       a value by its path, in the model or in the layout
//     --set fsdp.min_size=64   a key of such a file (`shardc list keys`), also where it is not written yet
#pragma once

#include "cli/command/command.h"
#include "plans/diagnostics/diagnostic.h"

#include <optional>

namespace shard {

OptionDef set_option();

// Puts the values into the texts of both files. False after E0701 or E0710. A text that is no YAML stays as it is:
// whoever reads it says so.
bool apply_settings(Sources& sources, int model, int layout, const std::vector<std::string>& settings,
                    Diagnostics& diagnostics);

// The text of what would be set. nullopt if there is no such value, or it is a list or a map.
std::optional<std::string> written_value(const Sources& sources, int model, int layout, const std::string& path);

// Of settings of which some list values, a=1,2: every choice of one value for each, the last setting's value changing
// fastest. nullopt after E0701 if there are too many.
std::optional<std::vector<std::vector<std::string>>> all_choices(const std::vector<std::string>& settings,
                                                                 Diagnostics& diagnostics);

} // namespace shard
