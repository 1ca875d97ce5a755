#include "executor/run/host.h"

#include "executor/checkpoint/checkpoint.h"
#include "executor/devices/nudge.h"
#include "executor/elements/element.h"
#include "executor/elements/strided.h"
#include "executor/formats/tensor.h"
#include "executor/kernels/generate.h"
#include "executor/kernels/kernels.h"
#include "executor/run/declared_at.h"
#include "plans/plan/real_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace shard {

namespace {

const Buffer& buffer_of(const Plan& plan, int id) { return plan.buffers[id]; }

RealPart part_of(const Plan& plan, const Buffer& buffer, const Device& device) {
    return real_part(plan.mesh, buffer, device.coordinates());
}

// Padding of inputs, parameters and states is zeros.
void clear_padding(const Buffer& buffer, const RealPart& part, Device& device) {
    if (part.shape != buffer.shape) std::memset(device.touch(buffer), 0, static_cast<size_t>(buffer.bytes));
}

// One device's part of a whole value.
void write_part(const Plan& plan, const Buffer& buffer, const std::byte* whole, DType dtype, Device& device) {
    const RealPart part = part_of(plan, buffer, device);
    clear_padding(buffer, part, device);
    if (part.empty()) return;
    convert_strided(device.touch(buffer), buffer.dtype,
                    whole + flat_index(buffer.real_shape(), part.start) * byte_size(dtype), dtype,
                    box_copy(part.shape, buffer.shape, buffer.real_shape()));
}

// A value depends on its place in the whole without padding.
void generate_part(const Buffer& buffer, const Generate& init, const RealPart& part, Device& device) {
    if (part.shape == buffer.shape)
        return generate_box(init, part.start, {buffer.dtype, &buffer.shape, device.touch(buffer)});
    clear_padding(buffer, part, device);
    if (part.empty()) return;
    std::vector<std::byte> made(static_cast<size_t>(element_count(part.shape) * byte_size(buffer.dtype)));
    generate_box(init, part.start, {buffer.dtype, &part.shape, made.data()});
    copy_strided(device.touch(buffer), made.data(), byte_size(buffer.dtype),
                 box_copy(part.shape, buffer.shape, part.shape));
}

} // namespace

bool write_inputs(const Plan& plan, const RunOptions& options, Device& device, std::string& problem) {
    for (const PlanInput& input : plan.inputs) {
        const Buffer& buffer = buffer_of(plan, input.buffer);
        const std::map<std::string, Tensor>::const_iterator given = options.inputs.find(buffer.name);
        const RealPart part = part_of(plan, buffer, device);
        if (given != options.inputs.end()) {
            write_part(plan, buffer, given->second.bytes.data(), given->second.type.dtype, device);
        } else if (options.restore != nullptr && options.restore->selected(buffer.name)) {
            clear_padding(buffer, part, device);
            if (!options.restore->read(buffer, part.start, device.touch(buffer), problem)) return false;
        } else if (!options.restored_by_first.contains(buffer.name)) {
            generate_part(buffer, input.init, part, device);
        }
        nudge_values(options.nudge, buffer, device.touch(buffer));
    }
    return true;
}

void write_data(const Plan& plan, const std::map<std::string, Tensor>& data, i64 step, Device& device) {
    for (const PlanInput& input : plan.inputs) {
        const Buffer& buffer = buffer_of(plan, input.buffer);
        const std::map<std::string, Tensor>::const_iterator given = data.find(buffer.name);
        if (given == data.end()) continue;
        const TensorType& type = given->second.type;
        const i64 count = type.shape.front(), bytes = type.bytes() / count; // check_inputs has seen that there is one
        write_part(plan, buffer, given->second.bytes.data() + step % count * bytes, type.dtype, device);
    }
}

void report_difference(const Plan& plan, const Buffer& buffer, i64 one, i64 other, Diagnostics& diagnostics) {
    diagnostics
        .error("E0604", declared_at(plan, buffer.name),
               fmt::format("devices {} and {} hold different values of their common block of '{}'",
                           plan.mesh.device_id(one), plan.mesh.device_id(other), buffer.name))
        .help("a manual region with `check: false` must give what is the same on all devices; without one, if the plan "
              "file was edited, plan the model again, else report it as a bug");
}

bool read_buffer(const Plan& plan, std::span<const Device> devices, bool compare_replicas, int id, Tensor& tensor,
                 Diagnostics& diagnostics) {
    const Buffer& buffer = buffer_of(plan, id);
    tensor.type = {buffer.dtype, buffer.real_shape(), {}};
    tensor.bytes.resize(tensor.type.bytes());
    bool fine = true;
    std::map<std::vector<i64>, const Device*> first_with;
    for (const Device& device : devices) {
        const RealPart part = part_of(plan, buffer, device);
        if (part.empty()) continue;
        const auto [place, is_new] = first_with.emplace(part.start, &device);
        if (is_new) {
            copy_strided(tensor.bytes.data() + flat_index(buffer.real_shape(), part.start) * byte_size(buffer.dtype),
                         device.data(buffer), byte_size(buffer.dtype),
                         box_copy(part.shape, buffer.real_shape(), buffer.shape));
        } else if (compare_replicas && fine &&
                   std::memcmp(place->second->data(buffer), device.data(buffer), buffer.bytes) != 0) {
            report_difference(plan, buffer, place->second->position(), device.position(), diagnostics);
            fine = false;
        }
    }
    return fine;
}

std::map<std::string, double> read_scalars(const Plan& plan, const Device& device) {
    std::map<std::string, double> scalars;
    for (const PlanOutput& output : plan.outputs) {
        const Buffer& buffer = buffer_of(plan, output.buffer);
        if (output.is_update() || element_count(buffer.real_shape()) != 1) continue;
        visit_dtype(buffer.dtype, [&](auto zero) {
            decltype(zero) value;
            std::memcpy(&value, device.data(buffer), sizeof value);
            scalars[output.name] = convert_value<double>(value);
        });
    }
    return scalars;
}

bool read_outputs(const Plan& plan, std::span<const Device> devices, std::map<std::string, Tensor>& outputs,
                  Diagnostics& diagnostics) {
    bool fine = true;
    for (const PlanOutput& output : plan.outputs)
        fine = read_buffer(plan, devices, fine, output.buffer, outputs[output.name], diagnostics) && fine;
    return fine;
}

} // namespace shard
