// The shardings of a plan for a training job that exists: tables without types of any library, and functions that make
// of them what JAX, Flax, optax, MaxText and torch ask for.
#include "exporter/mesh/named_mesh.h"
#include "exporter/python/embedded_python.h"
#include "exporter/python/python.h"
#include "exporter/specs/flax_rules.h"
#include "exporter/target/target.h"
#include "plans/base/printable.h"
#include "plans/plan/source_ref.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

// "data", ("data", "model") or None.
PythonText axes_text(const std::vector<std::string>& axes) {
    if (axes.empty()) return {"None"};
    if (axes.size() == 1) return {quoted(axes[0])};
    std::vector<PythonText> items;
    for (const std::string& axis : axes) items.push_back({quoted(axis)});
    return tuple(std::move(items));
}

const TensorReport* report_of(const Plan& plan, const Buffer& buffer, std::string_view name) {
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.name == name && tensor.shape == buffer.real_shape()) return &tensor;
    return nullptr;
}

std::string type_comment(const Buffer& buffer, const TensorReport* tensor) {
    std::vector<std::string> dims;
    for (size_t d = 0; d < buffer.real_shape().size(); ++d) {
        const bool named = tensor != nullptr && d < tensor->logical.size() && !tensor->logical[d].empty();
        dims.push_back(fmt::format("{}{}", named ? tensor->logical[d] + " " : "", buffer.real_shape()[d]));
    }
    const std::string source = tensor == nullptr ? "" : text(tensor->source);
    return fmt::format("    # {} ({}){}\n", name(buffer.dtype), fmt::join(dims, ", "),
                       source.empty() ? "" : ", " + printable(source));
}

class SpecsModule {
public:
    SpecsModule(const Plan& plan, const NamedMesh& mesh, const JobNames& names)
        : plan_(plan), mesh_(mesh), names_(names) {}

    std::string text() {
        const std::string params = inputs_table("PARAMS", Role::param), states = inputs_table("STATES", Role::state),
                          inputs = inputs_table("INPUTS", Role::input);
        std::string outputs;
        for (const PlanOutput& output : plan_.outputs)
            if (!output.is_update()) outputs += entry(output.name, plan_.buffers[output.buffer]);
        std::string variables = inputs_table("VARIABLES", Role::variable);
        if (variables.ends_with(" = {}\n")) variables.clear(); // few models have any
        return heading() + mesh_text() + "# Per dim the mesh axes that split it, major to minor.\n" + params +
               variables + states + inputs + table("OUTPUTS", outputs) + job_names_text() + rules_text() + "\n" +
               std::string(embedded_text("specs"));
    }

private:
    std::string heading() const {
        std::vector<std::string> axes;
        for (const MeshAxis& axis : mesh_.axes()) axes.push_back(fmt::format("{} {}", axis.name, axis.size));
        std::vector<std::string> files;
        for (const SourceText& source : plan_.sources) files.push_back(printable(source.name));
        return fmt::format("\"\"\"Shardings of {}, {}, on {} = {} devices.\n\n{} planned them from\n{}.\n\"\"\"\n\n"
                           "import re\n\n",
                           docstring(plan_.model), plan_.mode, fmt::join(axes, " x "), plan_.mesh.device_count(),
                           docstring(plan_.tool), docstring(fmt::format("{}", fmt::join(files, " and "))));
    }

    std::string mesh_text() const {
        std::vector<PythonText> axes, devices;
        for (const MeshAxis& axis : mesh_.axes()) axes.push_back({fmt::format("{}: {}", quoted(axis.name), axis.size)});
        for (i64 id : plan_.mesh.device_ids) devices.push_back({std::to_string(id)});
        const PythonText ids = devices.empty()
                                   ? PythonText{fmt::format("DEVICES = range({})", plan_.mesh.device_count())}
                                   : tuple(std::move(devices), "DEVICES = ");
        return "# The axes, outer to inner, and which device is where.\n" + lines(bracket("MESH = {", axes, "}"), 0) +
               lines(ids, 0) + "\n";
    }

