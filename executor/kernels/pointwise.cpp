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

} // namespace

void run_pointwise(const Pointwise& kernel, const KernelCall& call) {
    internal_check(!kernel.steps.empty() && kernel.steps.back().dtype == call.output.dtype, "pointwise: result type");
    internal_check(kernel.input_dims.size() == call.inputs.size(), "pointwise: one list of dims per input");
    const i64 count = element_count(*call.output.shape);
    const std::vector<size_t> last = last_uses(kernel.steps);

    // Everything that does not depend on the block: where inputs are, registers, constants.
    std::vector<BlockSource> sources;
    for (size_t n = 0; n < call.inputs.size(); ++n)
        sources.push_back(block_source(call.inputs[n], kernel.input_dims[n], *call.output.shape));
    std::vector<StepPlace> places(kernel.steps.size());
    std::vector<std::unique_ptr<Register>> registers;
    std::vector<Register*> free;
    for (size_t s = 0; s < kernel.steps.size(); ++s) {
        const ScalarStep& step = kernel.steps[s];
        StepPlace& place = places[s];
        const BlockSource* source = nullptr;
        if (step.op == ScalarOp::input) {
            const size_t n = step.args[0];
            internal_check(n < sources.size() && call.inputs[n].dtype == step.dtype, "pointwise: input type");
            source = &sources[n];
        }
        place.fixed = step.op == ScalarOp::constant || (source != nullptr && source->is_uniform());
        const bool in_place = source != nullptr && source->is_in_place();
        if (place.fixed || (free.empty() && !in_place)) {
            registers.push_back(std::make_unique<Register>());
            place.result = registers.back().get();
        } else if (!in_place) {
            place.result = free.back();
            free.pop_back();
        }
        if (place.result != nullptr) place.values = {place.result->bytes};
        if (step.op == ScalarOp::constant) fill_constant(*place.result, step);
        if (source != nullptr && place.fixed) load_block(*place.result, *source, 0, std::min(block_elements, count));
        if (step.op == ScalarOp::index) place.start = evaluate(step.start, call.context);
        // A register is free after its last reader; a step never writes the register it reads, fixed ones keep theirs.
        for (size_t other = 0; other <= s; ++other)
            if (last[other] == s && !places[other].fixed && places[other].result != nullptr)
                free.push_back(places[other].result);
    }

    for (i64 first = 0; first < count; first += block_elements) {
        const i64 width = std::min(block_elements, count - first);
        for (size_t s = 0; s < kernel.steps.size(); ++s) {
            const ScalarStep& step = kernel.steps[s];
            StepPlace& place = places[s];
            if (place.fixed) continue;
            if (place.result == nullptr) {
                const Operand& input = call.inputs[step.args[0]];
                place.values = {input.data + first * byte_size(input.dtype)};
            } else if (step.op == ScalarOp::input) {
                load_block(*place.result, sources[step.args[0]], first, width);
            } else if (step.op == ScalarOp::index) {
                index_block(*place.result, step, place.start, *call.output.shape, first, width);
            } else {
                LaneBlock args[3];
                DType type = step.dtype;
                for (int a = 0; a < arity(step.op); ++a) {
                    const size_t arg = step.args[a];
                    args[a] = places[arg].values;
                    if (a == 0) type = kernel.steps[arg].dtype;
                }
                scalar_block(step.op, type, step.dtype, *place.result, args, width);
            }
        }
        store_block(places.back().values, call.output, first, width);
    }
}

} // namespace shard
