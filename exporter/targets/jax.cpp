// A plan as a Python program: the function that one device runs, and jax.shard_map over the whole mesh around it.
#include "exporter/jax/jax_body.h"
#include "exporter/program/drawn.h"
#include "exporter/python/embedded_python.h"
#include "exporter/target/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

class JaxModule {
public:
    JaxModule(const Plan& plan, const NamedMesh& mesh) : plan_(plan), mesh_(mesh) {
        updated_.assign(plan.inputs.size(), false);
        for (const PlanOutput& output : plan.outputs)
            for (size_t n = 0; n < plan.inputs.size(); ++n)
                if (plan.inputs[n].buffer == output.updates) updated_[n] = true;
    }

    std::string text() {
        const std::string start = start_function(), step = step_function();
        std::string helpers;
        for (const auto& [name, file] :
             {std::pair("PADDED = ", "padding"), std::pair("own_rows(", "rows"), std::pair("copy_box(", "boxes"),
              std::pair("uniform(", "random_values"), std::pair("normal(", "random_values"),
              std::pair("bernoulli(", "random_values"), std::pair("random_bits(", "random_values"),
              std::pair("rbg_bits(", "rbg_bits"), std::pair("fold_in(", "keys"), std::pair("threefry(", "keys"),
              std::pair("positions(", "order"), std::pair("select_windows(", "windows"),
              std::pair("ragged_", "ragged")})
            if ((helpers + start + step + tables()).find(name) != std::string::npos &&
                helpers.find(embedded_text(file)) == std::string::npos)
                helpers = std::string(embedded_text(file)) + "\n\n" + helpers;
        return heading((start + step).find("@partial(") != std::string::npos) + tables() + "\n\n" + helpers + start +
               "\n\n" + step + "\n\n" + std::string(embedded_text("program"));
    }

private:
    std::string heading(bool has_partial) const {
        std::vector<std::string> axes;
        for (const MeshAxis& axis : mesh_.axes()) axes.push_back(fmt::format("{} {}", axis.name, axis.size));
        std::vector<std::string> files;
        for (const SourceText& source : plan_.sources) files.push_back(source.name);
        const std::string_view host =
            plan_.host_peak_bytes == 0 ? "" : "\n\nWhat the plan keeps in the host's memory stays on the device here.";
        std::string text = fmt::format(
            "\"\"\"{}, {}, on {} = {} devices: the program of one device.\n\n{} planned it from\n{}.{}\n\"\"\"\n\n",
            docstring(plan_.model), plan_.mode, fmt::join(axes, " x "), plan_.mesh.device_count(),
            docstring(plan_.tool), docstring(fmt::format("{}", fmt::join(files, " and "))), host);
        if (has_partial) text += "from functools import partial\n\n";
        text += "import jax\nimport jax.numpy as jnp\nimport numpy\nfrom jax import lax\n"
                "from jax.sharding import PartitionSpec as P\n\n";
        const bool wide = std::any_of(plan_.buffers.begin(), plan_.buffers.end(),
                                      [](const Buffer& buffer) { return byte_size(buffer.dtype) == 8; });
        if (wide) text += "jax.config.update(\"jax_enable_x64\", True)\n";
        return text + "# Products of f32 in f32, as planned; accelerators are faster without.\n"
                      "jax.config.update(\"jax_default_matmul_precision\", \"highest\")\n\n";
    }

    PythonText spec(const Buffer& buffer) const {
        std::vector<PythonText> dims;
        for (const DimSharding& dim : buffer.sharding.dims) {
            std::vector<PythonText> axes;
            for (const std::string& axis : mesh_.names(dim.axes)) axes.push_back({quoted(axis)});
            dims.push_back(axes.empty() ? PythonText{"None"} : axes.size() == 1 ? axes[0] : tuple(std::move(axes)));
        }
        while (!dims.empty() && dims.back().text == "None") dims.pop_back();
        return bracket("P(", std::move(dims), ")");
    }

    static std::string table(std::string_view title, const std::vector<std::pair<std::string, PythonText>>& entries) {
        if (entries.empty()) return fmt::format("{} = {{}}\n", title);
        std::string text = fmt::format("{} = {{\n", title);
        for (auto [name, value] : entries) {
            value.text = fmt::format("{}: {}", quoted(name), value.text);
            text += lines(value, 4, ",");
        }
        return text + "}\n";
    }

