#include "cli/device_grid.h"
#include "cli/diagnostics.h"
#include "cli/fold.h"
#include "cli/inputs.h"
#include "cli/nouns.h"
#include "cli/output.h"
#include "cli/tensor_names.h"

#include <fmt/format.h>

namespace shard {

namespace {

// Layers that are laid out alike are drawn once.
std::string draw(const Plan& plan, const std::vector<const TensorReport*>& tensors, const Paint& paint) {
    std::vector<std::vector<std::string>> rows;
    for (const TensorReport* tensor : tensors)
        rows.push_back({tensor->name, std::string(name(tensor->role)),
                        type_text(tensor->dtype, tensor->shape, tensor->logical), text(plan.mesh, tensor->sharding)});
    std::string out;
    for (const FoldedRow& row : fold_rows(rows)) {
        const TensorReport& tensor = *tensors[static_cast<size_t>(row.members.front())];
        out += (out.empty() ? "" : "\n") + device_grid(plan.mesh, tensor, row.fields[0], paint);
    }
    return out;
}

int run(const Arguments& arguments, Env& env) {
    Compiled compiled =
        compile_files(env, arguments.string("MODEL"), arguments.string("LAYOUT"), arguments.string("--mode"));
    print_diagnostics(env, *compiled.sources, compiled.diagnostics().all());
    if (compiled.plan() == nullptr) return exit_code(compiled.diagnostics());
    const Plan& plan = *compiled.plan();
    std::vector<const TensorReport*> tensors;
    if (!arguments.has("TENSOR")) {
        for (const TensorReport& tensor : plan.report.tensors)
            if (tensor.role != Role::value) tensors.push_back(&tensor);
    }
    for (const std::string& wanted : arguments.strings("TENSOR")) {
        std::vector<const TensorReport*> found = find_tensors(compiled.compilation, wanted);
        if (found.empty()) return unknown_tensor(env, plan, wanted);
        tensors.insert(tensors.end(), found.begin(), found.end());
    }
    Paint paint{env.out_color && !arguments.has("--output")};
    std::string out = fmt::format("{}, {}\n\n", plan.model, paint_axes(paint, plan.mesh, mesh_text(plan.mesh)));
    return write_payload(env, arguments, out + draw(plan, tensors, paint), exit_clean);
}

} // namespace

const CommandDef& command_show() {
    static const CommandDef def = {
        .name = "show",
        .usage = "MODEL LAYOUT [TENSOR...]",
        .summary = "draws which device holds which part",
        .doc = "Example:\n"
               "  shardc show model.yaml layout.yaml w1 'block.*.wq'\n"
               "A tensor is a name, or a glob over dotted names (* stops at dots, ** does not). Without one, inputs, "
               "params and outputs.",
        .options = {{.name = "MODEL", .doc = "the model file, or - for stdin", .required = true},
                    {.name = "LAYOUT", .doc = "the layout file, or - for stdin", .required = true},
                    {.name = "TENSOR", .doc = "names or globs", .many = true},
                    mode_option(),
                    output_option()},
        .order = 4,
        .run = run,
    };
    return def;
}

} // namespace shard
