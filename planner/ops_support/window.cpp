#include "planner/ops_support/window.h"

#include "planner/ops_support/infer.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

std::vector<i64> window_dims(const Attributes& attributes, size_t operands, size_t first) {
    if (attributes.has("dim")) return attributes.integers("dim");
    std::vector<i64> dims;
    for (size_t n = first; n < operands; ++n) dims.push_back(static_cast<i64>(dims.size()));
    return dims;
}

bool check_window(const InferContext& context, size_t first) {
    const size_t starts = context.operands.size() - first;
    const std::vector<i64> dims = window_dims(context.attributes, context.operands.size(), first);
    const bool differ = [&dims] {
        std::vector<i64> sorted = dims;
        std::sort(sorted.begin(), sorted.end());
        return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    }();
    const bool exist =
        std::all_of(dims.begin(), dims.end(), [&](i64 dim) { return dim >= 0 && dim < context.operands[0].rank(); });
    if (dims.size() != starts || !differ || !exist) {
        context.diagnostics
            .error("E0226", context.span,
                   fmt::format("'{}' has {} starts for {} dims of {}", context.op, starts, dims.size(),
                               operand_text(context, 0)))
            .help("give one start for each dim in `dim`");
        return false;
    }
    for (size_t n = first; n < context.operands.size(); ++n) {
        if (!check_dtype(context, n, is_integer, "whole numbers as starts")) return false;
        if (context.operands[n].rank() == 0) continue;
        context.diagnostics
            .error("E0223", context.span,
                   fmt::format("a start of '{}' is one number, and {} is not", context.op, operand_text(context, n)))
            .help("give each dim its own scalar");
        return false;
    }
    return true;
}

std::vector<Affine> window_start(const LowerContext& context, size_t first, const Shape& window, const Shape& whole) {
    std::vector<Affine> start(whole.size());
    const std::vector<i64> dims = window_dims(context.attributes, context.global_operands.size(), first);
    for (size_t n = 0; n < dims.size(); ++n) {
        const size_t d = dims[n];
        start[d] = LowerContext::scalar(static_cast<int>(first + n), 0, whole[d] - window[d]);
    }
    return start;
}

} // namespace shard
