#include "executor/devices/pointwise_runs.h"

#include <algorithm>

namespace shard {

namespace {

constexpr i64 least_elements = 32768; // of a result: smaller ones are in the caches anyway

class Runs {
public:
    Runs(const Plan& plan, const Program& program) : plan_(plan), program_(program) {}

    // Instructions from `first` on, releases between steps counted.
    size_t length(size_t first) {
        if (program_.instructions[first].kind != DeviceInstruction::Kind::compute) return 1;
        steps_.clear();
        std::vector<int> released;
        size_t end = first;
        for (size_t i = first; i < program_.instructions.size(); ++i) {
            const DeviceInstruction& next = program_.instructions[i];
            if (next.kind == DeviceInstruction::Kind::release) {
                released.push_back(next.buffer);
            } else if (joins(next, released)) {
                steps_.push_back(next.compute);
                end = i + 1;
            } else {
                break;
            }
        }
        return steps_.size() < 2 ? 1 : end - first;
    }

private:
    const Buffer& buffer(int id) const { return plan_.buffers[static_cast<size_t>(id)]; }

    bool joins(const DeviceInstruction& next, std::span<const int> released) const {
        if (next.kind != DeviceInstruction::Kind::compute || !std::holds_alternative<Pointwise>(*next.compute->kernel))
            return false;
        const Compute& step = *next.compute;
        if (steps_.empty()) return element_count(buffer(step.output).shape) >= least_elements;
        return buffer(step.output).shape == buffer(steps_.front()->output).shape &&
               // Releases wait for the end of the run.
               std::none_of(released.begin(), released.end(), [&](int id) { return overlap(id, step.output); }) &&
               std::all_of(steps_.begin(), steps_.end(),
                           [&](const Compute* before) { return stand_together(*before, step); });
    }

    bool stand_together(const Compute& before, const Compute& after) const {
        return !overlap(before.output, after.output) && touches_blocks(before, after.output) &&
               touches_blocks(after, before.output);
    }

    // Of what the other step writes, a block of this one reads the same block or nothing.
    bool touches_blocks(const Compute& step, int written) const {
        for (size_t n = 0; n < step.inputs.size(); ++n) {
            const int input = step.inputs[n];
            if (overlap(input, written) && !(is_same_place(input, written) && is_read_in_order(step, n))) return false;
        }
        return true;
    }

    bool is_read_in_order(const Compute& step, size_t input) const {
        const std::vector<int>& dims = std::get<Pointwise>(*step.kernel).input_dims[input];
        for (size_t d = 0; d < dims.size(); ++d)
            if (dims[d] != static_cast<int>(d)) return false;
        return buffer(step.inputs[input]).shape == buffer(step.output).shape;
    }

    bool overlap(int a, int b) const {
        const Buffer &one = buffer(a), &other = buffer(b);
        return one.on_host == other.on_host && one.offset < other.offset + other.bytes &&
               other.offset < one.offset + one.bytes;
    }
    bool is_same_place(int a, int b) const {
        return buffer(a).on_host == buffer(b).on_host && buffer(a).offset == buffer(b).offset &&
               buffer(a).bytes == buffer(b).bytes;
    }

    const Plan& plan_;
    const Program& program_;
    std::vector<const Compute*> steps_; // of the run so far
};

} // namespace

void find_pointwise_runs(const Plan& plan, Program& program) {
    Runs runs(plan, program);
    for (size_t i = 0; i < program.instructions.size(); i += program.instructions[i].together)
        program.instructions[i].together = runs.length(i);
}

} // namespace shard
