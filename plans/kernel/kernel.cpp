#include "plans/kernel/kernel.h"

#include "plans/base/saturating.h"
#include "plans/kernel/convolve_sizes.h"
#include "plans/kernel/pool_sizes.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace shard {

std::string_view class_name(const Kernel& kernel) {
    constexpr std::string_view names[] = {
        "contract", "ragged_contract", "convolve",       "pointwise", "reduce", "scan",    "sort",
        "attend",   "reduce_windows",  "select_windows", "move",      "gather", "scatter", "generate"};
    static_assert(std::size(names) == std::variant_size_v<Kernel>);
    return names[kernel.index()];
}

namespace {

constexpr std::string_view scan_names[] = {"sum", "prod", "max", "min", "logsumexp", "linear"};

} // namespace

std::string_view name(ScanOp op) { return scan_names[static_cast<size_t>(op)]; }

std::optional<ScanOp> parse_scan_op(std::string_view text) {
    for (size_t n = 0; n < std::size(scan_names); ++n)
        if (scan_names[n] == text) return static_cast<ScanOp>(n);
    return std::nullopt;
}

namespace {

i64 contract_flops(const Contract& contract, std::span<const TensorType> inputs, const TensorType& output) {
    // One multiplication and one addition per element of out and per combination of the labels that are summed.
    i64 count = 2;
    for (i64 size : output.shape) count = multiply_saturating(count, size);
    for (size_t d = 0; d < contract.lhs.size(); ++d) {
        const bool summed = std::find(contract.out.begin(), contract.out.end(), contract.lhs[d]) == contract.out.end();
        if (summed) count = multiply_saturating(count, inputs[0].shape[d]);
    }
    return count;
}

i64 arithmetic_steps(const Pointwise& program) {
    return std::count_if(program.steps.begin(), program.steps.end(), [](const ScalarStep& step) {
        return arity(step.op) > 0 && step.op != ScalarOp::cast && step.op != ScalarOp::bitcast;
    });
}

} // namespace

namespace {

template<typename G, typename Visit>
void visit_generated(G& generate, const Visit& visit) {
    for (auto& start : generate.start) visit(start);
    if (auto* random = std::get_if<Random>(&generate.source)) {
        for (auto& word : random->words) visit(word);
        for (auto& fold : random->folds) visit(fold);
    }
}

template<typename K>
auto find_program(K& kernel) -> decltype(std::get_if<Pointwise>(&kernel)) {
    if (auto* reduce = std::get_if<Reduce>(&kernel)) return reduce->made ? &reduce->made->program : nullptr;
    return std::get_if<Pointwise>(&kernel);
}

template<typename K, typename Visit>
void visit_affines(K& kernel, const Visit& visit) {
    if (auto* program = find_program(kernel))
        for (auto& step : program->steps) visit(step.start);
    if (auto* move = std::get_if<Move>(&kernel))
        for (auto& piece : move->pieces) {
            for (auto& start : piece.in_start) visit(start);
            for (auto& start : piece.out_start) visit(start);
        }
    if (auto* attend = std::get_if<Attend>(&kernel)) {
        visit(attend->start);
        if (attend->kept) visit_generated(*attend->kept, visit);
    }
    if (auto* ragged = std::get_if<RaggedContract>(&kernel)) {
        visit(ragged->row);
        visit(ragged->group);
    }
    if (auto* gather = std::get_if<Gather>(&kernel)) visit(gather->start);
    if (auto* scatter = std::get_if<Scatter>(&kernel)) visit(scatter->start);
    if (auto* generate = std::get_if<Generate>(&kernel)) visit_generated(*generate, visit);
}

} // namespace

const Pointwise* program_of(const Kernel& kernel) { return find_program(kernel); }
Pointwise* program_of(Kernel& kernel) { return find_program(kernel); }

TensorType reduced_type(const Reduce& reduce, std::span<const TensorType> inputs, const TensorType& output) {
    return reduce.made ? TensorType{output.dtype, reduce.made->shape, {}} : inputs[0];
}

void for_each_affine(Kernel& kernel, const std::function<void(Affine&)>& visit) { visit_affines(kernel, visit); }
void for_each_affine(const Kernel& kernel, const std::function<void(const Affine&)>& visit) {
    visit_affines(kernel, visit);
}

i64 flops(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output) {
    if (const Contract* contract = std::get_if<Contract>(&kernel)) return contract_flops(*contract, inputs, output);
    if (const Pointwise* pointwise = std::get_if<Pointwise>(&kernel))
        return multiply_saturating(arithmetic_steps(*pointwise), output.elements());
    if (const Reduce* reduce = std::get_if<Reduce>(&kernel))
        return multiply_saturating(1 + (reduce->made ? arithmetic_steps(reduce->made->program) : 0),
                                   reduced_type(*reduce, inputs, output).elements());
    if (const Scan* scan = std::get_if<Scan>(&kernel))
        return multiply_saturating(scan->op == ScanOp::linear ? 2 : 1, output.elements());
    if (const Sort* sort = std::get_if<Sort>(&kernel)) {
        const i64 comparisons =
            static_cast<i64>(std::bit_width(static_cast<std::uint64_t>(inputs[0].shape[sort->dim])));
        return multiply_saturating(comparisons * static_cast<i64>(inputs.size()), inputs[0].elements());
    }
    if (const Attend* attend = std::get_if<Attend>(&kernel))
        return attend_flops(*attend, attend_sizes(attend->part, inputs));
    if (const RaggedContract* ragged = std::get_if<RaggedContract>(&kernel))
        return ragged_flops(ragged_sizes(*ragged, inputs, output));
    if (const Convolve* convolve = std::get_if<Convolve>(&kernel)) return convolve_flops(*convolve, inputs, output);
    if (const ReduceWindows* windows = std::get_if<ReduceWindows>(&kernel)) return pool_flops(*windows, inputs, output);
    if (const SelectWindows* windows = std::get_if<SelectWindows>(&kernel)) return pool_flops(*windows, inputs);
    if (std::holds_alternative<Scatter>(kernel)) return inputs[1].elements();
    return 0;
}

} // namespace shard
