// Printing diagnostics to stderr, as every command does.
#pragma once

#include "cli/terminal/env.h"
#include "cli/terminal/exit_code.h"
#include "plans/diagnostics/diagnostic.h"

#include <span>
#include <string>

namespace shard {

// For people, as the text format shows them.
std::string diagnostics_text(const Sources& sources, std::span<const Diagnostic> diagnostics, bool color);

void print_diagnostics(Env& env, const Sources& sources, std::span<const Diagnostic> diagnostics);

// E0701: what was typed does not go together. Returns exit code 2.
int refuse(Env& env, std::string message, std::string help);

// A line on stderr that is no diagnostic: what was written where.
void say(Env& env, std::string_view line);

// 2 if an error is there, else 1 if a finding is, else 0.
int exit_code(const Diagnostics& diagnostics);

// Reports E0706: there is no `kind` of that name, what is near it, and what there is. Returns exit code 2.
int unknown_name(Env& env, std::string_view kind, std::string_view name, const std::vector<std::string_view>& names);

// Reads a file (or stdin for "-") into sources; E0702 and nullopt if it cannot be read.
std::optional<int> load_source(Env& env, Sources& sources, const std::string& path, Diagnostics& diagnostics);

} // namespace shard
