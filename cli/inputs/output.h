// The payload of a command: stdout, or the file of --output, which appears whole or not at all.
#pragma once

#include "cli/command/command.h"
#include "cli/command/format.h"
#include "cli/terminal/paint.h"

namespace shard {

// Options that commands share. `formats` are the values of --format, the first is the default; --mode is what is
// planned of a model.
OptionDef format_option(const std::vector<const FormatDef*>& formats);
const FormatDef& chosen_format(const Arguments& arguments);
OptionDef output_option();
OptionDef model_option(); // MODEL alone, where no plan can stand for it
OptionDef mode_option();

// What the payload is written for: the terminal, or a file.
Paint payload_paint(const Env& env, const Arguments& arguments);

// False after reporting E0703.
bool write_file(Env& env, const std::string& path, std::string_view text);
// `code`, or 2 if --output could not be written.
int write_payload(Env& env, const Arguments& arguments, std::string_view text, int code);

} // namespace shard
