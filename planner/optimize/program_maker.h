// Puts pointwise programs together.
#pragma once

#include "planner/graph/graph.h"
#include "plans/kernel/kernel.h"

namespace shard {

// A pointwise program under construction: steps are copied one by one, equal inputs become one.
class ProgramMaker {
public:
    // The step that reads `value`.
    int read(ValueId value, const std::vector<int>& dims, DType dtype) {
        for (size_t i = 0; i < inputs.size(); ++i)
            if (inputs[i] == value && kernel.input_dims[i] == dims) return reads_[i];
        ScalarStep step;
        step.op = ScalarOp::input;
        step.args[0] = static_cast<int>(inputs.size());
        step.dtype = dtype;
        inputs.push_back(value);
        kernel.input_dims.push_back(dims);
        reads_.push_back(add(std::move(step)));
        return reads_.back();
    }

    int add(ScalarStep step) {
        kernel.steps.push_back(std::move(step));
        return static_cast<int>(kernel.steps.size()) - 1;
    }

    // All steps of a kernel but its reads, which `read_input` supplies; returns the last.
    template<class ReadInput>
    int append(const Pointwise& from, const ReadInput& read_input) {
        std::vector<int> at;
        at.reserve(from.steps.size());
        kernel.steps.reserve(kernel.steps.size() + from.steps.size());
        for (ScalarStep step : from.steps) {
            if (step.op == ScalarOp::input) {
                at.push_back(read_input(step.args[0], step.dtype));
                continue;
            }
            for (int a = 0; a < arity(step.op); ++a) {
                int& arg = step.args[a];
                arg = at[arg];
            }
            at.push_back(add(std::move(step)));
        }
        return at.back();
    }

    std::vector<ValueId> inputs;
    Pointwise kernel;

private:
    std::vector<int> reads_; // by input: its step
};

} // namespace shard
