#include "plans/plan/plan_check_kernel.h"

#include "plans/base/checked.h"
#include "plans/kernel/convolve_sizes.h"
#include "plans/kernel/pool_sizes.h"
#include "plans/plan/plan_check_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace shard {

namespace {

constexpr i64 reach_limit = i64{1} << 60; // of any index a move computes

std::string contract_problem(const Contract& contract, std::span<const TensorType> inputs, const TensorType& output) {
    if (inputs.size() != 2) return "contract takes two operands";
    const std::vector<int>* labels[] = {&contract.lhs, &contract.rhs, &contract.out};
    const TensorType* types[] = {&inputs[0], &inputs[1], &output};
    std::map<int, i64> sizes;
    for (int t = 0; t < 3; ++t) {
        if (labels[t]->size() != types[t]->shape.size()) return "contract: one label per dim";
        for (size_t d = 0; d < labels[t]->size(); ++d) {
            const int label = (*labels[t])[d];
            if (std::count(labels[t]->begin(), labels[t]->end(), label) != 1)
                return "contract: a label twice in one tensor";
            const i64 size = types[t]->shape[d];
            if (sizes.emplace(label, size).first->second != size)
                return fmt::format("contract: label {} has two sizes", label);
        }
    }
    for (const auto& [label, size] : sizes) {
        int count = 0;
        for (const std::vector<int>* list : labels)
            count += std::find(list->begin(), list->end(), label) != list->end() ? 1 : 0;
        if (count < 2) return fmt::format("contract: label {} is in one tensor alone", label);
    }
    const auto widens = [&](const TensorType& type) {
        return is_floating(type.dtype) && type.dtype != output.dtype && computed_as(type.dtype) == output.dtype;
    };
    if (inputs[0].dtype != inputs[1].dtype && !(widens(inputs[0]) && widens(inputs[1])))
        return "contract: operands of two types";
    if (output.dtype != inputs[0].dtype && output.dtype != computed_as(inputs[0].dtype))
        return "contract: a result of another type";
    if (!is_floating(output.dtype)) return "contract: only floating-point types multiply";
    return {};
}

// Whether the step's operands have types that the instruction is defined on, and its result's type follows.
bool step_types_fit(const ScalarStep& step, std::span<const ScalarStep> earlier) {
    std::vector<DType> operands;
    for (int a = 0; a < arity(step.op); ++a) operands.push_back(earlier[step.args[a]].dtype);
    return types_fit(step.op, operands, step.dtype);
}

std::string pointwise_problem(const AffineScope& scope, const Pointwise& kernel, std::span<const TensorType> inputs,
                              const TensorType& output) {
    if (kernel.input_dims.size() != inputs.size()) return "pointwise: one list of dims per input";
    for (size_t n = 0; n < inputs.size(); ++n) {
        const std::vector<int>& dims = kernel.input_dims[n];
        if (dims.size() != inputs[n].shape.size()) return "pointwise: one output dim per dim of an input";
        for (size_t d = 0; d < dims.size(); ++d) {
            if (dims[d] < 0 || dims[d] >= output.rank() || std::count(dims.begin(), dims.end(), dims[d]) != 1)
                return "pointwise: an input runs along dims that are not there";
            if (inputs[n].shape[d] != 1 && inputs[n].shape[d] != output.shape[dims[d]])
                return fmt::format("pointwise: dim {} of input {} does not fit the result", d, n);
        }
    }
    if (kernel.steps.empty() || kernel.steps.back().dtype != output.dtype)
        return "pointwise: the last step is not of the result's type";
    for (size_t s = 0; s < kernel.steps.size(); ++s) {
        const ScalarStep& step = kernel.steps[s];
        if (step.op == ScalarOp::input) {
            if (step.args[0] < 0 || step.args[0] >= static_cast<int>(inputs.size()))
                return "pointwise: a step reads an input that is not there";
            if (inputs[step.args[0]].dtype != step.dtype) return "pointwise: a step reads an input as another type";
        }
        if (step.op == ScalarOp::index) {
            if (step.args[0] < 0 || step.args[0] >= output.rank())
                return "pointwise: an index along a dim that is not there";
            if (!range_of(scope, step.start)) return "pointwise: an index starts outside what can be computed";
        }
        for (int a = 0; a < arity(step.op); ++a)
            if (step.args[a] < 0 || step.args[a] >= static_cast<int>(s)) return "pointwise: a step reads a later one";
        if (arity(step.op) > 0 && !step_types_fit(step, std::span(kernel.steps).first(s)))
            return fmt::format("pointwise: {} is not defined on these types", name(step.op));
    }
    return {};
}

std::string reduce_problem(const AffineScope& scope, const Reduce& reduce, std::span<const TensorType> inputs,
                           const TensorType& output) {
    if (!reduce.made && (inputs.size() != 1 || inputs[0].dtype != output.dtype))
        return "reduce: one operand of the result's type";
    const TensorType reduced = reduced_type(reduce, inputs, output);
    if (reduce.made) {
        const std::string problem = pointwise_problem(scope, reduce.made->program, inputs, reduced);
        if (!problem.empty()) return "reduce: " + problem;
        // Or a result of few elements has no end.
        bool is_bounded = false;
        for (size_t n = 0; n < inputs.size(); ++n)
            is_bounded = is_bounded || has_reduced_dims(reduce, reduce.made->program.input_dims[n], inputs[n].shape);
        if (!is_bounded || !checked_element_count(reduced.shape)) return "reduce: dims that no operand has";
    }
    Shape rest;
    size_t next = 0;
    for (int d = 0; d < reduced.rank(); ++d) {
        if (next < reduce.dims.size() && reduce.dims[next] == d)
            ++next;
        else
            rest.push_back(reduced.shape[d]);
    }
    if (next != reduce.dims.size()) return "reduce: dims are not sorted dims of the operand";
    if (rest != output.shape) return "reduce: the result's shape is not what is left";
    return {};
}

std::string move_problem(const AffineScope& scope, const Move& move, std::span<const TensorType> inputs,
                         const TensorType& output) {
    for (const TensorType& input : inputs)
        if (input.dtype != output.dtype) return "move: element types differ";
    if (move.flat)
        return inputs.size() == 1 && inputs[0].elements() == output.elements() ? ""
                                                                               : "move: a reshape keeps the elements";
    const size_t rank = output.shape.size();
    if (!move.permutation.empty()) {
        std::vector<int> sorted = move.permutation;
        std::sort(sorted.begin(), sorted.end());
        if (sorted.size() != rank) return "move: not a permutation of the dims";
        for (size_t d = 0; d < rank; ++d)
            if (sorted[d] != static_cast<int>(d)) return "move: not a permutation of the dims";
    }
    // start + stride * t for t < extent stays where 64 bits suffice; what lies outside the operand or the output is
    // skipped.
    const auto reach = [](i64 stride, i64 extent) {
        const std::optional<i64> distance = checked_multiply(stride, extent);
        return stride != 0 && distance && *distance > -reach_limit && *distance < reach_limit;
    };
    for (const MovePiece& piece : move.pieces) {
        if (piece.operand < 0 || piece.operand >= static_cast<int>(inputs.size()))
            return "move: a piece of an operand that is not there";
        if (inputs[piece.operand].shape.size() != rank || piece.in_start.size() != rank ||
            piece.in_stride.size() != rank || piece.out_start.size() != rank || piece.out_stride.size() != rank ||
            piece.extent.size() != rank)
            return "move: a piece of another rank";
        for (size_t d = 0; d < rank; ++d) {
            const size_t p = move.permutation.empty() ? d : move.permutation[d];
            if (!range_of(scope, piece.in_start[d]) || !range_of(scope, piece.out_start[d]))
                return "move: a start outside what can be computed";
            if (piece.extent[d] < 0 || !reach(piece.out_stride[d], piece.extent[d]) ||
                !reach(piece.in_stride[p], piece.extent[d]))
                return "move: a piece that reaches outside what can be computed";
        }
    }
    return {};
}

std::string scan_problem(const Scan& scan, std::span<const TensorType> inputs, const TensorType& output) {
    const size_t operands = scan.op == ScanOp::linear ? 2 : 1;
    if (inputs.size() != operands) return fmt::format("scan: {} takes {} operands", name(scan.op), operands);
    for (const TensorType& input : inputs)
        if (input.dtype != output.dtype || input.shape != output.shape) return "scan: operands of the result's type";
    if (scan.dim < 0 || scan.dim >= output.rank()) return "scan: no such dim";
    const bool real = scan.op == ScanOp::logsumexp || scan.op == ScanOp::linear;
    if (output.dtype == DType::boolean || (real && !is_floating(output.dtype)))
        return fmt::format("scan: {} is not defined on {}", name(scan.op), name(output.dtype));
    return {};
}

std::string sort_problem(const Sort& sort, std::span<const TensorType> inputs, const TensorType& output) {
    if (inputs.empty()) return "sort: no key";
    for (const TensorType& input : inputs)
        if (input.shape != inputs[0].shape) return "sort: keys of several shapes";
    if (sort.dim < 0 || sort.dim >= inputs[0].rank()) return "sort: no such dim";
    Shape most = inputs[0].shape;
    if (output.dtype != DType::i32 || most[sort.dim] > std::numeric_limits<std::int32_t>::max())
        return "sort: positions are i32";
    if (output.rank() == inputs[0].rank()) most[sort.dim] = std::min(most[sort.dim], output.shape[sort.dim]);
    return most == output.shape ? "" : "sort: the result's shape does not fit";
}

std::string attend_problem(const AffineScope& scope, const Attend& attend, std::span<const TensorType> inputs,
                           const TensorType& output) {
    if (const std::string problem = attend_problem(attend, inputs, output); !problem.empty())
        return "attend: " + problem;
    if (!range_of(scope, attend.start)) return "attend: a start outside what can be computed";
    if (!attend.kept) return "";
    const AttendSizes sizes = attend_sizes(attend.part, inputs);
    const TensorType pairs = {DType::boolean, drawn_pairs(attend, sizes), {}};
    const std::string problem = generate_problem(scope, *attend.kept, pairs);
    return problem.empty() ? "" : "attend: " + problem;
}

std::string ragged_problem(const AffineScope& scope, const RaggedContract& ragged, std::span<const TensorType> inputs,
                           const TensorType& output) {
    if (const std::string problem = ragged_problem(ragged, inputs, output); !problem.empty())
        return "ragged_contract: " + problem;
    const bool computes = range_of(scope, ragged.row) && range_of(scope, ragged.group);
    return computes ? "" : "ragged_contract: a start outside what can be computed";
}

// Of kernels that say themselves what does not fit.
std::string named_problem(std::string_view kernel, const std::string& problem) {
    return problem.empty() ? "" : fmt::format("{}: {}", kernel, problem);
}

std::string gather_problem(const AffineScope& scope, const Gather& gather, std::span<const TensorType> inputs,
                           const TensorType& output) {
    if (inputs.size() != 2) return "gather takes a table and indices";
    if (inputs[0].dtype != output.dtype || !is_integer(inputs[1].dtype)) return "gather: element types do not fit";
    if (gather.size < 1) return "gather: no such dim of the table";
    const Shape &table = inputs[0].shape, &indices = inputs[1].shape;
    if (const std::string problem = lookup_problem(gather.lookup(), table, indices); !problem.empty())
        return "gather: " + problem;
    if (found_shape(gather.lookup(), table, indices) != output.shape) return "gather: the result's shape does not fit";
    if (!range_of(scope, gather.start)) return "gather: a start outside what can be computed";
    return {};
}

std::string scatter_problem(const AffineScope& scope, const Scatter& scatter, std::span<const TensorType> inputs,
                            const TensorType& output) {
    if (inputs.size() != 2) return "scatter takes indices and updates";
    if (!is_integer(inputs[0].dtype) || inputs[1].dtype != output.dtype || output.dtype == DType::boolean)
        return "scatter: element types do not fit";
    if (scatter.size < 1) return "scatter: no such dim of the table";
    const Shape &indices = inputs[0].shape, &result = output.shape;
    if (const std::string problem = lookup_problem(scatter.lookup(), result, indices); !problem.empty())
        return "scatter: " + problem;
    if (found_shape(scatter.lookup(), result, indices) != inputs[1].shape)
        return "scatter: the updates' shape does not fit";
    if (!range_of(scope, scatter.start)) return "scatter: a start outside what can be computed";
    return {};
}

std::string random_problem(const AffineScope& scope, const Random& random, const Generate& generate,
                           const TensorType& output) {
    const Distribution& d = random.distribution;
    for (double value : {d.value, d.low, d.high, d.probability, d.scale, d.offset})
        if (!std::isfinite(value)) return "random: a parameter that is not a finite number";
    const bool continuous = d.kind == DistributionKind::uniform || d.kind == DistributionKind::normal ||
                            d.kind == DistributionKind::truncated_normal;
    if (continuous && !is_floating(output.dtype)) return "random: a continuous distribution of integers";
    const bool is_rbg = random.layout == BitLayout::rbg;
    if (is_rbg && (random.words.empty() || !random.folds.empty() || !random.blocks.empty() || random.multiplier != 1 ||
                   d.kind == DistributionKind::randint))
        return "random: a key of rbg is computed, and nothing is folded into it or made of it";
    if (!random.words.empty() && (random.words.size() != (is_rbg ? 4 : 2) || !random.layers.empty()))
        return "random: a key that is computed has two words, of rbg four, and no layers";
    for (const Affine& word : random.words)
        if (!range_of(scope, word)) return "random: a key outside what can be computed";
    for (const Affine& fold : random.folds)
        if (!range_of(scope, fold)) return "random: a fold outside what can be computed";
    bool is_inside = true;
    for (size_t n = 0; n < generate.start.size(); ++n) {
        const std::optional<Range> range = range_of(scope, generate.start[n]);
        is_inside = is_inside && range && range->high <= generate.shape[n] - output.shape[n];
    }
    if (!is_inside && (!random.blocks.empty() || !random.layers.empty()))
        return "random: parts of their own, of a block outside the whole";
    if (random.blocks.empty()) return {};
    if (random.blocks.size() != generate.shape.size()) return "random: one number of blocks per dim";
    for (size_t n = 0; n < generate.shape.size(); ++n)
        if (random.blocks[n] < 1 || generate.shape[n] % random.blocks[n] != 0)
            return "random: blocks that do not divide the whole";
    return {};
}

} // namespace

