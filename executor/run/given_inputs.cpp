#include "executor/run/given_inputs.h"

#include "executor/run/declared_at.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// The plan's input of this name; reports E0603 if there is none.
const PlanInput* find_input(const Plan& plan, const std::string& name, Diagnostics& diagnostics) {
    for (const PlanInput& input : plan.inputs)
        if (plan.buffers[input.buffer].name == name) return &input;
    std::vector<std::string_view> names;
    for (const PlanInput& input : plan.inputs) names.push_back(plan.buffers[input.buffer].name);
    diagnostics.error("E0603", {}, fmt::format("the plan has no input '{}'", name))
        .help(did_you_mean(name, names, fmt::format("there are {}", fmt::join(names, ", "))));
    return nullptr;
}

bool check_bytes(const std::string& name, const Tensor& tensor, Diagnostics& diagnostics) {
    if (static_cast<i64>(tensor.bytes.size()) == tensor.type.bytes()) return true;
    diagnostics.error(
        "E0602", {},
        fmt::format("input '{}' holds {} bytes, its type needs {}", name, tensor.bytes.size(), tensor.type.bytes()));
    return false;
}

std::string loss_help(const StoredType& type, DType wanted) {
    const bool are_floats = is_floating(wanted) && is_floating(type.dtype);
    return are_floats ? fmt::format("shardc does not round it: numpy does, with x.astype('{}')",
                                    has_numpy_name(wanted) ? info(wanted).also.front() : "float32")
                      : "";
}

} // namespace

bool check_data(const Plan& plan, const std::string& name, const StoredType& type, const Shape& shape,
                Diagnostics& diagnostics) {
    const PlanInput* input = find_input(plan, name, diagnostics);
    if (input == nullptr) return false;
    for (const PlanOutput& output : plan.outputs) {
        if (output.updates != input->buffer) continue;
        diagnostics
            .error("E0602", declared_at(plan, name),
                   fmt::format("'{}' is updated by every step, so no data can be given for it", name))
            .help(fmt::format("give what it begins with: --input {}=FILE.npy", name));
        return false;
    }
    const Buffer& buffer = plan.buffers[input->buffer];
    const bool fits = fit_of(type, buffer.dtype) != Fit::refused;
    const bool has_steps =
        !shape.empty() && shape.front() > 0 && Shape(shape.begin() + 1, shape.end()) == buffer.real_shape();
    if (fits && has_steps) return true;
    Shape wanted = buffer.real_shape();
    wanted.insert(wanted.begin(), shape.empty() ? 1 : std::max<i64>(shape.front(), 1));
    diagnostics
        .error("E0602", declared_at(plan, name),
               fmt::format("data for '{}' is {} {}, but the plan takes {} {} in a step", name, shard::name(type),
                           shape_text(shape), shard::name(buffer.dtype), shape_text(buffer.real_shape())))
        .help(has_steps ? loss_help(type, buffer.dtype)
                        : fmt::format("a file of data has the steps as its first dim: {}", shape_text(wanted)));
    return false;
}

bool check_input(const Plan& plan, const std::string& name, const StoredType& type, const Shape& shape,
                 Diagnostics& diagnostics) {
    const PlanInput* input = find_input(plan, name, diagnostics);
    if (input == nullptr) return false;
    const Buffer& buffer = plan.buffers[input->buffer];
    if (fit_of(type, buffer.dtype) != Fit::refused && shape == buffer.real_shape()) return true;
    diagnostics
        .error("E0602", declared_at(plan, name),
               fmt::format("input '{}' is {} {}, but the plan takes {} {}", name, shard::name(type), shape_text(shape),
                           shard::name(buffer.dtype), shape_text(buffer.real_shape())))
        .help(shape == buffer.real_shape() ? loss_help(type, buffer.dtype) : "");
    return false;
}

bool check_inputs(const Plan& plan, const RunOptions& options, Diagnostics& diagnostics) {
    bool fine = true;
    for (const auto& [name, tensor] : options.inputs)
        fine = check_input(plan, name, StoredType{tensor.type.dtype}, tensor.type.shape, diagnostics) &&
               check_bytes(name, tensor, diagnostics) && fine;
    for (const auto& [name, tensor] : options.data)
        fine = check_data(plan, name, StoredType{tensor.type.dtype}, tensor.type.shape, diagnostics) &&
               check_bytes(name, tensor, diagnostics) && fine;
    return fine;
}

} // namespace shard
