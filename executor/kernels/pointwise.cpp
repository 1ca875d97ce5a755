// Pointwise programs run over blocks of elements: every step writes a block register and reads registers, or inputs
// where they lie, so the interpreter's cost is paid once per block and the loops inside a step are plain loops that the
// compiler vectorises.
#include "executor/kernels/pointwise.h"

#include "executor/kernels/pointwise_blocks.h"
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

// What is known of a step before any block.
struct StepPlace {
    int slot = -1;      // the register that the step writes; -1 for an input that is read where it lies
    bool fixed = false; // the same in every block: constants, and inputs that are one number
    i64 start = 0;      // of an index
};

// A worker's own, kept for the next kernel.
Register& register_of_thread(size_t slot) {
    thread_local std::vector<std::unique_ptr<Register>> registers;
    while (registers.size() <= slot) registers.push_back(std::make_unique<Register>());
    return *registers[slot];
}

// A pointwise program over one call's operands: where every step's values are. Workers may run it side by side.
class PointwiseRun {
public:
    PointwiseRun(const Pointwise& kernel, const KernelCall& call)
        : steps_(kernel.steps), call_(call), count_(element_count(*call.output.shape)), places_(kernel.steps.size()) {
        internal_check(!steps_.empty() && steps_.back().dtype == call.output.dtype, "pointwise: result type");
        internal_check(kernel.input_dims.size() == call.inputs.size(), "pointwise: one list of dims per input");
        for (size_t n = 0; n < call.inputs.size(); ++n)
            sources_.push_back(block_source(call.inputs[n], kernel.input_dims[n], *call.output.shape));
        const std::vector<size_t> last = last_uses(steps_);
        std::vector<int> free;
        for (size_t s = 0; s < steps_.size(); ++s) {
            place(s, free);
            // A register is free after its last reader; a step never writes the register it reads, fixed ones keep
            // theirs.
            for (size_t other = 0; other <= s; ++other)
                if (last[other] == s && !places_[other].fixed && places_[other].slot >= 0)
                    free.push_back(places_[other].slot);
        }
    }

    // Elements [low, high) of the result.
    void run(i64 low, i64 high) const {
        std::vector<Lane> lanes(steps_.size());
        for (size_t s = 0; s < steps_.size(); ++s) begin(s, lanes[s]);
        for (i64 first = low; first < high; first += block_elements) {
            const i64 width = std::min(block_elements, high - first);
            for (size_t s = 0; s < steps_.size(); ++s)
                if (!places_[s].fixed) compute(s, first, width, lanes);
            store_block(lanes.back().values, call_.output, first, width);
        }
    }

private:
    // Of a step, on one worker.
    struct Lane {
        Register* to = nullptr;
        LaneBlock values; // of the running block
    };

    const BlockSource* source_of(const ScalarStep& step) const {
        return step.op == ScalarOp::input ? &sources_[step.args[0]] : nullptr;
    }

    void place(size_t s, std::vector<int>& free) {
        const ScalarStep& step = steps_[s];
        StepPlace& place = places_[s];
        if (step.op == ScalarOp::input) {
            const size_t n = step.args[0];
            internal_check(n < sources_.size() && call_.inputs[n].dtype == step.dtype, "pointwise: input type");
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
        if (step.op == ScalarOp::index) place.start = evaluate(step.start, call_.context);
    }

    // What does not depend on the block.
    void begin(size_t s, Lane& lane) const {
        const StepPlace& place = places_[s];
        if (place.slot < 0) return;
        lane.to = &register_of_thread(static_cast<size_t>(place.slot));
        lane.values = {lane.to->bytes};
        if (steps_[s].op == ScalarOp::constant) fill_constant(*lane.to, steps_[s]);
        if (steps_[s].op == ScalarOp::input && place.fixed)
            load_block(*lane.to, *source_of(steps_[s]), 0, std::min(block_elements, count_));
    }

    void compute(size_t s, i64 first, i64 width, std::vector<Lane>& lanes) const {
        const ScalarStep& step = steps_[s];
        if (lanes[s].to == nullptr) {
            const Operand& input = call_.inputs[step.args[0]];
            lanes[s].values = {input.data + first * byte_size(input.dtype)};
            return;
        }
        Register& to = *lanes[s].to;
        if (step.op == ScalarOp::input) {
            load_block(to, *source_of(step), first, width);
        } else if (step.op == ScalarOp::index) {
            index_block(to, step, places_[s].start, *call_.output.shape, first, width);
        } else {
            LaneBlock args[3];
            DType type = step.dtype;
            for (int a = 0; a < arity(step.op); ++a) {
                const size_t arg = step.args[a];
                args[a] = lanes[arg].values;
                if (a == 0) type = steps_[arg].dtype;
            }
            scalar_block(step.op, type, step.dtype, to, args, width);
        }
    }

    const std::vector<ScalarStep>& steps_;
    const KernelCall& call_;
    const i64 count_; // elements of the result
    std::vector<BlockSource> sources_;
    std::vector<StepPlace> places_;
    int slots_ = 0;
};

} // namespace

void run_pointwise(const Pointwise& kernel, const KernelCall& call) {
    constexpr i64 part_elements = 64 * block_elements;
    const i64 count = element_count(*call.output.shape);
    const PointwiseRun run(kernel, call);
    call.share((count + part_elements - 1) / part_elements, [&](i64 part) {
        const i64 low = part * part_elements;
        run.run(low, std::min(low + part_elements, count));
    });
}

void run_pointwise_together(std::span<const Pointwise* const> kernels, std::span<const KernelCall> calls) {
    constexpr i64 part_elements = 16 * block_elements; // what several steps touch of them stays near a core
    const i64 count = element_count(*calls.front().output.shape);
    std::vector<PointwiseRun> runs;
    for (size_t i = 0; i < kernels.size(); ++i) {
        internal_check(*calls[i].output.shape == *calls.front().output.shape, "pointwise: results of several shapes");
        runs.emplace_back(*kernels[i], calls[i]);
    }
    calls.front().share((count + part_elements - 1) / part_elements, [&](i64 part) {
        const i64 low = part * part_elements;
        for (const PointwiseRun& run : runs) run.run(low, std::min(low + part_elements, count));
    });
}

} // namespace shard
