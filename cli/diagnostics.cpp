#include "cli/diagnostics.h"

#include "cli/format.h"

#include <fmt/format.h>
#include <istream>
#include <iterator>
#include <ostream>

namespace shard {

void print_diagnostics(Env& env, const Sources& sources, std::span<const Diagnostic> diagnostics) {
    env.err << find_format("text")->render({sources, env.err_color, {}}, diagnostics);
}

int exit_code(const Diagnostics& diagnostics) {
    if (diagnostics.has_error()) return exit_usage;
    for (const Diagnostic& diagnostic : diagnostics.all())
        if (diagnostic.finding) return exit_findings;
    return exit_clean;
}

std::optional<int> load_source(Env& env, Sources& sources, const std::string& path, Diagnostics& diagnostics) {
    if (path == "-") return sources.add("<stdin>", std::string(std::istreambuf_iterator<char>(env.in), {}));
    std::string error;
    std::optional<std::string> text = env.files.read(path, error);
    if (!text) {
        diagnostics.error("E0702", {}, fmt::format("cannot read '{}': {}", path, error));
        return std::nullopt;
    }
    return sources.add(path, std::move(*text));
}

} // namespace shard
