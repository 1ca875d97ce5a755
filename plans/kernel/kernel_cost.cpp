#include "plans/kernel/kernel_cost.h"

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

} // namespace

i64 kernel_bytes(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output, int in_place) {
    i64 bytes = 0;
    const auto add = [&bytes](i64 more) {
        if (__builtin_add_overflow(bytes, more, &bytes)) bytes = std::numeric_limits<i64>::max();
    };
    const Move* move = std::get_if<Move>(&kernel);
    if (move == nullptr || move->flat) {
        add(output.bytes());
        for (const TensorType& input : inputs) add(input.bytes());
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

double kernel_seconds(const Hardware& hardware, DType dtype, i64 flops, i64 bytes) {
    double seconds = hardware.kernel_floor;
    std::map<std::string, double>::const_iterator peak = hardware.flops.find(std::string(name(dtype)));
    if (peak == hardware.flops.end()) peak = hardware.flops.find("f32");
    if (peak == hardware.flops.end()) peak = hardware.flops.find("bf16");
    if (peak != hardware.flops.end() && peak->second > 0) {
        seconds = std::max(seconds, static_cast<double>(flops) / (peak->second * hardware.flop_efficiency));
    }
    if (hardware.memory_bandwidth > 0) {
        seconds =
            std::max(seconds, static_cast<double>(bytes) / (hardware.memory_bandwidth * hardware.memory_efficiency));
    }
    return seconds;
}

} // namespace shard
