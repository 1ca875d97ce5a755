#include "cli/init/new_files.h"

#include "plans/base/printable.h"
#include "plans/disk/disk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

namespace shard {

namespace {

bool is_there(Env& env, const std::string& path) {
    const size_t slash = path.rfind('/');
    const std::vector<std::string> names = env.files.list(folder_of(path));
    return std::find(names.begin(), names.end(), path.substr(slash == std::string::npos ? 0 : slash + 1)) !=
           names.end();
}

} // namespace

std::string path_in(const std::string& folder, const std::string& name) {
    if (folder.empty() || folder == ".") return name;
    return folder.ends_with('/') ? folder + name : fmt::format("{}/{}", folder, name);
}

bool write_together(Env& env, const std::vector<StartingFile>& files, Diagnostics& diagnostics) {
    std::string problem;
    const auto fail = [&](const StartingFile& file) -> DiagnosticBuilder {
        return diagnostics.error("E0703", {}, fmt::format("cannot write '{}': {}", file.path, problem));
    };
    for (const StartingFile& file : files) {
        if (env.files.make_folders(folder_of(file.path), problem) &&
            env.files.writable(file.path, OutputUse::replace, problem))
            continue;
        fail(file).note("nothing was written");
        return false;
    }
    for (size_t n = 0; n < files.size(); ++n) {
        if (env.files.write(files[n].path, files[n].text, problem)) continue;
        DiagnosticBuilder said = fail(files[n]);
        if (n > 0) said.note(fmt::format("{} of {} files were written before", n, files.size()));
        return false;
    }
    return true;
}

bool write_new_files(Env& env, const std::vector<StartingFile>& files, bool replace, Diagnostics& diagnostics) {
    std::vector<std::string> there;
    for (const StartingFile& file : files)
        if (!replace && is_there(env, file.path)) there.push_back(file.path);
    if (!there.empty()) {
        diagnostics
            .error("E0714", {},
                   fmt::format("{} {} already", fmt::join(there, ", "), there.size() == 1 ? "is there" : "are there"))
            .note("nothing was written")
            .help("--force writes over what is there; --output DIR writes into another folder");
        return false;
    }
    if (!write_together(env, files, diagnostics)) return false;
    for (const StartingFile& file : files) env.out << "wrote " << printable(file.path) << '\n';
    return true;
}

} // namespace shard
