#include "cli/run/own_gradients.h"

#include "executor/elements/element.h"
#include "executor/run/run.h"
#include "executor/verify/in_f64.h"
#include "planner/pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shard {

namespace {

// In f64 what is left is the rounding of the numbers in the program's text, which are of f32; of narrower ones that is as
// much as where all rounds.
constexpr double allowed_in_f64 = 1e-5, allowed_otherwise = 1e-2;

bool has_narrow_numbers(const Plan& plan) {
    return std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer& buffer) {
        return is_floating(buffer.dtype) && byte_size(buffer.dtype) < byte_size(DType::f32);
    });
}

// The program's mesh, of one device: constraints name its axes. "mesh: {fsdp: 4, tensor: 2}" begins a layout.
std::string mesh_of_one(const std::string& layout) {
    std::string mesh = layout.starts_with("mesh: {") ? layout.substr(0, layout.find('\n')) : "mesh: {}";
    for (size_t at = mesh.find(": ", 6); at != std::string::npos; at = mesh.find(": ", at + 2)) {
        const size_t end = mesh.find_first_of(",}", at);
        mesh.replace(at + 2, end - at - 2, "1");
    }
    return mesh + "\n";
}

std::optional<Plan> planned(const ImportedProgram& program, const std::string& mode, Diagnostics& diagnostics) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", program.model);
    request.layout_file = sources.add("layout.yaml", program.is_on_mesh ? program.layout : mesh_of_one(program.layout));
    request.mode = mode;
    Compilation made = compile(sources, request);
    for (Diagnostic problem : made.diagnostics.all()) {
        if (problem.severity != Severity::error) continue;
        problem.labels.clear(); // places in a text that nobody has
        diagnostics.add(problem);
    }
    return std::move(made.plan);
}

std::vector<double> numbers_of(const Tensor& tensor) {
    std::vector<double> numbers(static_cast<size_t>(element_count(tensor.type.shape)));
    visit_dtype(tensor.type.dtype, [&]<typename Element>(Element) {
        const Element* const elements = reinterpret_cast<const Element*>(tensor.bytes.data());
        for (size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<double>(static_cast<Computed<Element>>(elements[i]));
    });
    return numbers;
}

// At 0 ops may have a kink, as |x| has, where JAX's gradient is one of several that are as good.
void move_off_zeros(Tensor& tensor) {
    visit_dtype(tensor.type.dtype, [&]<typename Element>(Element) {
        if constexpr (is_float_element<Element>) {
            Element* const elements = reinterpret_cast<Element*>(tensor.bytes.data());
            for (i64 i = 0; i < element_count(tensor.type.shape); ++i)
                if (static_cast<Computed<Element>>(elements[i]) == 0)
                    elements[i] = convert_value<Element>(i % 2 == 0 ? 0x1p-9f : -0x1p-9f);
        }
    });
}

// By name, the output that is the next value of each input.
std::map<std::string, std::string> next_values(const Plan& plan) {
    std::map<int, std::string> names;
    for (const PlanInput& input : plan.inputs) names[input.buffer] = plan.buffers[input.buffer].name;
    std::map<std::string, std::string> next;
    for (const PlanOutput& output : plan.outputs)
        if (output.updates >= 0) next[names.at(output.updates)] = output.name;
    return next;
}

} // namespace

std::optional<GradientComparison> compare_gradients(const ImportedProgram& loss, const ImportedProgram& whole,
                                                    Diagnostics& diagnostics) {
    std::optional<Plan> step = planned(loss, "train", diagnostics);
    std::optional<Plan> program = step ? planned(whole, "forward", diagnostics) : std::nullopt;
    if (!program) return std::nullopt;
    RunOptions options;
    std::optional<std::map<std::string, Tensor>> begin = beginning(*step, options, diagnostics);
    if (!begin) return std::nullopt;
    for (const auto& [name, result] : loss.gradients) move_off_zeros(begin->at(name));
    GradientComparison made;
    const bool is_exact = !takes_float_bits(*step) && !takes_float_bits(*program);
    made.allowed = is_exact && !has_narrow_numbers(*program) ? allowed_in_f64 : allowed_otherwise;
    if (is_exact) step = in_f64(*step), program = in_f64(*program);
    options.inputs = *begin;
    const std::optional<RunResult> stepped = run_plan(*step, options, diagnostics);
    if (!stepped) return std::nullopt;
    // Both begin with the same values, whatever they call them: layers that are alike are folded in one of them.
    std::map<std::string_view, std::string_view> of_loss;
    for (const auto& [path, name] : loss.names) of_loss[path] = name;
    options.inputs.clear();
    for (const auto& [path, name] : whole.names)
        if (const auto it = of_loss.find(path); it != of_loss.end())
            options.inputs[name] = begin->at(std::string(it->second));
    const std::optional<RunResult> ran = run_plan(*program, options, diagnostics);
    if (!ran) return std::nullopt;

    std::map<size_t, std::string> outputs; // by result of the program
    for (size_t o = 0; o < whole.results.size(); ++o) outputs[whole.results[o]] = program->outputs[o].name;
    const std::map<std::string, std::string> next = next_values(*step);
    double largest = 0;
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> both;
    for (const auto& [name, result] : loss.gradients) {
        if (!next.contains(name) || !outputs.contains(result)) continue;
        std::vector<double> own = numbers_of(ran->outputs.at(outputs.at(result))), before = numbers_of(begin->at(name));
        const std::vector<double> after = numbers_of(stepped->outputs.at(next.at(name)));
        for (size_t i = 0; i < before.size(); ++i) before[i] -= after[i]; // by sgd with a learning rate of 1
        for (const std::vector<double>* const gradient : {&own, &before})
            for (const double x : *gradient) largest = std::max(largest, std::abs(x));
        made.parameters.push_back({name, 0});
        both[name] = {std::move(own), std::move(before)};
    }
    for (GradientComparison::Parameter& parameter : made.parameters) {
        const auto& [own, other] = both.at(parameter.name);
        for (size_t i = 0; i < own.size(); ++i) {
            if (!std::isfinite(own[i]) || !std::isfinite(other[i])) {
                diagnostics
                    .error("E0812", {},
                           fmt::format("the gradient of '{}' is no number where the model begins", parameter.name))
                    .help("nothing is compared there: give parameters another `init` and compare by `run`");
                return std::nullopt;
            }
            if (own[i] == other[i]) continue;
            parameter.difference = std::max(parameter.difference, std::abs(own[i] - other[i]) / largest);
        }
    }
    for (const auto& [name, output] : next)
        if (!both.contains(name) &&
            std::any_of(loss.names.begin(), loss.names.end(), [&](const auto& each) { return each.second == name; }))
            made.without.push_back(name);
    return made;
}

} // namespace shard
