#include "cli/inputs/output.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/terminal/exit_code.h"
#include "plans/disk/output_path.h"
#include "plans/disk/read_inputs.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <unistd.h>

namespace shard {

OptionDef format_option(const std::vector<const FormatDef*>& formats) {
    std::vector<std::string_view> names;
    for (const FormatDef* format : formats) names.push_back(format->name);
    const std::string_view fallback = names.front();
    return {.name = "--format",
            .value = "FORMAT",
            .doc = "how to print",
            .choices = std::move(names),
            .fallback = fallback};
}

OptionDef formats_option(const std::vector<const FormatDef*>& formats) {
    OptionDef option = format_option(formats);
    option.value = "FORMAT[=FILE]";
    option.doc = "how to print, or what to write into a file; may be given again";
    option.many = true;
    option.file = FileUse::written;
    return option;
}

const FormatDef& chosen_format(const Arguments& arguments) { return *find_format(arguments.string("--format")); }

OptionDef output_option(std::string_view short_name) {
    return {.name = "--output",
            .value = "FILE",
            .doc = "write there instead of to stdout; the file appears whole or not at all",
            .short_name = short_name,
            .file = FileUse::written,
            .dash = true};
}

OptionDef model_option() {
    return {.name = "MODEL",
            .doc = "the model file, or - for stdin",
            .required = true,
            .file = FileUse::read,
            .dash = true};
}

OptionDef mode_option() {
    return {.name = "--mode",
            .value = "MODE",
            .doc = "what to plan: the forward pass, or one train step",
            .choices = {"forward", "train"},
            .fallback = "forward"};
}

Paint payload_paint(const Env& env, const Arguments& arguments) {
    const bool to_file = arguments.has("--output") && arguments.string("--output") != "-";
    return {env.out_color && !to_file, to_file ? no_terminal_width : env.width};
}

namespace {

bool refuse_input(Env& env, const std::string& message) {
    Diagnostics diagnostics;
    diagnostics.error("E0707", {}, message);
    print_diagnostics(env, Sources(), diagnostics.all());
    return false;
}

} // namespace

bool write_file(Env& env, const std::string& path, std::string_view text) {
    if (is_input(path))
        return refuse_input(env, fmt::format("'{}' was read as an input, and would be written over", path));
    std::string error;
    if (env.files.write(path, text, error)) return true;
    Sources sources;
    Diagnostics diagnostics;
    diagnostics.error("E0703", {}, fmt::format("cannot write '{}': {}", path, error))
        .help("the file was left as it was");
    print_diagnostics(env, sources, diagnostics.all());
    return false;
}

int write_payload(Env& env, const Arguments& arguments, std::string_view text, int code) {
    if (!arguments.has("--output") || arguments.string("--output") == "-") {
        if (is_input(STDOUT_FILENO)) {
            refuse_input(env, "stdout is a file that was read as an input, and would be written over");
            return exit_usage;
        }
        env.out << text;
        return code;
    }
    return write_file(env, arguments.string("--output"), text) ? code : static_cast<int>(exit_usage);
}

std::optional<std::vector<Rendering>> wanted_formats(Env& env, const Arguments& arguments,
                                                     const std::vector<const FormatDef*>& formats) {
    std::vector<Rendering> wanted;
    const FormatDef* printed = nullptr;
    Diagnostics mistakes;
    for (const std::string& value : arguments.strings("--format")) {
        const size_t equals = std::min(value.find('='), value.size());
        const FormatDef* format = find_format(value.substr(0, equals));
        if (equals != value.size()) {
            if (equals + 1 == value.size())
                mistakes.error("E0701", {}, fmt::format("--format {} names no file", value))
                    .help(fmt::format("write --format {}FILE, or --format {} for stdout", value,
                                      value.substr(0, equals)));
            wanted.push_back({format, value.substr(equals + 1)});
        } else if (printed == nullptr) {
            printed = format;
        } else {
            mistakes.error("E0701", {}, fmt::format("two formats for stdout: {} and {}", printed->name, format->name))
                .help(fmt::format("give one of them a file: --format {}=FILE", format->name));
        }
    }
    print_diagnostics(env, Sources(), mistakes.all());
    if (mistakes.has_error()) return std::nullopt;
    wanted.push_back({printed != nullptr ? printed : formats.front()});
    return wanted;
}

int write_renderings(Env& env, const Arguments& arguments, const std::vector<Rendering>& wanted,
                     const std::function<std::string(const FormatDef&, const Paint&)>& render, int code) {
    for (const Rendering& rendering : wanted) {
        if (rendering.path.empty())
            code = write_payload(env, arguments, render(*rendering.format, payload_paint(env, arguments)), code);
        else if (!write_file(env, rendering.path, render(*rendering.format, Paint{})))
            code = exit_usage;
    }
    return code;
}

} // namespace shard
