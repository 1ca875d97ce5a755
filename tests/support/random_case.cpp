#include "tests/support/random_case.h"

#include "tests/support/case_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

const std::vector<std::vector<i64>> meshes = {{2, 2},       {4},    {2, 4},    {2, 2, 2}, {8},       {3, 2}, {2, 1, 3},
                                              {1},          {6},    {4, 2},    {2, 3, 2}, {5},       {3, 3}, {6, 2},
                                              {2, 2, 2, 2}, {4, 4}, {12},      {16},      {10},      {5, 2}, {8, 8},
                                              {4, 16},      {64},   {2, 8, 4}, {4, 4, 4}, {1, 2, 1}, {7}};
const std::vector<std::vector<i64>> small_meshes = {{2, 2}, {4}, {3}, {2, 3}, {5}, {2, 2, 2}, {3, 2}, {8}, {4, 2}, {1}};
const std::vector<i64> dim_sizes = {4, 8, 12, 6, 2, 24, 1, 3, 5, 16, 10};

void write_mesh(CaseWriter& w) {
    const std::vector<std::vector<i64>>& offered = w.options.uneven ? small_meshes : meshes;
    for (i64 size : offered[w.choose(offered.size())])
        w.mesh.push_back({std::string(1, static_cast<char>('x' + static_cast<char>(w.mesh.size()))), size});
    for (CaseAxis& axis : w.mesh)
        if (axis.name == "{") axis.name = "u"; // after z
}

// Linen: any rules, only such that the axis divides. NNX: one rule an axis, and no mesh axis twice.
std::string write_rules(CaseWriter& w, bool nnx) {
    std::string rules;
    size_t next_axis = 0;
    for (const char* name : {"a", "b", "c", "d"}) {
        const i64 size = dim_sizes[w.choose(dim_sizes.size())];
        w.logical.push_back({name, size});
        if (nnx) {
            const bool fits = next_axis < w.mesh.size() && may_split(w, size, w.mesh[next_axis].size);
            rules += fmt::format("  - {{{}: {}}}\n", name, fits ? w.mesh[next_axis].name : "~");
            next_axis += fits ? 1 : 0;
            continue;
        }
        for (size_t count = w.choose(3); count > 0; --count) {
            const CaseAxis &first = w.mesh[w.choose(w.mesh.size())], &second = w.mesh[w.choose(w.mesh.size())];
            if (first.name != second.name && may_split(w, size, first.size * second.size))
                rules += fmt::format("  - {{{}: [{}, {}]}}\n", name, first.name, second.name);
            else if (may_split(w, size, first.size))
                rules += fmt::format("  - {{{}: {}}}\n", name, first.name);
            else if (w.chance(2))
                rules += fmt::format("  - {{{}: \"?\"}}\n", name);
        }
    }
    return rules;
}

void write_tensors(CaseWriter& w) {
    const size_t count = 2 + w.choose(3);
    for (size_t n = 0; n < count; ++n) {
        const size_t rank = (n == 0 ? 2 : 1) + w.choose(2);
        std::vector<std::string> names;
        std::vector<i64> shape;
        for (size_t d = 0; d < rank; ++d) {
            const CaseAxis& axis = w.logical[(n + d) % 4];
            names.push_back(axis.name);
            shape.push_back(axis.size);
        }
        static const std::vector<std::string> dtypes = {"f32", "f32", "f32",  "f32", "f32",
                                                        "f32", "i32", "bf16", "f64", "bool"};
        w.tensor(shape, n == 0 ? "f32" : w.choose(dtypes), names);
    }
}

void write_graph(CaseWriter& w) {
    const size_t count = 1 + w.choose(8);
    for (size_t n = 0; n < count; ++n) {
        static const std::vector<const std::vector<CaseStep>& (*)()> kinds = {
            pointwise_steps, contraction_steps, move_steps,  move_steps,
            pointwise_steps, composite_steps,   order_steps, window_steps};
        const std::vector<CaseStep>& steps = w.chance(12) ? draw_steps() : kinds[w.choose(kinds.size())]();
        steps[w.choose(steps.size())](w);
        if (elements_of(w.values.back().shape) > w.options.most_elements) break; // more would only take time
    }
}

