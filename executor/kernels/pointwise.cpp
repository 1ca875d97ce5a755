#include "executor/kernels/pointwise.h"

#include "executor/kernels/pointwise_run.h"

#include <algorithm>

namespace shard {

namespace {

PointwiseRun run_of(const Pointwise& kernel, const KernelCall& call) {
    return {kernel, call.inputs, call.output.dtype, *call.output.shape, call.context};
}

// Elements [low, high) of the result.
void make(const PointwiseRun& run, const Result& output, i64 low, i64 high) {
    PointwiseRun::Worker worker(run);
    for (i64 first = low; first < high; first += block_elements) {
        const i64 width = std::min(block_elements, high - first);
        store_block(worker.block(first, width), output, first, width);
    }
}

} // namespace

void run_pointwise(const Pointwise& kernel, const KernelCall& call) {
    constexpr i64 part_elements = 64 * block_elements;
    const i64 count = element_count(*call.output.shape);
    const PointwiseRun run = run_of(kernel, call);
    call.share((count + part_elements - 1) / part_elements, [&](i64 part) {
        const i64 low = part * part_elements;
        make(run, call.output, low, std::min(low + part_elements, count));
    });
}

void run_pointwise_together(std::span<const Pointwise* const> kernels, std::span<const KernelCall> calls) {
    constexpr i64 part_elements = 16 * block_elements; // what several steps touch of them stays near a core
    const i64 count = element_count(*calls.front().output.shape);
    std::vector<PointwiseRun> runs;
    for (size_t i = 0; i < kernels.size(); ++i) {
        internal_check(*calls[i].output.shape == *calls.front().output.shape, "pointwise: results of several shapes");
        runs.push_back(run_of(*kernels[i], calls[i]));
    }
    calls.front().share((count + part_elements - 1) / part_elements, [&](i64 part) {
        const i64 low = part * part_elements, high = std::min(low + part_elements, count);
        for (size_t i = 0; i < runs.size(); ++i) make(runs[i], calls[i].output, low, high);
    });
}

} // namespace shard
