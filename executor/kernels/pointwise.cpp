// Pointwise programs run over blocks of elements: every step reads and writes block registers, so the interpreter's
// cost is paid once per block and the loops inside a step are plain loops that the compiler vectorises.
#include "executor/kernels/pointwise_blocks.h"

#include <algorithm>

namespace shard {

namespace {

// For every step the last step that reads it, so that registers are used again.
std::vector<size_t> last_uses(const std::vector<ScalarStep>& steps) {
    std::vector<size_t> last(steps.size());
    for (size_t s = 0; s < steps.size(); ++s) {
        last[s] = s;
        for (int a = 0; a < arity(steps[s].op); ++a) {
            const size_t arg = static_cast<size_t>(steps[s].args[static_cast<size_t>(a)]);
            internal_check(arg < s, "pointwise: a step reads a later one");
            last[arg] = s;
        }
    }
    last.back() = steps.size();
    return last;
}

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
    std::vector<Register*> values(kernel.steps.size(), nullptr);
    std::vector<std::unique_ptr<Register>> registers;
    std::vector<Register*> free;
    std::vector<i64> starts(kernel.steps.size(), 0);
    for (size_t s = 0; s < kernel.steps.size(); ++s) {
        const ScalarStep& step = kernel.steps[s];
        const bool fixed = step.op == ScalarOp::constant;
        if (free.empty() || fixed) {
            registers.push_back(std::make_unique<Register>());
            values[s] = registers.back().get();
        } else {
            values[s] = free.back();
            free.pop_back();
        }
        if (fixed) fill_constant(*values[s], step);
        if (step.op == ScalarOp::index) starts[s] = evaluate(step.start, call.context);
        // A register is free after its last reader; a step never writes the register it reads, constants keep theirs.
        for (size_t other = 0; other <= s; ++other)
            if (last[other] == s && kernel.steps[other].op != ScalarOp::constant) free.push_back(values[other]);
    }

    for (i64 first = 0; first < count; first += block_elements) {
        const i64 width = std::min(block_elements, count - first);
        for (size_t s = 0; s < kernel.steps.size(); ++s) {
            const ScalarStep& step = kernel.steps[s];
            if (step.op == ScalarOp::input) {
                const size_t n = static_cast<size_t>(step.args[0]);
                internal_check(n < sources.size() && call.inputs[n].dtype == step.dtype, "pointwise: input type");
                load_block(*values[s], sources[n], first, width);
            } else if (step.op == ScalarOp::index) {
                index_block(*values[s], step, starts[s], *call.output.shape, first, width);
            } else if (step.op != ScalarOp::constant) {
                Register* args[3] = {nullptr, nullptr, nullptr};
                DType type = step.dtype;
                for (int a = 0; a < arity(step.op); ++a) {
                    const size_t arg = static_cast<size_t>(step.args[static_cast<size_t>(a)]);
                    args[a] = values[arg];
                    if (a == 0) type = kernel.steps[arg].dtype;
                }
                scalar_block(step.op, type, step.dtype, *values[s], args, width);
            }
        }
        store_block(*values.back(), call.output, first, width);
    }
}

} // namespace shard