    std::string tables() const {
        std::vector<PythonText> axes, devices;
        for (const MeshAxis& axis : mesh_.axes()) axes.push_back({fmt::format("{}: {}", quoted(axis.name), axis.size)});
        for (i64 id : plan_.mesh.device_ids) devices.push_back({std::to_string(id)});
        const PythonText ids = devices.empty()
                                   ? PythonText{fmt::format("DEVICES = range({})", plan_.mesh.device_count())}
                                   : tuple(std::move(devices), "DEVICES = ");
        std::vector<std::pair<std::string, PythonText>> state, inputs, outputs;
        for (size_t n = 0; n < plan_.inputs.size(); ++n) {
            const Buffer& buffer = plan_.buffers[plan_.inputs[n].buffer];
            (updated_[n] ? state : inputs).emplace_back(buffer.name, spec(buffer));
        }
        for (const PlanOutput& output : plan_.outputs)
            if (!output.is_update()) outputs.emplace_back(output.name, spec(plan_.buffers[output.buffer]));
        std::vector<std::pair<std::string, PythonText>> padded;
        const auto note = [&](const std::string& name, const Buffer& buffer) {
            if (buffer.unpadded_shape.empty()) return;
            padded.emplace_back(name, tuple({{shape_tuple(buffer.global_shape)}, {shape_tuple(buffer.real_shape())}}));
        };
        for (const PlanInput& input : plan_.inputs) note(plan_.buffers[input.buffer].name, plan_.buffers[input.buffer]);
        for (const PlanOutput& output : plan_.outputs)
            if (!output.is_update()) note(output.name, plan_.buffers[output.buffer]);
        return "# The axes, outer to inner, and which device is where.\n" + lines(bracket("MESH = {", axes, "}"), 0) +
               lines(ids, 0) + "\n# What a step makes anew, what else it reads, and what it gives.\n" +
               table("STATE", state) + table("INPUTS", inputs) + table("OUTPUTS", outputs) +
               (padded.empty() ? ""
                               : "\n# Arrays with padding: their shapes here, and what of them is real.\n" +
                                     table("PADDED", padded));
    }

    std::string start_function() const {
        JaxBody body(plan_, mesh_);
        std::vector<std::pair<std::string, PythonText>> state, inputs;
        for (size_t n = 0; n < plan_.inputs.size(); ++n)
            (updated_[n] ? state : inputs)
                .emplace_back(plan_.buffers[plan_.inputs[n].buffer].name, body.initial(plan_.inputs[n]));
        const auto dict = [](std::string_view name, const std::vector<std::pair<std::string, PythonText>>& entries) {
            std::string text = fmt::format("    {} = {{", name);
            for (auto [key, value] : entries) {
                value.text = fmt::format("{}: {}", quoted(key), value.text);
                text += (text.back() == '{' ? "\n" : "") + lines(value, 8, ",");
            }
            return text + (entries.empty() ? "}\n" : "    }\n");
        };
        return "def local_start():\n    \"\"\"A device's part of what the model starts from.\"\"\"\n" +
               body.text_so_far() + dict("state", state) + dict("inputs", inputs) + "    return state, inputs\n";
    }

    std::string step_function() const {
        JaxBody body(plan_, mesh_);
        const LocalProgram program = local_program(plan_);
        std::vector<std::string> arguments, returns;
        for (size_t n = 0; n < plan_.inputs.size(); ++n)
            arguments.push_back(fmt::format("{}[{}]", updated_[n] ? "state" : "inputs",
                                            quoted(plan_.buffers[plan_.inputs[n].buffer].name)));
        const std::string steps = body.write(program, arguments, returns);
        std::vector<PythonText> state, outputs;
        for (size_t o = 0; o < plan_.outputs.size(); ++o) {
            const PlanOutput& output = plan_.outputs[o];
            const std::string key = output.is_update() ? plan_.buffers[output.updates].name : output.name;
            (output.is_update() ? state : outputs).push_back({fmt::format("{}: {}", quoted(key), returns[o])});
        }
        return "def local_step(state, inputs):\n    \"\"\"What one device does in a step, with its part of each "
               "array.\"\"\"\n" +
               steps + lines(bracket("state = {", std::move(state), "}"), 4) +
               lines(bracket("outputs = {", std::move(outputs), "}"), 4) + "    return state, outputs\n";
    }

    const Plan& plan_;
    const NamedMesh& mesh_;
    std::vector<bool> updated_; // inputs that the next step reads as this one leaves them
};

std::optional<std::string> write(const Plan& plan, Diagnostics& diagnostics) {
    const std::optional<NamedMesh> mesh = NamedMesh::of(plan, diagnostics);
    if (!mesh || !draws_have_32_bits(plan, diagnostics)) return std::nullopt;
    return JaxModule(plan, *mesh).text();
}

} // namespace

const TargetDef& target_jax() {
    static const TargetDef def = {
        .name = "jax",
        .doc = "the plan as a Python program: what one device does, with jax.shard_map over the mesh, and the planned "
               "collectives",
        .write = write,
    };
    return def;
}

} // namespace shard
