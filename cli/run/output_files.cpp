#include "cli/run/output_files.h"

#include "cli/command/file_claims.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "executor/formats/npy_write.h"
#include "planner/text/glob.h"
#include "plans/diagnostics/suggestion.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace shard {

namespace {

std::string npy_path(std::string_view folder, std::string_view output) {
    return fmt::format("{}/{}.npy", folder, output);
}

} // namespace

void check_output_files(const CommandDef& command, const Arguments& arguments, const Plan& plan, Env& env,
                        Diagnostics& diagnostics) {
    FileClaims claims(command, arguments, env, diagnostics); // again: more has been read
    if (arguments.has("--save")) claims.claim("--save", arguments.string("--save") + "/latest", true);
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
