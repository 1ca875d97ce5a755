// A pointwise program over one call's operands: where the values of every step are.
#pragma once

#include "executor/kernels/pointwise_blocks.h"

#include <span>
#include <vector>

namespace shard {

class PointwiseRun {
public:
    // `space` is the shape that the program runs over. What is given is the caller's, and outlives the run.
    PointwiseRun(const Pointwise& program, std::span<const Operand> inputs, DType result, const Shape& space,
                 const AffineContext& context);

    // A place in the run, on one thread, whose registers it uses: one at a time. Workers may stand side by side.
    class Worker {
    public:
        explicit Worker(const PointwiseRun& run);
        // The results of elements [first, first + width) of the space, at most block_elements, until the next call.
        LaneBlock block(i64 first, i64 width);

    private:
        struct Lane {
            Register* to = nullptr;
            LaneBlock values; // of the running block
        };

        void begin(size_t s);
        void compute(size_t s, i64 first, i64 width);

        const PointwiseRun& run_;
        std::vector<Lane> lanes_; // by step
    };

private:
    // What is known of a step before any block.
    struct StepPlace {
        int slot = -1;      // the register that the step writes; -1 for an input that is read where it lies
        bool fixed = false; // the same in every block: constants, and inputs that are one number
        i64 start = 0;      // of an index
    };

    const BlockSource* source_of(const ScalarStep& step) const {
        return step.op == ScalarOp::input ? &sources_[step.args[0]] : nullptr;
    }
    void place(size_t s, std::vector<int>& free, const AffineContext& context);

    const std::vector<ScalarStep>& steps_;
    const Shape& space_;
    std::vector<BlockSource> sources_;
    std::vector<StepPlace> places_;
    int slots_ = 0;
};

} // namespace shard
