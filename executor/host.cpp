#include "executor/host.h"

#include "executor/kernels/kernels.h"
#include "executor/strided.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace shard {

namespace {

const Buffer& buffer_of(const Plan& plan, int id) { return plan.buffers[static_cast<size_t>(id)]; }

std::vector<i64> start_of(const Plan& plan, const Buffer& buffer, const Device& device) {
    return local_start(plan.mesh, buffer.global_shape, buffer.sharding, device.coordinates());
}

} // namespace

bool check_inputs(const Plan& plan, const std::map<std::string, Tensor>& inputs, Diagnostics& diagnostics) {
    bool fine = true;
    for (const std::pair<const std::string, Tensor>& given : inputs) {
        const std::string& name = given.first;
        const Tensor& tensor = given.second;
        const std::vector<PlanInput>::const_iterator found = std::find_if(
            plan.inputs.begin(), plan.inputs.end(), [&, wanted = std::string_view(name)](const PlanInput& input) {
                return buffer_of(plan, input.buffer).name == wanted;
            });
        if (found == plan.inputs.end()) {
            std::vector<std::string_view> names;
            for (const PlanInput& input : plan.inputs) names.push_back(buffer_of(plan, input.buffer).name);
            const std::string_view near = nearest(name, names);
            DiagnosticBuilder error = diagnostics.error("E0603", {}, fmt::format("the plan has no input '{}'", name));
            if (!near.empty()) error.help(fmt::format("did you mean '{}'?", near));
            fine = false;
            continue;
        }
        const Buffer& buffer = buffer_of(plan, found->buffer);
        const bool dtype_fits =
            tensor.type.dtype == buffer.dtype || (tensor.type.dtype == DType::f32 && buffer.dtype == DType::bf16);
        if (!dtype_fits || tensor.type.shape != buffer.global_shape) {
            diagnostics.error("E0602", {},
                              fmt::format("input '{}' is {} {}, but the plan takes {} {}", name,
                                          shard::name(tensor.type.dtype), shape_text(tensor.type.shape),
                                          shard::name(buffer.dtype), shape_text(buffer.global_shape)));
            fine = false;
        } else if (static_cast<i64>(tensor.bytes.size()) != tensor.type.bytes()) {
            diagnostics.error("E0602", {},
                              fmt::format("input '{}' holds {} bytes, its type needs {}", name, tensor.bytes.size(),
                                          tensor.type.bytes()));
            fine = false;
        }
    }
    return fine;
}

void write_inputs(const Plan& plan, const std::map<std::string, Tensor>& inputs, Device& device) {
    for (const PlanInput& input : plan.inputs) {
        const Buffer& buffer = buffer_of(plan, input.buffer);
        const std::vector<i64> start = start_of(plan, buffer, device);
        std::byte* const to = device.touch(buffer);
        const std::map<std::string, Tensor>::const_iterator given = inputs.find(buffer.name);
        if (given == inputs.end()) {
            generate_box(input.init, start, {buffer.dtype, &buffer.shape, to});
            continue;
        }
        const Tensor& tensor = given->second;
        convert_strided(to, buffer.dtype,
                        tensor.bytes.data() + flat_index(buffer.global_shape, start) * byte_size(tensor.type.dtype),
                        tensor.type.dtype, box_copy(buffer.shape, buffer.shape, buffer.global_shape));
    }
}

bool read_outputs(const Plan& plan, std::span<const Device> devices, bool compare_replicas,
                  std::map<std::string, Tensor>& outputs, Diagnostics& diagnostics) {
    bool fine = true;
    for (const PlanOutput& output : plan.outputs) {
        const Buffer& buffer = buffer_of(plan, output.buffer);
        Tensor& tensor = outputs[output.name];
        tensor.type = {buffer.dtype, buffer.global_shape, {}};
        tensor.bytes.resize(static_cast<size_t>(tensor.type.bytes()));
        std::map<std::vector<i64>, const Device*> first_with;
        for (const Device& device : devices) {
            const std::vector<i64> start = start_of(plan, buffer, device);
            const auto [place, is_new] = first_with.emplace(start, &device);
            if (is_new) {
                copy_strided(tensor.bytes.data() + flat_index(buffer.global_shape, start) * byte_size(buffer.dtype),
                             device.data(buffer), byte_size(buffer.dtype),
                             box_copy(buffer.shape, buffer.global_shape, buffer.shape));
            } else if (compare_replicas && fine &&
                       std::memcmp(place->second->data(buffer), device.data(buffer),
                                   static_cast<size_t>(buffer.bytes)) != 0) {
                diagnostics.error("E0604", {},
                                  fmt::format("devices {} and {} hold different values of their common block of '{}'",
                                              plan.mesh.device_id(place->second->position()),
                                              plan.mesh.device_id(device.position()), output.name));
                fine = false;
            }
        }
    }
    return fine;
}

} // namespace shard
