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

// Where a step's values are, block after block.
struct StepPlace {
    Register* result = nullptr; // that the step writes; null for an input that is read where it lies
    LaneBlock values;           // of the running block
    bool fixed = false;         // the same in every block: constants, and inputs that are one number
    i64 start = 0;              // of an index
};

// A pointwise program over one call's operands.
class PointwiseRun {
public:
    PointwiseRun(const Pointwise& kernel, const KernelCall& call)
        : steps_(kernel.steps), call_(call), count_(element_count(*call.output.shape)), places_(kernel.steps.size()) {
        internal_check(!steps_.empty() && steps_.back().dtype == call.output.dtype, "pointwise: result type");
        internal_check(kernel.input_dims.size() == call.inputs.size(), "pointwise: one list of dims per input");
        for (size_t n = 0; n < call.inputs.size(); ++n)
            sources_.push_back(block_source(call.inputs[n], kernel.input_dims[n], *call.output.shape));
        const std::vector<size_t> last = last_uses(steps_);
        for (size_t s = 0; s < steps_.size(); ++s) {
            place(s);
            // A register is free after its last reader; a step never writes the register it reads, fixed ones keep
            // theirs.
            for (size_t other = 0; other <= s; ++other)
                if (last[other] == s && !places_[other].fixed && places_[other].result != nullptr)
                    free_.push_back(places_[other].result);
        }
    }

    void run() {
        for (i64 first = 0; first < count_; first += block_elements) {
            const i64 width = std::min(block_elements, count_ - first);
            for (size_t s = 0; s < steps_.size(); ++s)
                if (!places_[s].fixed) compute(s, first, width);
            store_block(places_.back().values, call_.output, first, width);
        }
    }

private:
    // Everything about a step that does not depend on the block: where its input is, its register, its constant.
    void place(size_t s) {
        const ScalarStep& step = steps_[s];
        StepPlace& place = places_[s];
        const BlockSource* source = nullptr;
        if (step.op == ScalarOp::input) {
            const size_t n = step.args[0];
            internal_check(n < sources_.size() && call_.inputs[n].dtype == step.dtype, "pointwise: input type");
            source = &sources_[n];
        }
        place.fixed = step.op == ScalarOp::constant || (source != nullptr && source->is_uniform());
        const bool in_place = source != nullptr && source->is_in_place();
        if (place.fixed || (free_.empty() && !in_place)) {
            registers_.push_back(std::make_unique<Register>());
            place.result = registers_.back().get();
        } else if (!in_place) {
            place.result = free_.back();
            free_.pop_back();
        }
        if (place.result != nullptr) place.values = {place.result->bytes};
        if (step.op == ScalarOp::constant) fill_constant(*place.result, step);
        if (source != nullptr && place.fixed) load_block(*place.result, *source, 0, std::min(block_elements, count_));
        if (step.op == ScalarOp::index) place.start = evaluate(step.start, call_.context);
    }

    void compute(size_t s, i64 first, i64 width) {
        const ScalarStep& step = steps_[s];
        StepPlace& place = places_[s];
        if (place.result == nullptr) {
            const Operand& input = call_.inputs[step.args[0]];
            place.values = {input.data + first * byte_size(input.dtype)};
        } else if (step.op == ScalarOp::input) {
            load_block(*place.result, sources_[step.args[0]], first, width);
        } else if (step.op == ScalarOp::index) {
            index_block(*place.result, step, place.start, *call_.output.shape, first, width);
        } else {
            LaneBlock args[3];
            DType type = step.dtype;
            for (int a = 0; a < arity(step.op); ++a) {
                const size_t arg = step.args[a];
                args[a] = places_[arg].values;
                if (a == 0) type = steps_[arg].dtype;
            }
            scalar_block(step.op, type, step.dtype, *place.result, args, width);
        }
    }

    const std::vector<ScalarStep>& steps_;
    const KernelCall& call_;
    const i64 count_; // elements of the result
    std::vector<BlockSource> sources_;
    std::vector<StepPlace> places_;
    std::vector<std::unique_ptr<Register>> registers_;
    std::vector<Register*> free_;
};

} // namespace

void run_pointwise(const Pointwise& kernel, const KernelCall& call) { PointwiseRun(kernel, call).run(); }

} // namespace shard
