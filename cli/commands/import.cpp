#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/model_source.h"
#include "cli/inputs/output.h"
#include "cli/terminal/exit_code.h"

namespace shard {

namespace {

int run(const Arguments& arguments, Env& env) {
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<int> file = load_source(env, sources, arguments.string("FILE"), diagnostics);
    std::optional<ImportedProgram> program;
    if (file) program = checked_program(sources, *file, arguments.strings("--params"), diagnostics);
    print_diagnostics(env, sources, diagnostics.all());
    if (!program) return exit_code(diagnostics);
    if (arguments.has("--layout") && !write_file(env, arguments.string("--layout"), program->layout)) return exit_usage;
    return write_payload(env, arguments, program->model, exit_clean);
}

} // namespace

const CommandDef& command_import() {
    static const CommandDef def = {
        .name = "import",
        .usage = "FILE.mlir [--output MODEL] [--layout LAYOUT] [--params PATTERN]...",
        .summary = "a program of StableHLO, as JAX writes it, as a model file",
        .doc = "Example:\n"
               "  shardc import step.mlir --output model.yaml --layout layout.yaml\n"
               "  shardc plan step.mlir layout.yaml       the same in one: MODEL may be a program\n"
               "The program is what jax.jit(f).lower(...).as_text(debug_info=True) gives, or what JAX writes by itself "
               "into the folder that JAX_DUMP_IR_TO names.",
        .options = {{.name = "FILE",
                     .doc = "the program, or - for stdin",
                     .required = true,
                     .file = FileUse::read,
                     .dash = true},
                    {.name = "--params",
                     .value = "PATTERN",
                     .doc = "which arguments are parameters: 'params' and all below it unless said, 'p*', 'state.*.w'",
                     .many = true},
                    {.name = "--layout",
                     .value = "FILE",
                     .doc = "write the program's mesh and shardings there, as a layout file",
                     .file = FileUse::written},
                    output_option()},
        .order = 5,
        .run = run,
    };
    return def;
}

} // namespace shard
