#include "cli/diagnostics/diagnostics.h"
#include "cli/inputs/inputs.h"
#include "cli/inputs/named_tensors.h"
#include "cli/inputs/output.h"
#include "cli/report/device_grid.h"
#include "cli/report/nouns.h"
#include "cli/terminal/exit_code.h"
#include "cli/terminal/fold.h"
#include "plans/base/version.h"
#include "plans/file/report_json.h"
#include "plans/json/json_text.h"
#include "plans/sharding/axis_lists.h"

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
        const TensorReport& tensor = *tensors[row.members.front()];
        out += (out.empty() ? "" : "\n") + device_grid(plan.mesh, tensor, row.fields[0], paint);
    }
    return out;
}

constexpr i64 most_listed_devices = 4096;

// Where a part lies in its tensor, and the devices that hold it. Parts in the order of their indices.
std::string parts_json(const Mesh& mesh, const TensorReport& tensor) {
    const Sharding sharding = without_unit_axes(tensor.sharding);
    std::vector<i64> counts;
    for (const DimSharding& dim : sharding.dims) counts.push_back(shard_count(dim));
    std::vector<std::string> parts;
    std::vector<i64> part(counts.size(), 0);
    for (bool more = true; more;) {
        std::vector<i64> start;
        for (size_t d = 0; d < part.size(); ++d) start.push_back(part[d] * tensor.local_shape[d]);
        parts.push_back(JsonObject()
                            .raw("start", json_integers(start))
                            .raw("devices", json_integers(holders(mesh, sharding, part)))
                            .text());
        more = false;
        for (size_t d = part.size(); d-- > 0 && !more;) {
            more = ++part[d] < counts[d];
            if (!more) part[d] = 0;
        }
    }
    return json_array(parts);
}

std::string show_json(const Plan& plan, const std::vector<const TensorReport*>& tensors) {
    std::vector<std::string> items;
    for (const TensorReport* tensor : tensors) {
        JsonObject object;
        object.raw("tensor", print_tensor(plan.mesh, *tensor));
        if (plan.mesh.device_count() <= most_listed_devices) object.raw("parts", parts_json(plan.mesh, *tensor));
        items.push_back(object.text());
    }
    std::vector<std::string> axes;
    for (const MeshAxis& axis : plan.mesh.axes)
        axes.push_back(JsonObject().string("name", axis.name).integer("size", axis.size).text());
    return JsonObject()
               .integer("format_version", 1)
               .string("tool", tool_text())
               .string("model", plan.model)
               .string("mode", plan.mode)
               .raw("mesh",
                    JsonObject().raw("axes", json_array(axes)).integer("devices", plan.mesh.device_count()).text())
               .raw("tensors", json_lines(items, 2))
               .text() +
           "\n";
}

int run(const Arguments& arguments, Env& env) {
    const std::vector<std::string> words = arguments.strings("FILE");
    size_t used = 0;
    Compiled compiled = compile_words(env, words, arguments.string("--mode"), used);
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
    if (arguments.string("--format") == "json")
        return write_payload(env, arguments, show_json(plan, *tensors), exit_clean);
    Paint paint{env.out_color && !arguments.has("--output")};
    std::string out = fmt::format("{}, {}\n\n", plan.model, paint_axes(paint, plan.mesh, mesh_text(plan.mesh)));
    return write_payload(env, arguments, out + draw(plan, *tensors, paint), exit_clean);
}

} // namespace

const CommandDef& command_show() {
    static const CommandDef def = {
        .name = "show",
        .usage = "MODEL LAYOUT [TENSOR...] | PLAN [TENSOR...]",
        .summary = "draws which device holds which part",
        .doc = "Example:\n"
               "  shardc show model.yaml layout.yaml w1 'block.*.wq'\n"
               "A tensor is a name, or a glob over dotted names (* stops at dots, ** does not). Without one, inputs, "
               "params and outputs.",
        .options = {{.name = "FILE",
                     .doc = "a model and a layout, or a plan file; - for stdin; then names or globs of tensors",
                     .required = true,
                     .many = true},
                    mode_option(),
                    format_option({"text", "json"}),
                    output_option()},
        .order = 4,
        .run = run,
    };
    return def;
}

} // namespace shard
