// The payload of a command: stdout, or the file of --output, which appears whole or not at all.
#pragma once

#include "cli/command/command.h"
#include "cli/command/format.h"
#include "cli/terminal/paint.h"

#include <functional>
#include <optional>

namespace shard {

// Options that commands share. `formats` are the values of --format, the first is the default; --mode is what is
// planned of a model.
OptionDef format_option(const std::vector<const FormatDef*>& formats);
const FormatDef& chosen_format(const Arguments& arguments);
// Given more than once: FORMAT for stdout, FORMAT=FILE for a file.
OptionDef formats_option(const std::vector<const FormatDef*>& formats);
// Its short name is -o, unless the command has another.
OptionDef output_option(std::string_view short_name = "-o");
OptionDef model_option(); // MODEL alone, where no plan can stand for it
OptionDef mode_option();

// What the payload is written for: the terminal, or a file.
Paint payload_paint(const Env& env, const Arguments& arguments);

// False after reporting E0703.
bool write_file(Env& env, const std::string& path, std::string_view text);
// `code`, or 2 if --output could not be written.
int write_payload(Env& env, const Arguments& arguments, std::string_view text, int code);

// What formats_option() asks for. One of them is for --output, or stdout, and has no path: the usual one if none is
// named, so that a log says what happened.
struct Rendering {
    const FormatDef* format = nullptr;
    std::string path = {};
};
// nullopt after E0701.
std::optional<std::vector<Rendering>> wanted_formats(Env& env, const Arguments& arguments,
                                                     const std::vector<const FormatDef*>& formats);
// Files first. `code`, or 2 if one could not be written.
int write_renderings(Env& env, const Arguments& arguments, const std::vector<Rendering>& wanted,
                     const std::function<std::string(const FormatDef&, const Paint&)>& render, int code);

} // namespace shard
