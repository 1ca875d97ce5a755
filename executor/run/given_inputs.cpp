#include "executor/run/given_inputs.h"

#include "executor/run/declared_at.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

bool is_updated(const Plan& plan, const PlanInput& input) {
    return std::any_of(plan.outputs.begin(), plan.outputs.end(),
                       [&](const PlanOutput& output) { return output.updates == input.buffer; });
}

// The plan's input of this name; reports E0603 if there is none.
const PlanInput* find_input(const Plan& plan, const std::string& name, bool for_data, Diagnostics& diagnostics) {
    for (const PlanInput& input : plan.inputs)
        if (plan.buffers[input.buffer].name == name) return &input;
    const std::vector<std::string_view> names = names_of_inputs(plan, for_data);
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

std::vector<std::string_view> names_of_inputs(const Plan& plan, bool for_data) {
    std::vector<std::string_view> names;
    for (const PlanInput& input : plan.inputs)
        if (!for_data || !is_updated(plan, input)) names.push_back(plan.buffers[input.buffer].name);
    return names;
}

bool check_data(const Plan& plan, const std::string& name, const StoredType& type, const Shape& shape,
                Diagnostics& diagnostics) {
    const PlanInput* input = find_input(plan, name, true, diagnostics);
    if (input == nullptr) return false;
    if (is_updated(plan, *input)) {
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
    const std::string in_a_step = shape_text(buffer.real_shape());
    const bool is_one = shape == buffer.real_shape();
    // How many steps are in the file only shows where it has a dim for them.
    const bool has_dim = shape.size() == buffer.real_shape().size() + 1;
    const std::string whole =
        fmt::format("({}{})", has_dim ? fmt::format("{}", std::max<i64>(shape.front(), 1)) : "STEPS",
                    buffer.real_shape().empty() ? "," : fmt::format(", {}", fmt::join(buffer.real_shape(), ", ")));
    diagnostics
        .error("E0602", declared_at(plan, name),
               is_one ? fmt::format("data for '{}' is {} {}, which is one step without a dim of steps", name,
                                    shard::name(type), in_a_step)
                      : fmt::format("data for '{}' is {} {}, but the plan takes {} {} in a step", name,
                                    shard::name(type), shape_text(shape), shard::name(buffer.dtype), in_a_step))
        .help(has_steps ? loss_help(type, buffer.dtype)
              : is_one ? fmt::format("what is the same in every step is given with --input {}=FILE.npy; a file of data "
                                     "has the steps as its first dim: {}",
                                     name, whole)
                       : fmt::format("a file of data has the steps as its first dim: {}", whole));
    return false;
}

bool check_input(const Plan& plan, const std::string& name, const StoredType& type, const Shape& shape,
                 Diagnostics& diagnostics) {
    const PlanInput* input = find_input(plan, name, false, diagnostics);
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
