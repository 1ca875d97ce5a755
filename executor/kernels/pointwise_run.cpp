// Every step writes a block register and reads registers, or inputs where they lie, so the interpreter's cost is paid
// once per block and the loops inside a step are plain loops that the compiler vectorises.
#include "executor/kernels/pointwise_run.h"

#include "executor/kernels/pointwise_step.h"

#include <algorithm>

namespace shard {

namespace {

// For every step the last step that reads it, so that registers are used again.
std::vector<size_t> last_uses(const std::vector<ScalarStep>& steps) {
    std::vector<size_t> last(steps.size());
    for (size_t s = 0; s < steps.size(); ++s) {
        last[s] = s;
        for (int a = 0; a < arity(steps[s].op); ++a) {
            const size_t arg = steps[s].args[a];
            internal_check(arg < s, "pointwise: a step reads a later one");
            last[arg] = s;
        }
    }
    last.back() = steps.size();
    return last;
}

// A worker's own, kept for the next kernel.
Register& register_of_thread(size_t slot) {
    thread_local std::vector<std::unique_ptr<Register>> registers;
    while (registers.size() <= slot) registers.push_back(std::make_unique<Register>());
    return *registers[slot];
}

} // namespace

PointwiseRun::PointwiseRun(const Pointwise& program, std::span<const Operand> inputs, DType result, const Shape& space,
                           const AffineContext& context)
    : steps_(program.steps), space_(space), places_(program.steps.size()) {
    internal_check(!steps_.empty() && steps_.back().dtype == result, "pointwise: result type");
    internal_check(program.input_dims.size() == inputs.size(), "pointwise: one list of dims per input");
    for (size_t n = 0; n < inputs.size(); ++n)
        sources_.push_back(block_source(inputs[n], program.input_dims[n], space));
    const std::vector<size_t> last = last_uses(steps_);
    std::vector<int> free;
    for (size_t s = 0; s < steps_.size(); ++s) {
        place(s, free, context);
        // A register is free after its last reader; a step never writes the register it reads, fixed ones keep theirs.
        for (size_t other = 0; other <= s; ++other)
            if (last[other] == s && !places_[other].fixed && places_[other].slot >= 0)
                free.push_back(places_[other].slot);
    }
}

void PointwiseRun::place(size_t s, std::vector<int>& free, const AffineContext& context) {
    const ScalarStep& step = steps_[s];
    StepPlace& place = places_[s];
    if (step.op == ScalarOp::input) {
        const size_t n = step.args[0];
        internal_check(n < sources_.size() && sources_[n].operand.dtype == step.dtype, "pointwise: input type");
    }
    const BlockSource* const source = source_of(step);
    place.fixed = step.op == ScalarOp::constant || (source != nullptr && source->is_uniform());
    const bool in_place = source != nullptr && source->is_in_place();
    if (place.fixed || (free.empty() && !in_place)) {
        place.slot = slots_++;
    } else if (!in_place) {
        place.slot = free.back();
        free.pop_back();
    }
    if (step.op == ScalarOp::index) place.start = evaluate(step.start, context);
}

PointwiseRun::Worker::Worker(const PointwiseRun& run) : run_(run), lanes_(run.steps_.size()) {
    for (size_t s = 0; s < run.steps_.size(); ++s) begin(s);
}

LaneBlock PointwiseRun::Worker::block(i64 first, i64 width) {
    for (size_t s = 0; s < lanes_.size(); ++s)
        if (!run_.places_[s].fixed) compute(s, first, width);
    return lanes_.back().values;
}

// What does not depend on the block.
void PointwiseRun::Worker::begin(size_t s) {
    const ScalarStep& step = run_.steps_[s];
    const StepPlace& place = run_.places_[s];
    if (place.slot < 0) return;
    Lane& lane = lanes_[s];
    lane.to = &register_of_thread(static_cast<size_t>(place.slot));
    lane.values = {lane.to->bytes};
    if (step.op == ScalarOp::constant) fill_constant(*lane.to, step);
    if (step.op == ScalarOp::input && place.fixed)
        load_block(*lane.to, *run_.source_of(step), 0, std::min(block_elements, element_count(run_.space_)));
}

void PointwiseRun::Worker::compute(size_t s, i64 first, i64 width) {
    const ScalarStep& step = run_.steps_[s];
    if (lanes_[s].to == nullptr) {
        const Operand& input = run_.source_of(step)->operand;
        lanes_[s].values = {input.data + first * byte_size(input.dtype)};
        return;
    }
    Register& to = *lanes_[s].to;
    if (step.op == ScalarOp::input) {
        load_block(to, *run_.source_of(step), first, width);
    } else if (step.op == ScalarOp::index) {
        index_block(to, step, run_.places_[s].start, run_.space_, first, width);
    } else {
        LaneBlock args[3];
        DType type = step.dtype;
        for (int a = 0; a < arity(step.op); ++a) {
            const size_t arg = step.args[a];
            args[a] = lanes_[arg].values;
            if (a == 0) type = run_.steps_[arg].dtype;
        }
        scalar_block(step.op, type, step.dtype, to, args, width);
    }
}

} // namespace shard
