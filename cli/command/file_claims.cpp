#include "cli/command/file_claims.h"

#include "plans/disk/read_inputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace shard {

FileClaims::FileClaims(const CommandDef& command, const Arguments& arguments, Env& env, Diagnostics& diagnostics)
    : env_(&env), diagnostics_(&diagnostics) {
    for (const bool written : {false, true}) { // what is read first, since it is what must not be lost
        if (written) claim_streams();
        for (const OptionDef& option : command.options) {
            if (option.file == FileUse::none || written == (option.file == FileUse::read)) continue;
            for (const std::string& value : arguments.strings(option.name)) claim(option, value);
        }
    }
}

void FileClaims::claim(const OptionDef& option, const std::string& value) {
    const bool named = option.value.find('=') != std::string_view::npos;
    const size_t equals = named ? value.find('=') : std::string::npos;
    const bool may_be_none = option.value.find("[=") != std::string_view::npos;
    if (may_be_none && (equals == std::string::npos || equals + 1 == value.size())) return;
    const std::string path = equals == std::string::npos ? value : value.substr(equals + 1);
    if (path == "-" && !option.dash)
        diagnostics_->error("E0701", {}, fmt::format("{} does not go with stdin or stdout, which - means", option.name))
            .help("./- is a file of that name");
    else if (option.file == FileUse::read)
        claim(option.name, path, false);
    else if (option.file == FileUse::folder && equals == std::string::npos)
        write(option.name, path, OutputUse::folder);
    else if (option.file != FileUse::other)
        write(option.name, path, option.file == FileUse::grows ? OutputUse::append : OutputUse::replace);
}

// The files that the shell sends stdout and stderr to.
void FileClaims::claim_streams() {
    for (const auto& [number, name] : {std::pair(STDOUT_FILENO, "stdout"), std::pair(STDERR_FILENO, "stderr")}) {
        const std::optional<FileIdentity> file = identity_of(number);
        if (!file) continue;
        if (is_input(number))
            refuse(fmt::format("{} is a file that was read as an input, and would be written over", name));
        else if (const Claim* other = find(*file, true))
            refuse(fmt::format("{} would write over '{}', which {} reads", name, other->path, other->option));
        claims_.push_back({name, name, *file, true, true});
    }
}

void FileClaims::write(std::string_view option, const std::string& path, OutputUse use) {
    if (path == "-") return;
    std::string problem;
    if (use != OutputUse::folder && !claim(option, path, true)) return;
    if (is_input(path))
        refuse(fmt::format("{} would write over '{}', which was read as an input", option, path));
    else if (!env_->files.writable(path, use, problem))
        diagnostics_->error("E0703", {}, fmt::format("cannot write '{}': {}", path, problem));
}

bool FileClaims::claim(std::string_view option, const std::string& path, bool written) {
    const bool stream = path == "-" || is_descriptor(path);
    const std::optional<FileIdentity> file = path != "-" ? identity_of(path) : identity_of(STDIN_FILENO);
    if (!file) return true;
    const Claim* other = written ? find(*file, stream) : nullptr;
    if (other != nullptr && other->option == option)
        refuse(fmt::format("{} names '{}' twice", option, path));
    else if (other != nullptr)
        refuse(fmt::format("{} would write over '{}', which {} {}", option, path, other->option,
                           other->written ? "writes too" : "reads"));
    claims_.push_back({std::string(option), path, *file, written, stream});
    return other == nullptr;
}

// Streams that go to one file do not write over each other.
const FileClaims::Claim* FileClaims::find(const FileIdentity& file, bool stream) const {
    for (const Claim& claim : claims_)
        if (claim.file == file && !(claim.written && claim.stream && stream)) return &claim;
    return nullptr;
}

void FileClaims::refuse(const std::string& message) { diagnostics_->error("E0707", {}, message); }

} // namespace shard
