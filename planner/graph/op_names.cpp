#include "planner/graph/op_names.h"

#include "plans/diagnostics/diagnostic.h"
#include "plans/diagnostics/suggestion.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

const std::vector<std::pair<std::string_view, std::string_view>>& foreign_op_names() {
    static const std::vector<std::pair<std::string_view, std::string_view>> names = {
        {"matmul", "dot"},
        {"mm", "dot"},
        {"bmm", "einsum"},
        {"dot_general", "einsum"},
        {"tensordot", "einsum"},
        {"sum", "reduce_sum"},
        {"prod", "reduce_prod"},
        {"amax", "reduce_max"},
        {"amin", "reduce_min"},
        {"average", "mean"},
        {"reduce_mean", "mean"},
        {"where", "select"},
        {"sigmoid", "logistic"},
        {"swish", "silu"},
        {"dense", "linear"},
        {"multiply", "mul"},
        {"subtract", "sub"},
        {"divide", "div"},
        {"true_divide", "div"},
        {"negative", "neg"},
        {"power", "pow"},
        {"mod", "rem"},
        {"remainder", "rem"},
        {"maximum", "max"},
        {"minimum", "min"},
        {"clip", "clamp"},
        {"equal", "eq"},
        {"not_equal", "ne"},
        {"greater", "gt"},
        {"greater_equal", "ge"},
        {"less", "lt"},
        {"less_equal", "le"},
        {"logical_and", "and"},
        {"logical_or", "or"},
        {"logical_not", "not"},
        {"bitwise_and", "bit_and"},
        {"bitwise_or", "bit_or"},
        {"bitwise_xor", "bit_xor"},
        {"xor", "bit_xor"},
        {"bitwise_not", "bit_not"},
        {"left_shift", "shift_left"},
        {"right_shift", "shift_right"},
        {"all", "reduce_and"},
        {"any", "reduce_or"},
        {"isfinite", "is_finite"},
        {"permute", "transpose"},
        {"swapaxes", "transpose"},
        {"flip", "rev"},
        {"reverse", "rev"},
        {"view", "reshape"},
        {"flatten", "reshape"},
        {"squeeze", "reshape"},
        {"unsqueeze", "reshape"},
        {"expand_dims", "reshape"},
        {"expand", "broadcast"},
        {"broadcast_to", "broadcast"},
        {"concat", "concatenate"},
        {"cat", "concatenate"},
        {"stack", "concatenate"},
        {"split", "slice"},
        {"chunk", "slice"},
        {"tile", "broadcast"},
        {"dot_product_attention", "attention"},
        {"scaled_dot_product_attention", "attention"},
        {"sdpa", "attention"},
        {"take", "gather"},
        {"embedding", "gather"},
        {"index_select", "gather"},
        {"take_along_dim", "take_along_axis"},
        {"index_add", "scatter_add"},
        {"segment_sum", "scatter_add"},
        {"segment_max", "scatter_max"},
        {"segment_min", "scatter_min"},
        {"topk", "top_k"},
        {"lexsort", "argsort"},
        {"bucketize", "searchsorted"},
        {"logcumsumexp", "cumlogsumexp"},
        {"arange", "iota"},
        {"zeros", "constant"},
        {"ones", "constant"},
        {"full", "constant"},
        {"astype", "cast"},
        {"layernorm", "layer_norm"},
        {"rmsnorm", "rms_norm"},
        {"cross_entropy", "softmax_cross_entropy"},
        {"mse_loss", "mse"},
        {"with_sharding_constraint", "constrain"},
        {"all_reduce", "psum"},
        {"reduce_scatter", "psum_scatter"},
    };
    return names;
}

std::string unknown_op_help(std::string_view word, const std::vector<std::string_view>& names) {
    for (const auto& [foreign, here] : foreign_op_names())
        if (foreign == word) return fmt::format("it is called '{}' here", here);
    return did_you_mean(word, names, "`shardc list ops` shows all ops");
}

} // namespace shard
