#include "exporter/stablehlo/hlo_reduce.h"

#include <fmt/format.h>

#include <limits>

namespace shard {

namespace {

std::string_view op_of(ReduceOp reduce, DType dtype) {
    const bool truth = dtype == DType::boolean;
    switch (reduce) {
    case ReduceOp::sum:
        return truth ? "stablehlo.or" : "stablehlo.add";
    case ReduceOp::prod:
        return truth ? "stablehlo.and" : "stablehlo.multiply";
    case ReduceOp::max:
        return truth ? "stablehlo.or" : "stablehlo.maximum";
    case ReduceOp::min:
        return truth ? "stablehlo.and" : "stablehlo.minimum";
    }
    internal_error("unknown reduction");
}

// log(exp(a) + exp(b)); of two infinities of one sign it is that one, where a - b is NaN.
HloValue log_of_sum(const HloValue& a, const HloValue& b, HloOps& ops) {
    const HloValue larger = ops.pointwise("stablehlo.maximum", {a, b});
    const HloValue difference = ops.pointwise("stablehlo.subtract", {a, b});
    const HloValue below = ops.pointwise("stablehlo.negate", {ops.pointwise("stablehlo.abs", {difference})});
    const HloValue rest = ops.pointwise("stablehlo.log_plus_one", {ops.pointwise("stablehlo.exponential", {below})});
    const HloValue sum = ops.pointwise("stablehlo.add", {larger, rest});
    const HloValue none = ops.pointwise("stablehlo.compare NE,", {difference, difference}, DType::boolean);
    return ops.pointwise("stablehlo.select", {none, ops.pointwise("stablehlo.add", {a, b}), sum});
}

} // namespace

HloValue hlo_combine(ReduceOp reduce, const HloValue& a, const HloValue& b, HloOps& ops) {
    return ops.pointwise(op_of(reduce, a.dtype), {a, b});
}

HloValue hlo_neutral(ReduceOp reduce, DType dtype, const Shape& shape, HloOps& ops) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (reduce == ReduceOp::sum || reduce == ReduceOp::prod)
        return ops.constant(reduce == ReduceOp::sum ? 0 : 1, dtype, shape);
    const bool max = reduce == ReduceOp::max;
    if (is_floating(dtype)) return ops.constant(max ? -infinity : infinity, dtype, shape);
    if (dtype == DType::boolean) return ops.constant(max ? 0 : 1, dtype, shape);
    return ops.constant(max ? std::to_string(info(dtype).lowest) : std::to_string(info(dtype).highest), dtype, shape);
}

HloValue hlo_with_combiner(const std::string& name, const HloValues& operands, const std::string& attributes,
                           ReduceOp reduce, const HloValue& result, HloOps& ops) {
    const auto region = [&](const HloValues& scalars) { return hlo_combine(reduce, scalars[0], scalars[1], ops); };
    return ops.with_region(name, operands, attributes, {result.dtype, result.dtype}, region, {result})[0];
}

HloValue hlo_reduce(const Reduce& kernel, const HloValue& input, const HloValue& output, HloOps& ops) {
    const DType inside = computed_as(input.dtype);
    const HloValue value = ops.convert(input, inside);
    const HloValue init = hlo_neutral(kernel.op, inside, {}, ops);
    const std::vector<i64> dims(kernel.dims.begin(), kernel.dims.end());
    const std::string over = fmt::format("stablehlo.reduce({} init: {}) applies {} across dimensions = {} : ({}) -> {}",
                                         value.name, init.name, op_of(kernel.op, inside), hlo_list(dims),
                                         hlo_types({value, init}), hlo_type(inside, output.shape));
    const HloValue reduced = ops.made(inside, output.shape, over);
    return ops.convert(reduced, output.dtype);
}

// In steps that double: after each, an element has combined twice as many of those before it.
HloValue hlo_scan(const Scan& kernel, const HloValues& inputs, const HloValue& output, HloOps& ops) {
    const size_t dim = static_cast<size_t>(kernel.dim), rank = output.shape.size();
    const DType inside = computed_as(output.dtype);
    const auto moved_on = [&](const HloValue& value, const HloValue& first, i64 by) {
        std::vector<i64> low(rank, 0), high(rank, 0);
        low[dim] = kernel.reverse ? -by : by;
        high[dim] = -low[dim];
        return ops.pad(value, first, low, high, std::vector<i64>(rank, 0));
    };
    HloValue value = ops.convert(inputs.back(), inside);
    if (kernel.op == ScanOp::linear) {
        HloValue factor = ops.convert(inputs[0], inside);
        const HloValue zero = ops.constant(0, inside), one = ops.constant(1, inside);
        for (i64 by = 1; by < output.shape[dim]; by *= 2) {
            const HloValue before = ops.pointwise("stablehlo.multiply", {factor, moved_on(value, zero, by)});
            if (2 * by < output.shape[dim])
                factor = ops.pointwise("stablehlo.multiply", {factor, moved_on(factor, one, by)});
            value = ops.pointwise("stablehlo.add", {before, value});
        }
        return ops.convert(value, output.dtype);
    }
    const std::optional<ReduceOp> reduce = parse_reduce_op(name(kernel.op)); // nullopt: logsumexp
    const HloValue neutral = hlo_neutral(reduce.value_or(ReduceOp::max), inside, {}, ops);
    for (i64 by = 1; by < output.shape[dim]; by *= 2) {
        const HloValue before = moved_on(value, neutral, by);
        value = reduce ? hlo_combine(*reduce, before, value, ops) : log_of_sum(before, value, ops);
    }
    return ops.convert(value, output.dtype);
}

} // namespace shard
