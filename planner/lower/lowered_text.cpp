// The file around the body: inputs and parameters with the numbers that they start from, and the region's border.
#include "planner/lower/lowered_text.h"

#include "planner/lower/lowered_body.h"
#include "planner/optimize/optimize.h"
#include "planner/partition/local.h"
#include "planner/partition/partition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// The initializer, with its key: keys that follow from names and places are others here.
std::string init_text(const Graph& graph, const Value& value) {
    const Generate& init = *value.init;
    if (const Fill* fill = std::get_if<Fill>(&init.source))
        return fill->value == 0 ? "zeros" : fmt::format("{{constant: {{value: {}}}}}", fill->value);
    const Random& random = std::get<Random>(init.source);
    const auto words = [](const Key& key) { return fmt::format("[{}, {}]", key.k0, key.k1); };
    std::vector<std::string> layers;
    for (const Key& layer : random.layers) layers.push_back(words(layer));
    const std::string key =
        layers.empty() ? fmt::format("key: {}", words(random.key)) : fmt::format("key: [{}]", fmt::join(layers, ", "));
    const Distribution& distribution = random.distribution;
    const std::string written = value.decl < 0 ? "" : graph.declared[value.decl].init_text;
    if (!written.empty()) return fmt::format("{{{}, {}}}", written, key);
    switch (distribution.kind) { // the defaults of planner/build/build_inputs.h
    case DistributionKind::normal:
        return fmt::format("{{normal: {{stddev: 1.0}}, {}}}", key);
    case DistributionKind::bernoulli:
        return fmt::format("{{bernoulli: {{}}, {}}}", key);
    default:
        return fmt::format("{{lecun_normal: {{}}, {}}}", key);
    }
}

std::string tensor_text(const Graph& graph, const Value& value, const Shape& shape, const std::string& name) {
    std::string text = fmt::format("  {}: {{shape: {}", name, list_text(shape));
    if (value.type.dtype != DType::f32) text += fmt::format(", dtype: {}", shard::name(value.type.dtype));
    return text + fmt::format(", init: {}}}\n", init_text(graph, value));
}

} // namespace

std::optional<std::string> lowered_text(const Compilation& compilation, Diagnostics& diagnostics) {
    const Graph& graph = *compilation.graph;
    const Mesh& mesh = compilation.layout->mesh;
    // As planned, but with one node an op: fused kernels have no names.
    Local local = partition(graph, *compilation.propagation, *compilation.decisions, compilation.joint);
    simplify_reshards(local);

    LoweredBody body(local.graph, mesh, diagnostics);
    // Blocks are of one size: padding is written out around the region.
    std::string inputs, params, in, out, results, padded, cropped;
    const Padding& padding = compilation.padding;
    for (size_t n = 0; n < graph.inputs.size(); ++n) {
        const Value& value = graph.value(graph.inputs[n]);
        const std::string name = body.name_input(local.graph.inputs[n], value.name);
        const Shape& real = padding.real_shape(graph, graph.inputs[n]);
        const bool is_padded = padding.is_padded(graph.inputs[n]);
        const std::string given = is_padded ? name + "_unpadded" : name;
        (value.role == Role::param || value.role == Role::variable ? params : inputs) +=
            tensor_text(graph, value, real, given);
        Shape behind = value.type.shape;
        for (size_t d = 0; d < behind.size(); ++d) behind[d] -= real[d];
        if (is_padded) padded += fmt::format("  - {}: {{pad: {}, high: {}}}\n", name, given, list_text(behind));
        in += fmt::format("{}{}: {}", in.empty() ? "" : ", ", name,
                          body.sharding_text(local.graph.value(local.graph.inputs[n]).part->sharding));
    }
    const std::string lines = body.write("          ");
    for (size_t o = 0; o < local.graph.outputs.size(); ++o) {
        const ValueId id = local.graph.outputs[o];
        const std::string result = plain_name(graph.output_names[o]);
        results += (o > 0 ? ", " : "") + result;
        if (padding.is_padded(graph.outputs[o]))
            cropped += fmt::format("  - {0}: {{slice: {0}, limit: {1}}}\n", result,
                                   list_text(padding.real_shape(graph, graph.outputs[o])));
        // One value may be returned twice, but `out` names it once: then by another name.
        out += fmt::format("{}{}: {}", o > 0 ? ", " : "", body.output(id),
                           body.sharding_text(local.graph.value(id).part->sharding));
    }
    const std::string more = body.output_lines("          ");
    if (!body.ok()) return std::nullopt;

    std::string text = fmt::format("# {}, {}, on {}, as the program of one device.\n", compilation.plan->model,
                                   compilation.plan->mode, mesh_words(mesh));
    text += fmt::format("model: {}_lowered\n", plain_name(compilation.plan->model));
    text += fmt::format("rng: {{partitionable: {}, keys: explicit}}\n", compilation.model->partitionable);
    if (!inputs.empty()) text += "inputs:\n" + inputs;
    if (!params.empty()) text += "params:\n" + params;
    if (!body.modules().empty()) text += "modules:\n" + body.modules();
    text += "graph:\n" + padded;
    for (const std::string& line : entry_lines(results, "")) text += fmt::format("  {}\n", line);
    text += fmt::format("      manual:\n        in: {{{}}}\n        out: {{{}}}\n", in, out);
    if (!body.checks()) text += "        check: false\n";
    text += "        body:\n" + lines + more + cropped;
    return text + fmt::format("outputs: [{}]\n", results);
}

} // namespace shard
