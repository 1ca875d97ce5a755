#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/axis_patterns.h"
#include "cli/inputs/model_source.h"
#include "cli/inputs/output.h"
#include "cli/run/own_gradients.h"
#include "cli/terminal/exit_code.h"
#include "planner/graph/optimizer.h"
#include "plans/base/parse_number.h"
#include "plans/base/printable.h"
#include "plans/base/shell_word.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

std::vector<std::string_view> optimizers() {
    std::vector<std::string_view> names;
    for (const OptimizerDef* def : all_optimizers()) names.push_back(def->composite.name);
    return names;
}

std::optional<ProgramOptions> program_options(const Arguments& arguments, Diagnostics& diagnostics) {
    ProgramOptions options;
    options.params = arguments.strings("--params");
    if (arguments.has("--as")) options.as = arguments.string("--as") == "loss" ? ImportAs::loss : ImportAs::step;
    const std::string& rate = arguments.string("--learning-rate");
    const std::optional<double> number = parse_number<double>(rate);
    if (!number || !(*number > 0) || !std::isfinite(*number)) {
        diagnostics.error("E0701", {}, fmt::format("--learning-rate: expected a positive number, found '{}'", rate))
            .help("a schedule is written into the model: learning_rate: {warmup_cosine: {...}}");
        return std::nullopt;
    }
    options.optimizer = fmt::format("{}: {{learning_rate: {}}}", arguments.string("--optimizer"),
                                    number_text(DType::f64, {*number, 0}));
    return options;
}

std::string names_text(const ImportedProgram& program) {
    std::string text;
    for (const auto& [path, name] : program.names) text += fmt::format("{}: {}\n", path, name);
    return text;
}

// Where to go on from the files that were written.
std::string next_text(const Arguments& arguments, const ImportedProgram& program) {
    const std::string model = shell_word(arguments.string("--output"));
    const std::string layout = arguments.has("--layout") ? shell_word(arguments.string("--layout")) : "LAYOUT";
    const std::string mode = program.is == ImportAs::loss ? " --mode train" : "";
    std::string text;
    if (arguments.has("--layout") && program.layout == "mesh: {}\n")
        text = fmt::format("the program has no mesh: give {} one, as mesh: {{data: 8}}, and rules, as rules: [{{batch: "
                           "data}}]\n",
                           printable(layout));
    return fmt::format("{}next: shardc plan {} {}{}\n", text, printable(model), printable(layout), mode);
}

// Of the program's own gradients those that are others than the model's: exit code 1 if there are any.
int check_gradients(Env& env, const Sources& sources, int file, ProgramOptions options,
                    const ImportedProgram& program) {
    Diagnostics diagnostics, said; // what is said of the program has been said
    const auto fail = [&](int code) {
        print_diagnostics(env, sources, diagnostics.all());
        return code;
    };
    if (program.is != ImportAs::loss || program.gradients.empty()) {
        diagnostics
            .error("E0812", program.place,
                   program.is == ImportAs::loss ? "the program makes no gradients to compare with"
                                                : "the program is no loss, whose gradients could be compared")
            .help("lower jax.value_and_grad(loss), and import it as a loss");
        return fail(exit_usage);
    }
    options.as = ImportAs::loss;
    options.optimizer = "sgd: {learning_rate: 1}";
    const std::optional<ImportedProgram> loss = checked_program(sources, file, options, said);
    options.as = ImportAs::step;
    const std::optional<ImportedProgram> whole = checked_program(sources, file, options, said);
    if (!loss || !whole) {
        diagnostics = said;
        return fail(exit_code(diagnostics));
    }
    const std::optional<GradientComparison> made = compare_gradients(*loss, *whole, diagnostics);
    if (!made) return fail(exit_code(diagnostics));
    std::vector<std::string> others;
    double largest = 0;
    for (const GradientComparison::Parameter& parameter : made->parameters) {
        largest = std::max(largest, parameter.difference);
        if (!made->is_same(parameter))
            others.push_back(fmt::format("{} by {:.2g}", parameter.name, parameter.difference));
    }
    const size_t count = made->parameters.size();
    if (!others.empty()) {
        constexpr size_t most = 8;
        const std::string more = others.size() > most ? fmt::format(" and {} more", others.size() - most) : "";
        diagnostics
            .error("E0812", program.place,
                   fmt::format("the gradients of {} of {} parameters are not the program's own", others.size(), count))
            .note(fmt::format("of the largest of all gradients they are off: {}{}",
                              fmt::join(others.begin(), others.begin() + std::min(most, others.size()), ", "), more))
            .help("the program stops gradients (jax.lax.stop_gradient) or has rules of its own (jax.custom_vjp): write "
                  "stop_gradient into the model where it does, or plan its own step by --as step");
        return fail(exit_findings);
    }
    env.err << fmt::format(
        "gradients: those of {} parameter{} are the program's own (at most {:.1g} of the largest off)\n", count,
        count == 1 ? "" : "s", largest);
    for (const std::string& name : made->without)
        env.err << fmt::format("gradients: the program makes none of {}\n", printable(name));
    return exit_clean;
}

