#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/output.h"
#include "cli/rules/foreign_layout.h"
#include "cli/rules/maxtext_rules.h"
#include "cli/rules/t5x_rules.h"
#include "cli/rules/torchtitan_rules.h"
#include "planner/read/layout_reader.h"
#include "plans/base/parse_number.h"

#include <fmt/format.h>

namespace shard {

namespace {

constexpr i64 most_devices = i64{1} << 20;

struct Tool {
    std::string_view name;
    std::optional<ForeignRules> (*read)(const Sources&, int, Diagnostics&);
};
constexpr Tool tools[] = {{"maxtext", read_maxtext}, {"t5x", read_t5x}, {"torchtitan", read_torchtitan}};

// E0701 unless it is a whole number from 1; `unsaid` if it is not given.
i64 read_count(const Arguments& arguments, std::string_view option, i64 unsaid, Diagnostics& diagnostics) {
    if (!arguments.has(option)) return unsaid;
    const std::optional<i64> value = parse_number<i64>(arguments.string(option));
    if (value && *value >= 1 && *value <= most_devices) return *value;
    diagnostics.error(
        "E0701", {},
        fmt::format("{} takes a whole number from 1 to {}, not '{}'", option, most_devices, arguments.string(option)));
    return unsaid;
}

// Only torchtitan's are.
bool is_toml(const std::string& path) { return path.ends_with(".toml"); }

// Names that a layout does not take, axes that are there twice: who reads it would say so of a file that nobody wrote.
bool is_layout(const std::string& text, int file, Diagnostics& diagnostics) {
    Sources written;
    Diagnostics problems;
    read_layout(written, written.add("layout.yaml", text), problems);
    if (!problems.has_error()) return true;
    for (const Diagnostic& problem : problems.all())
        if (problem.severity == Severity::error)
            diagnostics
                .error("E0810", {file, 1, 1, 1}, fmt::format("what these rules say is no layout: {}", problem.message))
                .help("rename it here, and in what uses it");
    return false;
}

int run(const Arguments& arguments, Env& env) {
    Sources sources;
    Diagnostics diagnostics;
    const ForeignDevices devices = {read_count(arguments, "--devices", 0, diagnostics),
                                    read_count(arguments, "--slices", 1, diagnostics)};
    const std::vector<std::string> settings = arguments.strings("--set");
    if (!settings.empty() && arguments.string("TOOL") != "maxtext")
        diagnostics.error("E0701", {}, "--set is for degrees of parallelism of MaxText").help("leave it out");
    const std::optional<int> file = load_source(env, sources, arguments.string("FILE"), diagnostics);
    if (file && is_toml(arguments.string("FILE")) && arguments.string("TOOL") != "torchtitan")
        diagnostics
            .error("E0810", {*file, 1, 1, 1},
                   fmt::format("this is TOML, which {} does not read", arguments.string("TOOL")))
            .help(fmt::format("a config of torchtitan: shardc rules torchtitan {}", arguments.string("FILE")));
    std::string text;
    for (const Tool& tool : tools) {
        if (tool.name != arguments.string("TOOL") || !file || diagnostics.has_error()) continue;
        std::optional<ForeignRules> rules = tool.read(sources, *file, diagnostics);
        if (!rules || !set_degrees(*rules, settings, diagnostics) ||
            !fill_axes(*rules, devices, {*file, 1, 1, 1}, diagnostics))
            continue;
        const std::string layout = layout_of(*rules, tool.name);
        if (is_layout(layout, *file, diagnostics)) text = layout;
    }
    print_diagnostics(env, sources, diagnostics.all());
    return text.empty() ? exit_code(diagnostics) : write_payload(env, arguments, text, exit_clean);
}

} // namespace

const CommandDef& command_rules() {
    static const CommandDef def = {
        .name = "rules",
        .usage = "maxtext|t5x|torchtitan FILE [--devices N] [--slices N] [--set KEY=N]... [--output LAYOUT]",
        .summary = "sharding rules of MaxText, T5X or torchtitan as a layout",
        .doc = "Example:\n"
               "  shardc rules maxtext base.yml --devices 256 --slices 2 --output layout.yaml\n"
               "  shardc rules maxtext custom_mesh_and_rule/pure-fsdp.yml --set ici_fsdp_parallelism=-1 --devices 64\n"
               "  shardc rules t5x pretrain.gin --devices 64\n"
               "  shardc rules torchtitan llama3_8b.toml --devices 64\n"
               "Axes of one device are left out. What a rule calls an axis, the model has to call so too.",
        .options = {{.name = "TOOL",
                     .doc = "whose rules they are",
                     .choices = {"maxtext", "t5x", "torchtitan"},
                     .required = true},
                    {.name = "FILE",
                     .doc = "base.yml, a gin file, a job's TOML; or - for stdin",
                     .required = true,
                     .file = FileUse::read,
                     .dash = true},
                    {.name = "--devices",
                     .value = "N",
                     .doc = "how many there are in all; a size of -1 is what they leave"},
                    {.name = "--slices",
                     .value = "N",
                     .doc = "how many slices they are in, which the DCN connects",
                     .fallback = "1"},
                    {.name = "--set",
                     .value = "KEY=N",
                     .doc = "a degree of parallelism, as MaxText's command line has it: ici_tensor_parallelism=4",
                     .many = true},
                    output_option()},
        .order = 5,
        .run = run,
    };
    return def;
}

} // namespace shard
