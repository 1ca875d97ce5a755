#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/output.h"
#include "cli/style/json_key_order.h"
#include "cli/style/unified_diff.h"
#include "cli/style/yaml_style.h"
#include "cli/terminal/exit_code.h"
#include "importer/mlir/mlir_module.h"
#include "planner/text/yaml.h"
#include "plans/base/base.h"
#include "plans/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// What is laid out that nobody meant is a file of another program: `shardc fmt *.yaml` beside a compose.yaml.
bool is_foreign(const Sources& sources, int file) {
    Diagnostics unsaid;
    const YamlDocument root = parse_yaml(sources, file, unsaid);
    if (!root || root->is_null()) return false; // its mistakes are said, or it is empty
    std::vector<std::string_view> keys;
    if (root->map() != nullptr)
        for (const YamlEntry& entry : *root->map()) keys.push_back(entry.key);
    return !(root->map() != nullptr && keys.empty()) && !has_known_key(keys);
}

// The text of a file as it should be; nullopt after its mistakes were printed.
std::optional<std::string> styled(Env& env, Sources& sources, const std::string& path) {
    Diagnostics diagnostics;
    std::optional<std::string> text;
    if (const std::optional<int> file = load_source(env, sources, path, diagnostics)) {
        const bool is_plan = looks_like_plan(sources.text(*file));
        if (is_plan || looks_like_mlir(sources.text(*file)))
            diagnostics
                .error("E0709", {},
                       fmt::format("'{}' is {}, and fmt lays out YAML", sources.name(*file),
                                   is_plan ? "a plan" : "a program"))
                .help("name models, layouts, policies and shardc.yaml");
        else if (is_foreign(sources, *file))
            diagnostics
                .error("E0709", {*file, 1, 1, 1},
                       fmt::format("'{}' has no key of a model, a layout, a policy, shardc.yaml or a hardware profile",
                                   sources.name(*file)))
                .note("it was left as it is")
                .help("name files of shardc: shardc fmt model.yaml layouts/*.yaml");
        else
            text = styled_yaml(sources, *file, diagnostics);
    }
    print_diagnostics(env, sources, diagnostics.all());
    return text;
}

// A file that fmt makes a mistake with stays as it is, and the others are laid out all the same.
std::optional<std::string> styled_or_left(Env& env, Sources& sources, const std::string& path, int& code) {
    try {
        if (std::optional<std::string> text = styled(env, sources, path)) return text;
        code = std::max<int>(code, exit_usage);
    } catch (const InternalError& error) {
        say(env, fmt::format("internal error: {}: {}", path, error.what()));
        say(env, "This is a bug in shardc; the file was left as it is. Please report it with the file.");
        code = exit_internal;
    }
    return std::nullopt;
}

// To stdout, of which no character may act on a terminal.
bool passes_unchanged(std::string_view text) {
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (end < text.size() && line.ends_with('\r')) line.remove_suffix(1);
        if (printable(line) != line) return false;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
}

bool replace(Env& env, const std::string& path, const std::string& text) {
    std::string problem;
    if (env.files.write(path, text, problem, OutputUse::renew)) return true;
    Diagnostics diagnostics;
    diagnostics.error("E0703", {}, fmt::format("cannot write '{}': {}", path, problem))
        .help("the file was left as it was");
    print_diagnostics(env, Sources(), diagnostics.all());
    return false;
}

int run(const Arguments& arguments, Env& env) {
    const std::vector<std::string> paths = arguments.strings("FILE");
    const bool check = arguments.flag("--check"), diff = arguments.flag("--diff");
    if (paths.size() > 1 && std::find(paths.begin(), paths.end(), "-") != paths.end())
        return refuse(env, "stdin is printed, files are written: - stands alone",
                      "leave it out, or give it a command of its own: shardc fmt - < FILE");
    int code = exit_clean;
    std::string out;
    for (const std::string& path : paths) {
        Sources sources;
        const std::optional<std::string> text = styled_or_left(env, sources, path, code);
        if (!text) continue;
        const bool differs = *text != sources.text(0), filters = path == "-" && !check && !diff;
        if (filters && !passes_unchanged(*text))
            return refuse(env, "stdin holds characters that a terminal would obey, which stdout shows escaped",
                          "give the file's name instead of -: it is written as it is");
        if (filters) out += *text;
        if (!differs) continue;
        if (check) code = std::max<int>(code, exit_findings);
        if (diff)
            out += unified_diff(sources.name(0), sources.text(0), *text);
        else if (check)
            out += printable(sources.name(0)) + "\n";
        else if (!filters && replace(env, path, *text))
            out += printable(path) + "\n";
        else if (!filters)
            code = std::max<int>(code, exit_usage);
    }
    return write_payload(env, arguments, out, code);
}

} // namespace

const CommandDef& command_fmt() {
    static const CommandDef def = {
        .name = "fmt",
        .usage = "FILE... [--check] [--diff]",
        .summary = "lay out models, layouts and policies in one style; meaning and comments stay",
        .doc = "Examples:\n"
               "  shardc fmt model.yaml layouts/*.yaml        writes what is not laid out so, and prints its name\n"
               "  shardc fmt --check model.yaml layouts/*.yaml      for CI: exit code 1 and the names, nothing is "
               "written\n"
               "  shardc fmt --diff model.yaml                what would change, nothing is written\n"
               "  shardc fmt - < model.yaml                   to stdout, for editors",
        .options = {{.name = "FILE",
                     .doc = "models, layouts, policies, shardc.yaml; - for stdin, which is printed",
                     .required = true,
                     .many = true,
                     .file = FileUse::other,
                     .dash = true},
                    {.name = "--check", .doc = "write nothing; exit code 1 if a file is not laid out so"},
                    {.name = "--diff", .doc = "write nothing; print what would change"}},
        .order = 8,
        .no_output = ": it writes into the files themselves; `fmt -` reads stdin and prints",
        .run = run,
    };
    return def;
}

} // namespace shard
