#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/candidates.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/named_tensors.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/svg/show_svg.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/paint.h"

namespace shard {

namespace {

int run(const Arguments& arguments, Env& env) {
    const std::vector<std::string> words = arguments.strings("FILE");
    size_t used = 0;
    Compiled compiled = compile_words(env, words, plan_arguments(arguments), used);
    print_diagnostics(env, *compiled.sources, compiled.diagnostics().all());
    if (compiled.plan() == nullptr) return exit_code(compiled.diagnostics());
    const Plan& plan = *compiled.plan();
    std::optional<std::vector<const TensorReport*>> tensors =
        named_tensors(env, compiled.compilation, std::span(words).subspan(used));
    if (!tensors) return exit_usage;
    if (words.size() == used) {
        for (const TensorReport& tensor : plan.report.tensors)
            if (tensor.role != Role::value) tensors->push_back(&tensor);
    }
    if (arguments.has("--svg") && !write_file(env, arguments.string("--svg"), show_svg(plan, *tensors)))
        return exit_usage;
    const Paint paint = payload_paint(env, arguments);
    return write_payload(env, arguments, chosen_format(arguments).show(plan, *tensors, paint), exit_clean);
}

} // namespace

const CommandDef& command_show() {
    static const CommandDef def = {
        .name = "show",
        .usage = "MODEL LAYOUT [TENSOR...] | PLAN [TENSOR...]",
        .summary = "draws which device holds which part",
        .doc = "Example:\n"
               "  shardc show model.yaml layout.yaml w1 'block.*.wq'\n"
               "A tensor is a name, or a pattern of dotted names: * stops at dots, ** does not, {0..11} and {wq,wk} "
               "are as "
               "reports fold them. Without one, inputs, params and outputs.",
        .options = {{.name = "FILE",
                     .doc = "a model and a layout, or a plan file; - for stdin; then names or globs of tensors",
                     .required = true,
                     .many = true,
                     .candidates = [](const Arguments& typed,
                                      Env& env) { return tensor_candidates(typed.strings("FILE"), typed, env); }},
                    {.name = "--svg",
                     .value = "FILE",
                     .doc = "draw the mesh and the arrays as tiles there",
                     .file = FileUse::written},
                    mode_option(),
                    set_option(),
                    format_option(formats_for(&FormatDef::show)),
                    output_option()},
        .order = 4,
        .run = run,
    };
    return def;
}

} // namespace shard
