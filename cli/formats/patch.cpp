// What can be mended mechanically, as a patch whose names begin at the repository's root:
// `shardc check --format patch | git apply` there, or `git -C "$(git rev-parse --show-toplevel)" apply` from below.
#include "cli/command/format.h"
#include "cli/diagnostics/fixes.h"
#include "cli/style/unified_diff.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string render(const CheckPayload& payload, const Paint&) {
    std::string out;
    for (const MendedFile& mended : mended_files(payload.subjects)) {
        const std::string path = payload.repository.path(mended.file);
        const std::string_view quote = path.find(' ') == std::string::npos ? "" : "\"";
        const std::string changes = unified_diff("", mended.before, mended.after);
        out += fmt::format("--- {0}a/{1}{0}\n+++ {0}b/{1}{0}\n{2}", quote, path, changes.substr(changes.find("@@")));
    }
    return out;
}

} // namespace

const FormatDef& format_patch() {
    static const FormatDef def = {
        .name = "patch", .doc = "what can be mended mechanically, for git apply or patch -p1", .check = render};
    return def;
}

} // namespace shard