std::string generate_problem(const AffineScope& scope, const Generate& generate, const TensorType& output) {
    const size_t rank = output.shape.size();
    if (!type_problem({output.dtype, generate.shape, {}}).empty() || generate.shape.size() != rank)
        return "generate: a whole shape that does not fit";
    if (!generate.start.empty() && generate.start.size() != rank) return "generate: one start per dim";
    for (size_t d = 0; d < generate.start.size(); ++d) {
        const std::optional<Range> range = range_of(scope, generate.start[d]);
        const bool may_reach_beyond = std::holds_alternative<Random>(generate.source);
        if (!range || range->low < 0 || (!may_reach_beyond && range->high + output.shape[d] > generate.shape[d]))
            return "generate: a block outside the whole";
    }
    for (size_t d = 0; generate.start.empty() && d < rank; ++d)
        if (output.shape[d] > generate.shape[d]) return "generate: a block larger than the whole";
    if (const Literal* literal = std::get_if<Literal>(&generate.source))
        if (static_cast<i64>(literal->values.size()) != element_count(generate.shape))
            return "generate: one value per element";
    if (const Iota* iota = std::get_if<Iota>(&generate.source))
        if (iota->dim < 0 || iota->dim >= static_cast<int>(rank)) return "generate: iota along a dim that is not there";
    const Random* random = std::get_if<Random>(&generate.source);
    if (random != nullptr && !random->layers.empty() && !stack_dims(generate.shape, random->layers.size()))
        return "random: one key per entry of the first dims";
    if (random != nullptr) return random_problem(scope, *random, generate, output);
    return {};
}