    std::string entry(const std::string& name, const Buffer& buffer) {
        const TensorReport* const tensor = report_of(plan_, buffer, name);
        ArraySpec array{name, {}, {}};
        std::vector<PythonText> dims;
        for (const DimSharding& dim : buffer.sharding.dims) {
            array.spec.push_back(mesh_.names(dim.axes));
            dims.push_back(axes_text(array.spec.back()));
        }
        if (tensor != nullptr) array.logical = tensor->logical;
        const bool has_names = std::any_of(array.logical.begin(), array.logical.end(),
                                           [](const std::string& logical) { return !logical.empty(); });
        if (has_names && buffer.role != Role::state) arrays_.push_back(std::move(array));
        return type_comment(buffer, tensor) + lines(tuple(std::move(dims), quoted(name) + ": "), 4, ",");
    }

    std::string inputs_table(std::string_view title, Role role) {
        std::string entries;
        for (const PlanInput& input : plan_.inputs) {
            const Buffer& buffer = plan_.buffers[input.buffer];
            if (buffer.role == role) entries += entry(buffer.name, buffer);
        }
        return table(title, entries);
    }

    static std::string table(std::string_view title, const std::string& entries) {
        return entries.empty() ? fmt::format("{} = {{}}\n", title) : fmt::format("{} = {{\n{}}}\n", title, entries);
    }

    std::string job_names_text() const {
        std::string entries;
        for (const auto& [path, name] : names_) entries += fmt::format("    {}: {},\n", quoted(path), quoted(name));
        return "# What the job calls arrays that the plan calls otherwise.\n" + table("JOB_NAMES", entries);
    }

    // Inputs first: of a batch's dim and a parameter's, the batch keeps the axis in what is computed.
    std::string rules_text() {
        std::stable_partition(arrays_.begin(), arrays_.end(), [this](const ArraySpec& array) {
            return std::any_of(plan_.inputs.begin(), plan_.inputs.end(), [&](const PlanInput& input) {
                const Buffer& buffer = plan_.buffers[input.buffer];
                return buffer.name == array.name && buffer.role == Role::input;
            });
        });
        const std::vector<LogicalRule> rules = logical_rules(arrays_);
        std::vector<PythonText> items, others;
        for (const LogicalRule& rule : rules) items.push_back(tuple({{quoted(rule.logical)}, axes_text(rule.axes)}));
        for (const ArraySpec& array : arrays_)
            if (spec_by_rules(rules, array) != array.spec) others.push_back({quoted(array.name)});
        std::string text = "\n# For flax.linen.logical_axis_rules, and what is split in another way than they say.\n";
        text += lines(tuple(std::move(items), "LOGICAL_AXIS_RULES = "), 0);
        return text + lines(tuple(std::move(others), "NOT_BY_RULES = "), 0);
    }

    const Plan& plan_;
    const NamedMesh& mesh_;
    const JobNames& names_;
    std::vector<ArraySpec> arrays_; // that have logical axes
};

std::optional<std::string> write_named(const Plan& plan, const JobNames& names, Diagnostics& diagnostics) {
    const std::optional<NamedMesh> mesh = NamedMesh::of(plan, diagnostics);
    if (!mesh) return std::nullopt;
    return SpecsModule(plan, *mesh, names).text();
}
std::optional<std::string> write(const Plan& plan, Diagnostics& diagnostics) {
    return write_named(plan, {}, diagnostics);
}

} // namespace

const TargetDef& target_specs() {
    static const TargetDef def = {
        .name = "specs",
        .doc = "a Python module with the mesh and the PartitionSpecs of params, states, inputs and outputs, for JAX, "
               "Flax, optax and MaxText, and DTensor placements for torch",
        .write = write,
        .write_named = write_named,
    };
    return def;
}

} // namespace shard