int run(const Arguments& arguments, Env& env) {
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<int> file = load_source(env, sources, arguments.string("FILE"), diagnostics);
    std::optional<ImportedProgram> program;
    std::optional<ProgramOptions> options = program_options(arguments, diagnostics);
    if (options && arguments.has("--axes")) {
        const std::optional<int> axes = load_source(env, sources, arguments.string("--axes"), diagnostics);
        std::optional<std::vector<GivenAxes>> given;
        if (axes) given = read_axis_patterns(sources, *axes, diagnostics);
        if (given)
            options->axes = std::move(*given);
        else
            options.reset();
    }
    if (file && options) program = checked_program(sources, *file, *options, diagnostics);
    // A number that is computed of a tree of arrays: most likely a loss.
    if (program && program->likely_params.find('.') != std::string::npos)
        diagnostics
            .warning("W0806", program->place, "the program returns a number, and none of its arguments is a parameter")
            .help(fmt::format("to train it say which are: --params {}", shell_word(program->likely_params)));
    print_diagnostics(env, sources, diagnostics.all());
    if (!program) return exit_code(diagnostics);
    if (arguments.has("--layout") && !write_file(env, arguments.string("--layout"), program->layout)) return exit_usage;
    if (arguments.has("--names") && !write_file(env, arguments.string("--names"), names_text(*program)))
        return exit_usage;
    int code = write_payload(env, arguments, program->model, exit_clean);
    if (code == exit_clean && arguments.has("--check-gradients"))
        code = check_gradients(env, sources, *file, *options, *program);
    if (code == exit_clean && arguments.has("--output") && arguments.string("--output") != "-")
        env.err << next_text(arguments, *program);
    return code;
}

} // namespace

const CommandDef& command_import() {
    static const CommandDef def = {
        .name = "import",
        .usage = "FILE.mlir [--output MODEL] [--layout LAYOUT] [--as loss|step] [--params PATTERN]... "
                 "[--axes FILE]",
        .summary = "a program of StableHLO, as JAX writes it, as a model file",
        .doc = "Example:\n"
               "  shardc import step.mlir --output model.yaml --layout layout.yaml\n"
               "  shardc plan step.mlir layout.yaml       the same in one: MODEL may be a program\n"
               "  shardc import loss.mlir --optimizer sgd --params 'model.**'\n"
               "A loss becomes a model with a `train` block, so that --mode train plans shardc's own step; a step that "
               "donates arguments is planned as it is, with these as its updates. "
               "The program is what jax.jit(f).lower(...).as_text(debug_info=True) gives, or what JAX writes by itself "
               "into the folder that JAX_DUMP_IR_TO names.",
        .options =
            {{.name = "FILE",
              .doc = "the program, or - for stdin",
              .required = true,
              .file = FileUse::read,
              .dash = true},
             {.name = "--params",
              .value = "PATTERN",
              .doc = "which arguments are parameters: 'params' and all below it unless said, 'p*', 'state.*.w'",
              .many = true},
             {.name = "--as",
              .value = "WHAT",
              .doc = "loss: shardc makes the step, also of a step that JAX made; step: as it is, donated arguments are "
                     "updated. Unless said, a step if arguments are donated, a loss if the first result is a number",
              .choices = {"loss", "step"}},
             {.name = "--optimizer",
              .value = "NAME",
              .doc = "what trains a loss",
              .choices = optimizers(),
              .fallback = "adamw"},
             {.name = "--learning-rate", .value = "NUMBER", .doc = "of the optimizer", .fallback = "0.001"},
             {.name = "--axes",
              .value = "FILE",
              .doc = "names of the dims of arguments, by patterns of their paths: 'params.**.kernel: [embed, "
                     "mlp]' in YAML; what it does not name is called after its use",
              .file = FileUse::read},
             {.name = "--layout",
              .value = "FILE",
              .doc = "write the program's mesh and shardings there, as a layout file",
              .file = FileUse::written},
             {.name = "--check-gradients",
              .doc = "of a loss whose program makes gradients too (jax.value_and_grad): run both, on one device "
                     "or on the program's mesh if it has a shard_map, and compare them; exit code 1 if others are "
                     "made, as where the program has a stop_gradient"},
             {.name = "--names",
              .value = "FILE",
              .doc = "write what the model calls each argument there, a line `path: name` each",
              .file = FileUse::written},
             output_option()},
        .order = 5,
        .run = run,
    };
    return def;
}

} // namespace shard
