#include "plans/kernel/kernel_cost.h"

#include "plans/kernel/scalar_cost.h"

#include <algorithm>
#include <limits>

namespace shard {

namespace {

// A box may reach beyond what a device holds of the operand and of the result.
i64 elements_copied(const Move& move, const MovePiece& piece, const Shape& input, const Shape& output) {
    i64 count = 1;
    for (size_t d = 0; d < output.size(); ++d) {
        const size_t k = move.permutation.empty() ? d : static_cast<size_t>(move.permutation[d]);
        count *= std::min({piece.extent[d], input[k], output[d]});
    }
    return count;
}

// By the first of the names that the profile has a figure for; 0: by none.
double rate_of(const Hardware& hardware, std::initializer_list<std::string_view> names) {
    for (const std::string_view wanted : names)
        for (const auto& [type, rate] : hardware.flops)
            if (type == wanted) return rate;
    return 0;
}

// Of the steps that count as FLOPs.
double share_of_functions(const Kernel& kernel) {
    const Pointwise* const program = program_of(kernel);
    if (program == nullptr) return 0;
    double steps = std::holds_alternative<Reduce>(kernel) ? 1 : 0, functions = 0;
    for (const ScalarStep& step : program->steps) {
        if (arity(step.op) == 0 || step.op == ScalarOp::cast || step.op == ScalarOp::bitcast) continue;
        ++steps;
        functions += is_series(step.op) ? 1 : 0;
    }
    return steps > 0 ? functions / steps : 0;
}

// Attention's blocks are small enough to stay in a cache.
bool puts_in_order(const Kernel& kernel) { return is_product(kernel) && !std::holds_alternative<Attend>(kernel); }

bool is_gradient(AttendPart part) {
    return part == AttendPart::query_gradient || part == AttendPart::key_gradient ||
           part == AttendPart::value_gradient || part == AttendPart::bias_gradient;
}

// How much of the usual rate of products attention's kernels have.
double attention_advantage(const Hardware& hardware, const Kernel& kernel, std::span<const TensorType> inputs) {
    const Attend* const attend = std::get_if<Attend>(&kernel);
    if (attend == nullptr) return 1;
    const std::vector<SizeShare>& curve =
        is_gradient(attend->part) ? hardware.attention_gradient_efficiency : hardware.attention_efficiency;
    if (curve.empty()) return 1;
    return share_at(curve, static_cast<double>(attend_sizes(attend->part, inputs).width)) / hardware.flop_efficiency;
}

} // namespace

i64 kernel_bytes(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output, int in_place) {
    i64 bytes = 0;
    const auto add = [&bytes](i64 more) {
        if (__builtin_add_overflow(bytes, more, &bytes)) bytes = std::numeric_limits<i64>::max();
    };
    const Move* move = std::get_if<Move>(&kernel);
    if (move == nullptr || move->flat) {
        const bool looks_up = std::holds_alternative<Gather>(kernel);
        add(output.bytes());
        for (const TensorType& input : inputs)
            add(looks_up && &input == &inputs[0] ? std::min(input.bytes(), output.bytes()) : input.bytes());
        return bytes;
    }
    if (!move->covers) add(output.bytes());
    for (const MovePiece& piece : move->pieces) {
        if (piece.operand == in_place) continue;
        const i64 copied =
            elements_copied(*move, piece, inputs[piece.operand].shape, output.shape) * byte_size(output.dtype);
        add(copied);
        add(copied);
    }
    return bytes;
}

double host_seconds(const Hardware& hardware, i64 bytes) {
    return hardware.host_bandwidth > 0 ? static_cast<double>(bytes) / hardware.host_bandwidth : 0;
}

double memory_seconds(const Hardware& hardware, i64 bytes) {
    if (hardware.memory_bandwidth <= 0) return hardware.kernel_launch;
    return hardware.kernel_launch +
           static_cast<double>(bytes) / (hardware.memory_bandwidth * hardware.memory_efficiency);
}

bool is_product(const Kernel& kernel) {
    return std::holds_alternative<Contract>(kernel) || std::holds_alternative<RaggedContract>(kernel) ||
           std::holds_alternative<Convolve>(kernel) || std::holds_alternative<Attend>(kernel);
}

double flop_rate(const Hardware& hardware, const Kernel& kernel, DType dtype) {
    double products = rate_of(hardware, {name(dtype)});
    if (products <= 0 && is_floating(dtype) && byte_size(dtype) == 1) // whichever of them is named
        products = rate_of(hardware, {name(DType::f8e4m3fn), name(DType::f8e5m2)});
    if (products <= 0 && is_floating(dtype) && byte_size(dtype) <= 2) products = rate_of(hardware, {"bf16"});
    if (products <= 0) products = rate_of(hardware, {"f32", "bf16"});
    double steps = is_product(kernel) ? products : rate_of(hardware, {"pointwise"});
    if (steps <= 0) steps = products;
    const double functions = rate_of(hardware, {"functions"});
    if (functions > 0 && steps > 0)
        if (const double share = share_of_functions(kernel); share > 0)
            steps = 1 / ((1 - share) / steps + share / functions);
    return steps * hardware.flop_efficiency;
}

double kernel_seconds(const Hardware& hardware, const Kernel& kernel, std::span<const TensorType> inputs,
                      const TensorType& output, i64 flops, i64 bytes) {
    const DType dtype = inputs.empty() ? output.dtype : inputs[0].dtype;
    const double rate = flop_rate(hardware, kernel, dtype) * attention_advantage(hardware, kernel, inputs),
                 computing = rate > 0 ? static_cast<double>(flops) / rate : 0,
                 moving = puts_in_order(kernel) && hardware.product_bandwidth > 0
                              ? static_cast<double>(bytes) / hardware.product_bandwidth
                              : memory_seconds(hardware, bytes) - hardware.kernel_launch;
    return hardware.kernel_launch + (hardware.roofline_adds ? computing + moving : std::max(computing, moving));
}

} // namespace shard
