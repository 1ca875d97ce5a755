#include "cli/diagnostics/diagnostics.h"

#include "cli/diagnostics/subjects_text.h"
#include "cli/terminal/exit_code.h"
#include "planner/graph/op_names.h"
#include "plans/base/printable.h"
#include "plans/diagnostics/suggestion.h"
#include "plans/disk/file.h"
#include "plans/disk/read_inputs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <istream>
#include <ostream>
#include <unistd.h>

namespace shard {

std::string diagnostics_text(const Sources& sources, std::span<const Diagnostic> diagnostics, bool color) {
    Subject subject{{}, {}, &sources, {diagnostics.begin(), diagnostics.end()}};
    return subjects_text(std::span<const Subject>(&subject, 1), Paint{color});
}

void print_diagnostics(Env& env, const Sources& sources, std::span<const Diagnostic> diagnostics) {
    const Subject subject{{}, {}, &sources, {diagnostics.begin(), diagnostics.end()}};
    env.err << subjects_text(std::span<const Subject>(&subject, 1), Paint{env.err_color, env.width});
}

void say(Env& env, std::string_view line) { env.err << printable(line) + "\n"; }

int refuse(Env& env, std::string message, std::string help) {
    Diagnostics diagnostics;
    diagnostics.error("E0701", {}, std::move(message)).help(std::move(help));
    print_diagnostics(env, Sources(), diagnostics.all());
    return exit_usage;
}

int exit_code(const Diagnostics& diagnostics) {
    Subject subject{{}, {}, nullptr, diagnostics.all()};
    return exit_code(std::span<const Subject>(&subject, 1));
}

int unknown_name(Env& env, std::string_view kind, std::string_view name, const std::vector<std::string_view>& names) {
    constexpr size_t most_named = 16; // that anybody reads
    std::string others = names.empty()               ? std::string("there is none")
                         : names.size() > most_named ? fmt::format("there are {}, none of a name like it", names.size())
                                                     : fmt::format("there are {}", fmt::join(names, ", "));
    Sources sources;
    Diagnostics diagnostics;
    // The last part of a path: "o" for "block.0.o".
    const auto is_whole = [&](std::string_view path) { return path.ends_with("." + std::string(name)); };
    const std::vector<std::string_view>::const_iterator whole =
        name.empty() ? names.end() : std::find_if(names.begin(), names.end(), is_whole);
    // What another array language calls so.
    const auto is_called_so = [&](std::string_view candidate) {
        return std::any_of(foreign_op_names().begin(), foreign_op_names().end(),
                           [&](const auto& pair) { return pair.first == name && pair.second == candidate; });
    };
    const std::vector<std::string_view>::const_iterator here = std::find_if(names.begin(), names.end(), is_called_so);
    diagnostics.error("E0706", {}, fmt::format("there is no {} '{}'", kind, name))
        .help(whole != names.end()  ? fmt::format("did you mean '{}'?", *whole)
              : here != names.end() ? fmt::format("it is called '{}' here", *here)
                                    : did_you_mean(name, names, others));
    print_diagnostics(env, sources, diagnostics.all());
    return exit_usage;
}

namespace {

std::optional<std::string> read_stream(std::istream& in, std::string& error) {
    std::string text;
    errno = 0;
    char block[1 << 16];
    while (in.read(block, sizeof block), in.gcount() > 0) {
        text.append(block, in.gcount());
        if (text.size() <= text_file_limit) continue;
        error = too_large(text_file_limit);
        return std::nullopt;
    }
    if (in.bad()) {
        error = std::strerror(errno != 0 ? errno : EIO);
        return std::nullopt;
    }
    return text;
}

} // namespace

std::optional<int> load_source(Env& env, Sources& sources, const std::string& path, Diagnostics& diagnostics) {
    std::string error;
    if (path == "-") note_input(STDIN_FILENO);
    std::optional<std::string> text = path == "-" ? read_stream(env.in, error) : env.files.read(path, error);
    if (!text && path == "-") {
        diagnostics.error("E0702", {}, fmt::format("cannot read stdin: {}", error))
            .help("pipe a file in, or name one instead of -");
        return std::nullopt;
    }
    if (!text) {
        diagnostics.error("E0702", {}, fmt::format("cannot read '{}': {}", path, error))
            .help(error == "is a directory"             ? "name a file in it"
                  : error == too_large(text_file_limit) ? "is it a model, a layout, a plan or a policy?"
                                                        : "check the path and its permissions; - reads stdin");
        return std::nullopt;
    }
    return sources.add(path == "-" ? "<stdin>" : path, std::move(*text));
}

} // namespace shard
