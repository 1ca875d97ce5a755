#include "cli/diagnostics.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/run_report.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <ostream>

namespace shard {

namespace {

// A whole number of at least 1.
std::optional<int> read_count(const Arguments& arguments, std::string_view option, Diagnostics& diagnostics) {
    const std::string& text = arguments.string(option);
    int value = 0;
    std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec == std::errc() && end.ptr == text.data() + text.size() && value >= 1 && value <= 1000000) return value;
    diagnostics.error("E0701", {}, fmt::format("{} takes a whole number from 1 to 1000000, not '{}'", option, text));
    return std::nullopt;
}

void read_inputs(const Arguments& arguments, const Plan& plan, RunOptions& options, Diagnostics& diagnostics) {
    std::vector<std::string_view> names;
    for (const PlanInput& input : plan.inputs) names.push_back(plan.buffers[static_cast<size_t>(input.buffer)].name);
    for (const std::string& text : arguments.strings("--input")) {
        size_t equals = text.find('=');
        if (equals == std::string::npos) {
            diagnostics.error("E0701", {}, fmt::format("--input takes NAME=FILE.npy, not '{}'", text));
            continue;
        }
        std::string name = text.substr(0, equals);
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            std::string_view near = nearest(name, names);
            diagnostics.error("E0706", {}, fmt::format("the model has no input '{}'", name))
                .help(near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                   : fmt::format("did you mean '{}'?", near));
            continue;
        }
        std::optional<Tensor> tensor = read_npy(text.substr(equals + 1), diagnostics);
        if (tensor) options.inputs.emplace(name, std::move(*tensor));
    }
}

// Before the run, so that a slip of the pen does not cost one.
void check_outputs(const Arguments& arguments, const Plan& plan, Diagnostics& diagnostics) {
    std::vector<std::string_view> names;
    for (const PlanOutput& output : plan.outputs) names.push_back(output.name);
    for (const std::string& text : arguments.strings("--output")) {
        size_t equals = text.find('=');
        std::string_view name = std::string_view(text).substr(0, equals);
        if (equals == std::string::npos || std::find(names.begin(), names.end(), name) != names.end()) continue;
        diagnostics.error("E0706", {}, fmt::format("the model has no output '{}'", name))
            .help(fmt::format("there are {}", fmt::join(names, ", ")));
    }
}

// --output DIR writes every output as DIR/NAME.npy, --output NAME=FILE one of them.
void write_outputs(const Arguments& arguments, const RunResult& result, Env& env, Diagnostics& diagnostics) {
    for (const std::string& text : arguments.strings("--output")) {
        size_t equals = text.find('=');
        if (equals == std::string::npos) {
            std::error_code error;
            std::filesystem::create_directories(text, error);
            if (error) {
                diagnostics.error("E0703", {}, fmt::format("cannot make the folder '{}': {}", text, error.message()));
                continue;
            }
            for (const std::pair<const std::string, Tensor>& output : result.outputs) {
                std::string path = fmt::format("{}/{}.npy", text, output.first);
                if (write_npy(path, output.second, diagnostics)) env.err << "wrote " << path << '\n';
            }
            continue;
        }
        const std::string path = text.substr(equals + 1);
        if (write_npy(path, result.outputs.at(text.substr(0, equals)), diagnostics))
            env.err << "wrote " << path << '\n';
    }
}

// Plans the model on one device, runs it with the same inputs, compares. False if it could not be planned or run.
bool verify(const Plan& plan, const RunOptions& options, RunReport& report, Env& env, Diagnostics& diagnostics) {
    Compiled reference = compile_reference(plan);
    if (reference.plan() == nullptr) {
        print_diagnostics(env, *reference.sources, reference.diagnostics().all());
        return false;
    }
    RunOptions once = options;
    once.steps = 1;
    std::optional<RunResult> result = run_plan(*reference.plan(), once, diagnostics);
    if (!result) return false;
    report.comparison = compare_results(plan, report.result, *result, diagnostics);
    return true;
}

int run(const Arguments& arguments, Env& env) {
    std::vector<std::string> paths = arguments.strings("FILE");
    Sources none;
    Diagnostics diagnostics;
    if (paths.size() > 2)
        diagnostics.error("E0701", {}, "run takes one plan, or one model and one layout")
            .help("usage: shardc run PLAN | MODEL LAYOUT");
    RunOptions options;
    std::optional<int> repeat = read_count(arguments, "--repeat", diagnostics);
    std::optional<int> workers = arguments.has("--workers") ? read_count(arguments, "--workers", diagnostics) : 0;
    if (diagnostics.has_error()) {
        print_diagnostics(env, none, diagnostics.all());
        return exit_usage;
    }
    options.steps = *repeat;
    options.workers = *workers;

    std::vector<PlanSource> loaded = load_plans(env, paths, arguments.string("--mode"));
    PlanSource& source = loaded.front();
    print_diagnostics(env, *source.sources, source.diagnostics.all());
    int code = exit_code(source.diagnostics);
    if (!source.plan) return code;
    const Plan& plan = *source.plan;

    read_inputs(arguments, plan, options, diagnostics);
    check_outputs(arguments, plan, diagnostics);
    RunReport report;
    report.plan = &plan;
    report.show_seconds = arguments.flag("--time");
    std::optional<RunResult> result = diagnostics.has_error() ? std::nullopt : run_plan(plan, options, diagnostics);
    bool ran = result.has_value();
    if (ran) {
        report.result = std::move(*result);
        judge_run(report, diagnostics);
        if (arguments.flag("--verify")) ran = verify(plan, options, report, env, diagnostics);
    }
    if (ran) {
        write_outputs(arguments, report.result, env, diagnostics);
        env.out << (arguments.string("--format") == "json" ? run_json(report) : run_text(report, Paint{env.out_color}));
    }
    print_diagnostics(env, none, diagnostics.all());
    return ran ? std::max(code, exit_code(diagnostics)) : static_cast<int>(exit_usage);
}

} // namespace

const CommandDef& command_run() {
    static const CommandDef def = {
        .name = "run",
        .usage = "PLAN | MODEL LAYOUT [--verify]",
        .summary =
            "execute on emulated devices: does it compute the right thing, with the bytes and the memory predicted?",
        .doc = "Example:\n"
               "  shardc run plan.json --verify                        compare with the same model on one device\n"
               "  shardc run model.yaml layout.yaml --input x=x.npy --output z=z.npy\n"
               "Exit code 1 if the results differ, or bytes or memory are not those of the plan.",
        .options = {{.name = "FILE",
                     .doc = "a plan file, or a model and a layout; - for stdin",
                     .required = true,
                     .many = true},
                    {.name = "--verify", .doc = "also run the model on one device and compare"},
                    {.name = "--repeat", .value = "N", .doc = "run N times in the same arenas", .fallback = "1"},
                    {.name = "--time", .doc = "say how long the emulation took (differs from run to run)"},
                    {.name = "--workers", .value = "N", .doc = "threads; the machine's cores unless given"},
                    {.name = "--input",
                     .value = "NAME=FILE.npy",
                     .doc = "take an input or parameter from a file",
                     .many = true},
                    {.name = "--output",
                     .value = "DIR|NAME=FILE.npy",
                     .doc = "write all outputs to a folder, or one to a file",
                     .many = true},
                    mode_option(),
                    format_option({"text", "json"})},
        .order = 3,
        .run = run,
    };
    return def;
}

} // namespace shard
