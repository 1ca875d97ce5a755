#include "executor/devices/device.h"

#include "executor/devices/memory_checks.h"
#include "executor/elements/element.h"
#include "executor/kernels/kernels.h"
#include "executor/kernels/pointwise.h"

#include <algorithm>
#include <cstring>

namespace shard {

namespace {

// What a nudge is for: numbers from nothing, and sums, which another engine or another layout makes in another order, so
// that two that are equal here need not cancel to nothing there.
bool makes_or_sums(const Kernel& kernel) {
    const auto is_index = [](const ScalarStep& step) { return step.op == ScalarOp::index; };
    if (const Pointwise* program = program_of(kernel);
        program != nullptr && std::any_of(program->steps.begin(), program->steps.end(), is_index))
        return true;
    if (const Reduce* reduce = std::get_if<Reduce>(&kernel)) return reduce->op == ReduceOp::sum;
    if (const ReduceWindows* windows = std::get_if<ReduceWindows>(&kernel)) return windows->op == ReduceOp::sum;
    return std::holds_alternative<Generate>(kernel) || std::holds_alternative<Contract>(kernel) ||
           std::holds_alternative<Convolve>(kernel) || std::holds_alternative<Attend>(kernel) ||
           std::holds_alternative<Scan>(kernel) || std::holds_alternative<Scatter>(kernel) ||
           std::holds_alternative<SelectWindows>(kernel);
}

} // namespace

Device::Device(const Machine& machine, int position)
    : machine_(machine), position_(position), arena_(machine.arenas.of(position)),
      coordinates_(coordinates_of(machine.plan.mesh, position)), loops_(machine.program.loop_indices, 0),
      entered_(machine.timed ? machine.program.loop_indices : 0) {}

void Device::restart() {
    counter_ = 0;
    std::fill(loops_.begin(), loops_.end(), 0);
    runs_.clear();
}

void Device::note(const DeviceInstruction& done) {
    if (done.kind == DeviceInstruction::Kind::loop)
        entered_[done.loop->index] = arrived_;
    else if (done.kind == DeviceInstruction::Kind::end_loop)
        runs_.push_back({done.step, entered_[done.loop->index], Clock::now()});
    else
        runs_.push_back({done.step, arrived_, Clock::now()});
}

std::byte* Device::touch(const Buffer& buffer) {
    const Plan& plan = machine_.plan;
    internal_check(buffer.offset >= 0 &&
                       buffer.offset + buffer.bytes <= (buffer.on_host ? plan.host_arena_bytes : plan.arena_bytes),
                   "a buffer outside its arena");
    i64& touched = buffer.on_host ? host_touched_ : touched_;
    touched = std::max(touched, buffer.offset + buffer.bytes);
    allow_bytes(data(buffer), buffer.bytes);
    return data(buffer);
}

void Device::poison(i64 place, i64 bytes) {
    allow_bytes(arena_ + place, bytes);
    if (machine_.poison) std::memset(arena_ + place, poison_byte, bytes);
    forbid_bytes(arena_ + place, bytes);
}

i64 Device::read_scalar(const void* state, int id) {
    const Device& device = *static_cast<const Device*>(state);
    const Buffer& buffer = device.buffer(id);
    return visit_dtype(buffer.dtype, [&](auto zero) -> i64 {
        decltype(zero) value;
        std::memcpy(&value, device.data(buffer), sizeof value);
        return convert_value<i64>(value);
    });
}

std::vector<Operand> Device::operands(const Compute& step) {
    std::vector<Operand> inputs;
    for (int id : step.inputs) inputs.push_back({buffer(id).dtype, &buffer(id).shape, touch(buffer(id))});
    return inputs;
}

// Pointwise steps use no scratch; what is released between them is released after them.
void Device::compute_together(std::span<const DeviceInstruction> run, Team& team) {
    Scratch scratch(arena_, 0);
    const AffineContext here = context();
    std::vector<std::vector<Operand>> inputs;
    inputs.reserve(run.size()); // calls point into it
    std::vector<const Pointwise*> kernels;
    std::vector<KernelCall> calls;
    for (const DeviceInstruction& each : run) {
        if (each.compute == nullptr) continue;
        const Buffer& output = buffer(each.compute->output);
        inputs.push_back(operands(*each.compute));
        kernels.push_back(&std::get<Pointwise>(*each.compute->kernel));
        calls.push_back({inputs.back(), {output.dtype, &output.shape, touch(output)}, scratch, here, &team});
    }
    run_pointwise_together(kernels, calls);
    for (const DeviceInstruction& each : run)
        if (each.kind == DeviceInstruction::Kind::release)
            poison(place_of(machine_.plan, buffer(each.buffer)), buffer(each.buffer).bytes);
}

void Device::compute(const Compute& step, Team& team) {
    const std::vector<Operand> inputs = operands(step);
    const Buffer& output = buffer(step.output);
    const AffineContext here = context();
    internal_check(step.scratch_offset >= 0 && step.scratch_offset + step.scratch_bytes <= machine_.plan.arena_bytes,
                   "scratch outside its arena");
    allow_bytes(arena_ + step.scratch_offset, step.scratch_bytes);
    Scratch scratch(arena_ + step.scratch_offset, step.scratch_bytes);
    run_kernel(*step.kernel, {inputs, {output.dtype, &output.shape, touch(output)}, scratch, here, &team});
    if (makes_or_sums(*step.kernel)) nudge_values(machine_.nudge, output, data(output));
    if (scratch.used() > 0) {
        touched_ = std::max(touched_, step.scratch_offset + scratch.used());
        poison(step.scratch_offset, scratch.used());
    }
    forbid_bytes(arena_ + step.scratch_offset, step.scratch_bytes);
}

Progress Device::advance(Backend& backend, Team& team) {
    const std::vector<DeviceInstruction>& program = machine_.program.instructions;
    if (counter_ == 0) started_ = Clock::now();
    while (counter_ < program.size()) {
        const DeviceInstruction& step = program[counter_];
        if (machine_.timed && !parked_) arrived_ = Clock::now();
        parked_ = false;
        if (step.together > 1 && !machine_.timed) {
            compute_together(std::span(program).subspan(counter_, step.together), team);
            counter_ += step.together;
            continue;
        }
        switch (step.kind) {
        case DeviceInstruction::Kind::compute:
            compute(*step.compute, team);
            break;
        case DeviceInstruction::Kind::start:
            backend.start(step.collective, position_, touch(buffer(step.start->input)),
                          touch(buffer(step.start->output)));
            break;
        case DeviceInstruction::Kind::wait:
            if (!backend.wait(step.collective, position_)) {
                parked_ = true;
                return Progress::waiting;
            }
            break;
        case DeviceInstruction::Kind::loop:
            if (step.loop->trips <= 0) {
                counter_ = step.target;
                continue;
            }
            loops_[step.loop->index] = 0;
            break;
        case DeviceInstruction::Kind::end_loop:
            if (++loops_[step.loop->index] < step.loop->trips) {
                counter_ = step.target;
                continue;
            }
            break;
        case DeviceInstruction::Kind::release:
            poison(place_of(machine_.plan, buffer(step.buffer)), buffer(step.buffer).bytes);
            break;
        }
        if (machine_.timed) note(step);
        ++counter_;
    }
    ended_ = Clock::now();
    return Progress::done;
}

} // namespace shard
