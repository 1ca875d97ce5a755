// The payload of a command: stdout, or the file of --output, which appears whole or not at all.
#pragma once

#include "cli/command.h"

namespace shard {

// The two options that every command with a payload has; `formats` are the values of --format, the first is the
// default.
OptionDef format_option(std::vector<std::string_view> formats);
OptionDef output_option();

// False after reporting E0703.
bool write_file(Env& env, const std::string& path, std::string_view text);
// `code`, or 2 if --output could not be written.
int write_payload(Env& env, const Arguments& arguments, std::string_view text, int code);

} // namespace shard
