#include "cli/run/output_files.h"

#include "cli/command/file_claims.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "executor/checkpoint/checkpoint_parts.h"
#include "executor/formats/npy_write.h"
#include "planner/text/glob.h"
#include "plans/diagnostics/suggestion.h"
#include "plans/disk/free_space.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace shard {

namespace {

std::string npy_path(std::string_view folder, std::string_view output) {
    return fmt::format("{}/{}.npy", folder, output);
}

// E0707 for what would be written into a checkpoint of the folder that is saved to: it goes when it is replaced.
void check_outside_checkpoints(const CommandDef& command, const Arguments& arguments, Diagnostics& diagnostics) {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto whole = [&error](const std::string& path) {
        const fs::path found = fs::weakly_canonical(fs::absolute(path, error), error);
        return found.has_filename() ? found : found.parent_path(); // of "ck/"
    };
    const fs::path saved = whole(arguments.string("--save"));
    if (error) return;
    for (const OptionDef& option : command.options) {
        if (option.file != FileUse::written && option.file != FileUse::grows && option.file != FileUse::folder)
            continue;
        for (const std::string& value : arguments.strings(option.name)) {
            const bool named = option.value.find('=') != std::string_view::npos && value.find('=') != std::string::npos;
            const std::string path = named ? value.substr(value.find('=') + 1) : value;
            const bool is_folder = option.file == FileUse::folder && !named;
            const fs::path inside = whole(is_folder ? path + "/file" : path).lexically_relative(saved);
            const bool deeper = !error && std::distance(inside.begin(), inside.end()) > 1;
            if (!deeper || !is_step_name(inside.begin()->native())) continue;
            diagnostics
                .error("E0707", {},
                       fmt::format("{} would write '{}' into {}, a checkpoint that --save replaces", option.name, path,
                                   inside.begin()->native()))
                .help("name a place outside of the steps' folders");
        }
    }
}

void check_room(const Arguments& arguments, const Plan& plan, Diagnostics& diagnostics) {
    std::vector<PlannedFile> files;
    for (const std::string& text : arguments.strings("--output")) {
        const size_t equals = text.find('=');
        for (const PlanOutput& output : plan.outputs) {
            if (equals != std::string::npos && output.name != text.substr(0, equals)) continue;
            const Buffer& buffer = plan.buffers[output.buffer];
            files.push_back({equals == std::string::npos ? npy_path(text, output.name) : text.substr(equals + 1),
                             npy_bytes({buffer.dtype, buffer.real_shape(), {}})});
        }
    }
    std::string path, problem;
    const PlannedFile log = {arguments.has("--log") ? arguments.string("--log") : "", 1};
    std::error_code error;
    if (!log.path.empty() && !std::filesystem::exists(log.path, error) && !have_room({&log, 1}, path, problem))
        diagnostics.error("E0703", {}, fmt::format("cannot write '{}': {}", path, problem));
    if (!have_room(files, path, problem))
        diagnostics.error("E0607", {}, fmt::format("cannot write {}: {}", path, problem))
            .help("make room, or name a place on another disk");
}

} // namespace

void check_output_files(const CommandDef& command, const Arguments& arguments, const Plan& plan, Env& env,
                        Diagnostics& diagnostics) {
    FileClaims claims(command, arguments, env, diagnostics); // again: more has been read
    if (arguments.has("--save")) {
        claims.claim("--save", arguments.string("--save") + "/latest", true);
        check_outside_checkpoints(command, arguments, diagnostics);
    }
    std::vector<std::string_view> names;
    for (const PlanOutput& output : plan.outputs) names.push_back(output.name);
    for (const std::string& text : arguments.strings("--output")) {
        size_t equals = text.find('=');
        std::string_view name = std::string_view(text).substr(0, equals);
        std::error_code error;
        if (equals == std::string::npos && std::filesystem::is_directory(text, error))
            for (std::string_view output : names) claims.write("--output", npy_path(text, output));
        if (equals == std::string::npos || std::find(names.begin(), names.end(), name) != names.end()) continue;
        diagnostics.error("E0706", {}, fmt::format("the model has no output '{}'", name))
            .help(fmt::format("there are {}", fmt::join(names, ", ")));
    }
    if (!diagnostics.has_error()) check_room(arguments, plan, diagnostics);
}

void check_printed(const Arguments& arguments, const Plan& plan, Diagnostics& diagnostics) {
    std::vector<std::string_view> names;
    for (const PlanOutput& output : plan.outputs) names.push_back(output.name);
    for (const std::string& pattern : arguments.strings("--print")) {
        const auto matches = [&](std::string_view name) { return glob_matches(pattern, name); };
        if (std::any_of(names.begin(), names.end(), matches)) continue;
        diagnostics.error("E0706", {}, fmt::format("the model has no output '{}'", pattern))
            .help(did_you_mean(pattern, names, fmt::format("there are {}", fmt::join(names, ", "))));
    }
}

void write_output_files(const Arguments& arguments, const RunResult& result, Env& env, Diagnostics& diagnostics) {
    for (const std::string& text : arguments.strings("--output")) {
        size_t equals = text.find('=');
        if (equals == std::string::npos) {
            std::string problem;
            if (!make_folders(disk(), text, problem)) {
                diagnostics.error("E0703", {}, fmt::format("cannot make the folder '{}': {}", text, problem));
                continue;
            }
            for (const std::pair<const std::string, Tensor>& output : result.outputs) {
                const std::string path = npy_path(text, output.first);
                if (write_npy(path, output.second, diagnostics)) say(env, "wrote " + path);
            }
            continue;
        }
        const std::string path = text.substr(equals + 1);
        if (write_npy(path, result.outputs.at(text.substr(0, equals)), diagnostics)) say(env, "wrote " + path);
    }
}

} // namespace shard
