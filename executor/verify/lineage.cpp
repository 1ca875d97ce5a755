#include "executor/verify/lineage.h"

#include "plans/kernel/convolve_sizes.h"
#include "plans/plan/plan_check_kernel.h"
#include "plans/plan/plan_check_types.h"

#include <algorithm>

namespace shard {

namespace {

void join(DType dtype, Lineage& lineage) {
    if (epsilon(dtype) > epsilon(lineage.coarsest)) lineage.coarsest = dtype;
}

double product(const Shape& shape) {
    double terms = 1;
    for (const i64 size : shape) terms *= static_cast<double>(size);
    return terms;
}

// Terms of one sum that the kernel makes; 0 if it makes none.
double terms_of(const Kernel& kernel, std::span<const TensorType> operands, const TensorType& result) {
    const Shape& operand = operands[0].shape;
    double terms = 1;
    if (const Contract* contract = std::get_if<Contract>(&kernel)) {
        for (size_t d = 0; d < contract->lhs.size(); ++d)
            if (std::find(contract->out.begin(), contract->out.end(), contract->lhs[d]) == contract->out.end())
                terms *= static_cast<double>(operand[d]);
        return terms;
    }
    if (const Reduce* reduce = std::get_if<Reduce>(&kernel)) {
        const Shape reduced = reduced_type(*reduce, operands, result).shape;
        for (const int dim : reduce->dims) terms *= static_cast<double>(reduced[dim]);
        return terms;
    }
    if (const Scan* scan = std::get_if<Scan>(&kernel)) return static_cast<double>(operand[scan->dim]);
    if (const Attend* attend = std::get_if<Attend>(&kernel)) {
        const AttendSizes sizes = attend_sizes(attend->part, operands);
        return static_cast<double>(std::max({sizes.width, sizes.keys, sizes.queries * sizes.group()}));
    }
    if (const RaggedContract* ragged = std::get_if<RaggedContract>(&kernel)) {
        const RaggedSizes sizes = ragged_sizes(*ragged, operands, result);
        return static_cast<double>(ragged->part == RaggedPart::rows ? sizes.k : sizes.rows * sizes.outer);
    }
    if (const Convolve* convolve = std::get_if<Convolve>(&kernel)) {
        const ConvolveSizes sizes = convolve_sizes(*convolve, operands, result);
        terms = static_cast<double>(sizes.summed);
        for (const SlideSizes& window : sizes.windows) terms *= static_cast<double>(window.window);
        return terms;
    }
    if (const ReduceWindows* windows = std::get_if<ReduceWindows>(&kernel)) return product(windows->window);
    if (const SelectWindows* windows = std::get_if<SelectWindows>(&kernel)) return product(windows->window);
    // All indices may be the same.
    return std::holds_alternative<Scatter>(kernel) ? product(operand) : 0;
}

} // namespace

Lineages::Lineages(const Plan& plan) : plan_(&plan), makers_(plan.buffers.size()) { add(plan.steps, 1); }

void Lineages::add(const std::vector<Step>& steps, double trips) {
    const auto maker_of = [this](int output) -> std::vector<Maker>& {
        return makers_[contents_of(plan_->buffers, output)];
    };
    for (const Step& step : steps) {
        if (const Compute* compute = std::get_if<Compute>(&step.variant_ref()))
            maker_of(compute->output).push_back({compute, nullptr, trips});
        if (const Start* start = std::get_if<Start>(&step.variant_ref()))
            maker_of(start->output).push_back({nullptr, start, trips});
        if (const Loop* loop = std::get_if<Loop>(&step.variant_ref()))
            add(loop->body, trips * static_cast<double>(loop->trips));
    }
}

// Lengths are global: those of partial sums count on all devices that hold them.
void Lineages::count(const Maker& maker, Lineage& lineage) const {
    if (maker.compute == nullptr) return;
    const Compute& compute = *maker.compute;
    if (const Pointwise* program = program_of(*compute.kernel))
        for (const ScalarStep& step : program->steps) join(step.dtype, lineage);
    if (compute.inputs.empty()) return;
    std::vector<TensorType> operands;
    for (const int input : compute.inputs) operands.push_back(local_type(buffer(input)));
    const double terms = terms_of(*compute.kernel, operands, local_type(buffer(compute.output)));
    if (terms == 0) return;
    lineage.longest =
        std::max(lineage.longest, terms * static_cast<double>(total_size(buffer(compute.output).sharding.partial)));
    lineage.reductions += maker.trips;
}

// A buffer is taken to be made of all that is ever written into it, in whichever order: never too little, and exact
// where every value has a buffer of its own.
Lineage Lineages::of(const PlanOutput& output, int steps) const {
    Lineage lineage;
    std::vector<bool> seen(makers_.size());
    std::vector<int> open;
    const auto need = [&](int id) {
        const int contents = contents_of(plan_->buffers, id);
        if (seen[contents]) return;
        seen[contents] = true;
        open.push_back(contents);
    };
    need(output.buffer);
    while (!open.empty()) {
        const int id = open.back();
        open.pop_back();
        join(buffer(id).dtype, lineage);
        for (const Maker& maker : makers_[id]) {
            count(maker, lineage);
            if (maker.start != nullptr) {
                need(maker.start->input);
                continue;
            }
            for (const int input : maker.compute->inputs) need(input);
            for (const int scalar : scalars_read(*maker.compute->kernel)) need(scalar);
        }
        for (const PlanOutput& update : plan_->outputs)
            if (steps > 1 && update.updates == id) need(update.buffer);
    }
    return lineage;
}

} // namespace shard
