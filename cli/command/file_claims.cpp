#include "cli/command/file_claims.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

FileClaims::FileClaims(const CommandDef& command, const Arguments& arguments, Env& env, Diagnostics& diagnostics)
    : env_(&env), diagnostics_(&diagnostics) {
    for (const bool written : {false, true}) // what is read first, since it is what must not be lost
        for (const OptionDef& option : command.options) {
            if (option.file == FileUse::none || written == (option.file == FileUse::read)) continue;
            for (const std::string& value : arguments.strings(option.name)) {
                const bool named = option.value.find('=') != std::string_view::npos;
                const size_t equals = named ? value.find('=') : std::string::npos;
                const std::string path = equals == std::string::npos ? value : value.substr(equals + 1);
                if (option.file == FileUse::read)
                    claim(option.name, path, false);
                else if (option.file == FileUse::folder && equals == std::string::npos)
                    write(option.name, path, OutputUse::folder);
                else
                    write(option.name, path, option.file == FileUse::grows ? OutputUse::append : OutputUse::replace);
            }
        }
}

void FileClaims::write(std::string_view option, const std::string& path, OutputUse use) {
    if (path == "-") return;
    std::string problem;
    if (!env_->files.writable(path, use, problem))
        diagnostics_->error("E0703", {}, fmt::format("cannot write '{}': {}", path, problem));
    else if (use != OutputUse::folder)
        claim(option, path, true);
}

void FileClaims::claim(std::string_view option, const std::string& path, bool written) {
    const std::optional<FileIdentity> file = path == "-" ? std::nullopt : identity_of(path);
    if (!file) return;
    const std::vector<Claim>::const_iterator other =
        std::find_if(claims_.begin(), claims_.end(), [&](const Claim& claim) { return claim.file == *file; });
    if (other != claims_.end() && written)
        diagnostics_
            ->error("E0707", {},
                    fmt::format("{} would write over '{}', which {} {}", option, path, other->option,
                                other->written ? "writes too" : "reads"))
            .help("give each output a file of its own");
    claims_.push_back({std::string(option), *file, written});
}

} // namespace shard
