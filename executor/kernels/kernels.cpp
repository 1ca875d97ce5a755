#include "executor/kernels/kernels.h"

#include "executor/kernels/attend.h"
#include "executor/kernels/contract.h"
#include "executor/kernels/convolve.h"
#include "executor/kernels/gather.h"
#include "executor/kernels/generate.h"
#include "executor/kernels/move.h"
#include "executor/kernels/pointwise.h"
#include "executor/kernels/pool.h"
#include "executor/kernels/ragged_contract.h"
#include "executor/kernels/reduce.h"
#include "executor/kernels/scan.h"
#include "executor/kernels/scatter.h"
#include "executor/kernels/sort.h"

namespace shard {

namespace {

struct Runner {
    const KernelCall& call;
    void operator()(const Contract& kernel) const { run_contract(kernel, call); }
    void operator()(const RaggedContract& kernel) const { run_ragged_contract(kernel, call); }
    void operator()(const Convolve& kernel) const { run_convolve(kernel, call); }
    void operator()(const Pointwise& kernel) const { run_pointwise(kernel, call); }
    void operator()(const Reduce& kernel) const { run_reduce(kernel, call); }
    void operator()(const Scan& kernel) const { run_scan(kernel, call); }
    void operator()(const Sort& kernel) const { run_sort(kernel, call); }
    void operator()(const Attend& kernel) const { run_attend(kernel, call); }
    void operator()(const ReduceWindows& kernel) const { run_reduce_windows(kernel, call); }
    void operator()(const SelectWindows& kernel) const { run_select_windows(kernel, call); }
    void operator()(const Move& kernel) const { run_move(kernel, call); }
    void operator()(const Gather& kernel) const { run_gather(kernel, call); }
    void operator()(const Scatter& kernel) const { run_scatter(kernel, call); }
    void operator()(const Generate& kernel) const { run_generate(kernel, call); }
};

} // namespace

void run_kernel(const Kernel& kernel, const KernelCall& call) { std::visit(Runner{call}, kernel); }

} // namespace shard