// Overrides of tensors, values and outputs by pattern, each with a sharding of its own.
std::string write_overrides(CaseWriter& w, const std::vector<Known>& outputs) {
    std::string text;
    for (const char* section : {"inputs", "params"}) {
        std::vector<Known> found;
        for (const Known& tensor : w.tensors)
            if (tensor.dtype == section) found.push_back(tensor);
        if (found.empty() || !w.chance(5)) continue;
        const Known& tensor = found[w.choose(found.size())];
        const std::string glob = w.chance(2) && tensor.name.size() == 2 ? "?" + tensor.name.substr(1) : tensor.name;
        text += fmt::format("{}: {{\"{}\": {}}}\n", section, glob, random_spec(w, tensor.shape));
    }
    const Known value = w.any([](const Known& known) { return known.name[0] == 'v'; });
    if (w.chance(6)) text += fmt::format("values: {{{}: {}}}\n", value.name, random_spec(w, value.shape));
    if (w.chance(4)) text += fmt::format("outputs: {{{}: {}}}\n", outputs[0].name, random_spec(w, outputs[0].shape));
    return text;
}

std::string device_ids(CaseWriter& w) {
    i64 count = 1;
    for (const CaseAxis& axis : w.mesh) count *= axis.size;
    std::vector<i64> ids;
    for (i64 id = 0; id < count; ++id) ids.push_back(id);
    if (w.chance(2)) std::reverse(ids.begin(), ids.end());
    std::rotate(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(w.choose(ids.size())), ids.end());
    return fmt::format("device_ids: [{}]\n", fmt::join(ids, ", "));
}

} // namespace

RandomCase random_case(const std::vector<std::uint32_t>& numbers, const RandomCaseOptions& options) {
    CaseWriter w{Tape(numbers), options, {}, {}, {}, {}, {}, {}, {}, {}, 0, 0, 0};
    write_mesh(w);
    const bool nnx = w.chance(6);
    const std::string rules = write_rules(w, nnx);
    write_tensors(w);
    write_graph(w);
    std::vector<Known> outputs = {w.values.back()};
    const Known second =
        w.any([&](const Known& value) { return value.name[0] == 'v' && value.name != outputs[0].name; });
    if (w.chance(2) && !second.name.empty()) outputs.push_back(second);

    RandomCase result;
    result.model = "model: random\naxes: {";
    for (const CaseAxis& axis : w.logical)
        result.model += fmt::format("{}{}: {}", &axis == w.logical.data() ? "" : ", ", axis.name, axis.size);
    result.model += "}\n";
    if (!w.inputs.empty()) result.model += "inputs:\n" + w.inputs;
    if (!w.params.empty()) result.model += "params:\n" + w.params;
    if (!w.modules.empty()) result.model += "modules:\n" + w.modules;
    result.model += fmt::format("graph:\n{}outputs: [{}{}]\n", w.graph, outputs[0].name,
                                outputs.size() > 1 ? ", " + outputs[1].name : "");

    result.layout = "mesh: {";
    for (const CaseAxis& axis : w.mesh)
        result.layout += fmt::format("{}{}: {}", &axis == w.mesh.data() ? "" : ", ", axis.name, axis.size);
    result.layout += "}\n";
    if (w.chance(6)) result.layout += device_ids(w);
    if (!rules.empty()) result.layout += "rules:\n" + rules;
    if (nnx) result.layout += "semantics: nnx\n";
    if (options.uneven) result.layout += "divisibility: pad\n";
    result.layout += write_overrides(w, outputs);
    result.layout +=
        fmt::format("hardware: {}\n", w.choose({"uniform", "uniform", "tpu-v5e", "h100", "host", "gb200-nvl72"}));
    if (w.chance(4)) result.layout += fmt::format("prefer: {}\n", w.choose({"bytes", "compute", "memory"}));
    if (w.chance(2))
        result.layout +=
            fmt::format("attention: {}\n", w.choose({"gather", "ring", "zigzag", "all_to_all", "combine"}));
    if (w.chance(3))
        result.layout += fmt::format("fsdp: {{axis: {}, min_size: 1, gather: {}, gather_again: {}}}\n",
                                     w.mesh[w.choose(w.mesh.size())].name, w.choose({"auto", "always"}),
                                     w.choose({"true", "false", "auto"}));
    result.workers = static_cast<int>(w.choose(5));
    return result;
}

} // namespace shard
