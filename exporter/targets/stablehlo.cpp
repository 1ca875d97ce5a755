// A plan as a StableHLO module: the program of one device as the body of one sdy.manual_computation over the mesh. Or, to
// compare with, the same model's program over whole arrays, with the plan's shardings of arguments and results, of
// which XLA makes collectives of its own.
#include "exporter/mesh/named_mesh.h"
#include "exporter/program/drawn.h"
#include "exporter/stablehlo/hlo_body.h"
#include "exporter/target/target.h"
#include "plans/base/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

std::string quoted(std::string_view text) {
    std::string escaped = "\"";
    for (char c : printable(text)) {
        if (c == '"' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped + "\"";
}

struct NamedBuffer {
    std::string name; // of an argument or a result
    const Buffer* buffer = nullptr;
};

class HloModule {
public:
    // `program`: whose steps are written, the plan's or those of the same model on one device.
    HloModule(const Plan& plan, const NamedMesh& mesh, const Plan& program)
        : plan_(plan), mesh_(mesh), program_(program), is_alone_(plan.mesh.device_count() == 1),
          is_whole_(program.mesh.device_count() == 1) {
        for (const PlanInput& input : plan.inputs)
            inputs_.push_back({buffer(input.buffer).name, &buffer(input.buffer)});
        for (const PlanOutput& output : plan.outputs)
            outputs_.push_back(
                {output.is_update() ? buffer(output.updates).name : output.name, &buffer(output.buffer)});
    }

    std::string text() {
        const auto step = [this](HloBody& body, const std::vector<std::string>& arguments) {
            return body.write(local_program(program_), arguments);
        };
        const auto start = [this](HloBody& body, const std::vector<std::string>&) {
            HloValues values;
            for (const PlanInput& input : program_.inputs) values.push_back(body.initial(input));
            return values;
        };
        std::string functions = function("main", inputs_, outputs_, step);
        if (!inputs_.empty()) functions += function("start", {}, inputs_, start);
        return heading() +
               fmt::format("module @{} attributes {{mhlo.num_partitions = {} : i32, mhlo.num_replicas = 1 : i32}} {{\n",
                           UniqueNames({}, "_.$").fresh(plan_.model), plan_.mesh.device_count()) +
               (is_alone_ ? "" : mesh()) + functions + functions_.text() + "}\n";
    }

private:
    using Writer = std::function<HloValues(HloBody& body, const std::vector<std::string>& arguments)>;

    const Buffer& buffer(int number) const { return plan_.buffers[static_cast<size_t>(number)]; }

    std::string heading() const {
        std::vector<std::string> axes, files;
        for (const MeshAxis& axis : mesh_.axes()) axes.push_back(fmt::format("{} {}", axis.name, axis.size));
        for (const SourceText& source : plan_.sources) files.push_back(source.name);
        const std::string what =
            fmt::format("{}, {}, on {}: @main is a step{}.", plan_.model, plan_.mode, fmt::join(axes, " x "),
                        inputs_.empty() ? "" : ", @start what it starts from");
        const std::string from = fmt::format("{} planned it from {}.", plan_.tool, fmt::join(files, " and "));
        std::string text = fmt::format("// {}\n// {}\n", printable(what), printable(from));
        const auto note = [&text](const std::string& name, const Buffer& of) {
            if (!of.unpadded_shape.empty())
                text += printable(fmt::format("// {} is {} here, of which {} is real, and zeros lie behind that.", name,
                                              shape_text(of.global_shape), shape_text(of.unpadded_shape))) +
                        "\n";
        };
        for (const PlanInput& input : plan_.inputs) note(buffer(input.buffer).name, buffer(input.buffer));
        for (const PlanOutput& output : plan_.outputs)
            if (!output.is_update()) note(output.name, buffer(output.buffer));
        return text;
    }

    std::string mesh() const {
        std::vector<std::string> axes;
        for (const MeshAxis& axis : mesh_.axes()) axes.push_back(fmt::format("{}={}", quoted(axis.name), axis.size));
        const std::vector<i64>& ids = plan_.mesh.device_ids;
        return fmt::format("  sdy.mesh @mesh = <[{}]{}>\n", fmt::join(axes, ", "),
                           ids.empty() ? "" : fmt::format(", device_ids={}", hlo_list(ids)));
    }

    std::string sharding(const Buffer& of) const {
        std::vector<std::string> dims;
        for (const DimSharding& dim : of.sharding.dims) {
            std::vector<std::string> axes;
            for (const std::string& axis : mesh_.names(dim.axes)) axes.push_back(quoted(axis));
            dims.push_back(fmt::format("{{{}}}", fmt::join(axes, ", ")));
        }
        return fmt::format("<@mesh, [{}]>", fmt::join(dims, ", "));
    }
    std::string shardings(const std::vector<NamedBuffer>& values) const {
        std::vector<std::string> texts;
        for (const NamedBuffer& value : values) texts.push_back(sharding(*value.buffer));
        return fmt::format("[{}]", fmt::join(texts, ", "));
    }

    // Its type, and what is known of it besides.
    std::string argument_text(const Buffer& of, std::vector<std::string> attributes) const {
        if (!is_alone_) attributes.push_back("sdy.sharding = #sdy.sharding" + sharding(of));
        const std::string type = hlo_type(of.dtype, of.global_shape);
        return attributes.empty() ? type : fmt::format("{} {{{}}}", type, fmt::join(attributes, ", "));
    }

    // A result may take the bytes of an input that the next step reads as this one leaves it, or that is given up.
    std::vector<std::string> donation(const Buffer& input) const {
        for (size_t o = 0; o < plan_.outputs.size(); ++o)
            if (plan_.outputs[o].updates == input.id) return {fmt::format("tf.aliasing_output = {} : i32", o)};
        if (input.donated) return {"jax.buffer_donor = true"};
        return {};
    }

    static HloValues whole(const std::vector<NamedBuffer>& values, const std::vector<std::string>& names) {
        HloValues made;
        for (size_t n = 0; n < values.size(); ++n)
            made.push_back({names[n], values[n].buffer->dtype, values[n].buffer->global_shape});
        return made;
    }

    // A function over whole arrays, and in it what one device does with its part of each, if it does not do all.
    std::string function(std::string_view name, const std::vector<NamedBuffer>& inputs,
                         const std::vector<NamedBuffer>& outputs, const Writer& write) {
        HloBody body(program_, functions_, is_whole_ ? 4 : 6);
        std::vector<std::string> parts, wholes, typed, results;
        for (const NamedBuffer& input : inputs) parts.push_back(body.ops().fresh(input.name));
        for (size_t n = 0; n < inputs.size(); ++n) {
            const Buffer& of = *inputs[n].buffer;
            wholes.push_back(is_whole_ ? parts[n] : body.ops().fresh("whole." + of.name));
            typed.push_back(
                fmt::format("\n      {}: {} loc({})", wholes[n], argument_text(of, donation(of)), quoted(of.name)));
        }
        for (const NamedBuffer& output : outputs)
            results.push_back(
                "\n      " + argument_text(*output.buffer, {fmt::format("jax.result_info = {}", quoted(output.name))}));
        const HloValues made = write(body, parts);
        const std::string opening = fmt::format("  func.func public @{}({}) -> ({}) {{\n", name, fmt::join(typed, ","),
                                                fmt::join(results, ","));
        if (is_whole_)
            return opening + body.ops().text() +
                   fmt::format("    return {} : {}\n  }}\n", hlo_names(made), hlo_types(made));
        return opening + manual_computation(whole(inputs, wholes), inputs, parts, outputs, body.ops().text(), made);
    }

    std::string manual_computation(const HloValues& wholes, const std::vector<NamedBuffer>& inputs,
                                   const std::vector<std::string>& parts, const std::vector<NamedBuffer>& outputs,
                                   const std::string& body, const HloValues& made) const {
        std::vector<std::string> typed, names, axes;
        for (size_t n = 0; n < inputs.size(); ++n)
            typed.push_back(
                fmt::format("{}: {}", parts[n], hlo_type(inputs[n].buffer->dtype, inputs[n].buffer->shape)));
        for (size_t o = 0; o < outputs.size(); ++o)
            names.push_back(outputs.size() == 1 ? "%results" : fmt::format("%results#{}", o));
        for (const MeshAxis& axis : mesh_.axes()) axes.push_back(quoted(axis.name));
        const HloValues results = whole(outputs, names);
        return fmt::format("    %results{} = sdy.manual_computation({})\n", hlo_several(results.size()),
                           hlo_names(wholes)) +
               fmt::format("        in_shardings={}\n        out_shardings={}\n", shardings(inputs),
                           shardings(outputs)) +
               fmt::format("        manual_axes={{{}}} ({}) {{\n{}", fmt::join(axes, ", "), fmt::join(typed, ", "),
                           body) +
               fmt::format("      sdy.return {} : {}\n", hlo_names(made), hlo_types(made)) +
               fmt::format("    }} : ({}) -> ({})\n", hlo_types(wholes), hlo_types(results)) +
               fmt::format("    return {} : {}\n  }}\n", hlo_names(results), hlo_types(results));
    }

    const Plan& plan_;
    const NamedMesh& mesh_;
    const Plan& program_;
    bool is_alone_; // the plan has one device
    bool is_whole_; // the program has whole arrays
    HloFunctions functions_;
    std::vector<NamedBuffer> inputs_, outputs_;
};

std::optional<std::string> write(const Plan& plan, Diagnostics& diagnostics) {
    const std::optional<NamedMesh> mesh = NamedMesh::of(plan, diagnostics);
    if (!mesh || !draws_have_32_bits(plan, diagnostics)) return std::nullopt;
    return HloModule(plan, *mesh, plan).text();
}

std::optional<std::string> write_global(const Plan& plan, const Plan& alone, Diagnostics& diagnostics) {
    const std::optional<NamedMesh> mesh = NamedMesh::of(plan, diagnostics);
    if (!mesh || !draws_have_32_bits(alone, diagnostics) || !is_even(plan, diagnostics)) return std::nullopt;
    return HloModule(plan, *mesh, alone).text();
}

} // namespace

const TargetDef& target_stablehlo() {
    static const TargetDef def = {
        .name = "stablehlo",
        .doc = "the plan as a StableHLO module: what one device does, in an sdy.manual_computation over the mesh, and "
               "the planned collectives",
        .write = write,
        .write_global = write_global,
    };
    return def;
}

} // namespace shard