bool has_reduced_dims(const Reduce& reduce, const std::vector<int>& dims, const Shape& shape) {
    return std::all_of(reduce.dims.begin(), reduce.dims.end(), [&](int dim) {
        for (size_t d = 0; d < dims.size(); ++d)
            if (dims[d] == dim) return shape[d] == reduce.made->shape[static_cast<size_t>(dim)];
        return false;
    });
}

std::string kernel_problem(const AffineScope& scope, const Kernel& kernel, std::span<const TensorType> inputs,
                           const TensorType& output) {
    if (const Contract* contract = std::get_if<Contract>(&kernel)) return contract_problem(*contract, inputs, output);
    if (const Pointwise* pointwise = std::get_if<Pointwise>(&kernel))
        return pointwise_problem(scope, *pointwise, inputs, output);
    if (const Reduce* reduce = std::get_if<Reduce>(&kernel)) return reduce_problem(scope, *reduce, inputs, output);
    if (const Scan* scan = std::get_if<Scan>(&kernel)) return scan_problem(*scan, inputs, output);
    if (const Sort* sort = std::get_if<Sort>(&kernel)) return sort_problem(*sort, inputs, output);
    if (const Attend* attend = std::get_if<Attend>(&kernel)) return attend_problem(scope, *attend, inputs, output);
    if (const RaggedContract* ragged = std::get_if<RaggedContract>(&kernel))
        return ragged_problem(scope, *ragged, inputs, output);
    if (const Convolve* convolve = std::get_if<Convolve>(&kernel))
        return named_problem("convolve", convolve_problem(*convolve, inputs, output));
    if (const ReduceWindows* windows = std::get_if<ReduceWindows>(&kernel))
        return named_problem("reduce_windows", pool_problem(*windows, inputs, output));
    if (const SelectWindows* windows = std::get_if<SelectWindows>(&kernel))
        return named_problem("select_windows", pool_problem(*windows, inputs, output));
    if (const Move* move = std::get_if<Move>(&kernel)) return move_problem(scope, *move, inputs, output);
    if (const Gather* gather = std::get_if<Gather>(&kernel)) return gather_problem(scope, *gather, inputs, output);
    if (const Scatter* scatter = std::get_if<Scatter>(&kernel)) return scatter_problem(scope, *scatter, inputs, output);
    const Generate& generate = std::get<Generate>(kernel);
    if (!inputs.empty()) return "generate takes no operands";
    return generate_problem(scope, generate, output);
}

std::vector<int> scalars_read(const Kernel& kernel) {
    std::vector<int> buffers;
    for_each_affine(kernel, [&buffers](const Affine& affine) { add_scalars(affine, buffers); });
    return buffers;
}

} // namespace shard
