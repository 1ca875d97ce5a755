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
        {"convolution", "conv"},
        {"conv_general_dilated", "conv"},
        {"conv1d", "conv"},
        {"conv2d", "conv"},
        {"conv3d", "conv"},
        {"conv_transpose2d", "conv_transpose"},
        {"deconv", "conv_transpose"},
        {"maxpool", "max_pool"},
        {"max_pool2d", "max_pool"},
        {"avgpool", "avg_pool"},
        {"avg_pool2d", "avg_pool"},
        {"average_pool", "avg_pool"},
        {"reduce_window", "sum_pool"},
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
        {"tile", "broadcast"},
        {"dot_product_attention", "attention"},
        {"scaled_dot_product_attention", "attention"},
        {"sdpa", "attention"},
        {"multi_head_attention", "attention"},
        {"flash_attention", "attention"},
        {"rotary_embedding", "rope"},
        {"apply_rotary_pos_emb", "rope"},
        {"rotary", "rope"},
        {"dense_general", "einsum"},
        {"Dense", "linear"},
        {"Embed", "gather"},
        {"Embedding", "gather"},
        {"LayerNorm", "layer_norm"},
        {"RMSNorm", "rms_norm"},
        {"Conv", "conv"},
        {"Dropout", "dropout"},
        {"take", "gather"},
        {"embedding", "gather"},
        {"embed", "gather"},
        {"lookup", "gather"},
        {"embedding_lookup", "gather"},
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
        {"rand", "uniform"},
        {"randn", "normal"},
        {"bits", "random_bits"},
        {"rms_normalization", "rms_norm"},
        {"cross_entropy", "softmax_cross_entropy"},
        {"nll", "softmax_cross_entropy"},
        {"nll_loss", "softmax_cross_entropy"},
        {"softmax_cross_entropy_with_integer_labels", "softmax_cross_entropy"},
        {"sparse_softmax_cross_entropy", "softmax_cross_entropy"},
        {"mse_loss", "mse"},
        {"with_sharding_constraint", "constrain"},
        {"sharding_constraint", "constrain"},
        {"detach", "stop_gradient"},
        {"all_reduce", "psum"},
        {"reduce_scatter", "psum_scatter"},
    };
    return names;
}

namespace {

constexpr std::string_view loop = "write {repeat: block, times: 4, in: x, scan: true}, of a module";
constexpr std::string_view remat = "write `remat: full` beside `repeat`, or in a module";
constexpr std::string_view mask = "attention needs none with `causal: true`; elsewhere compare two iotas, {ge: [rows, "
                                  "columns]}, and `select` by that";
constexpr std::string_view pieces = "write a slice for each piece, {slice: x, dim: [1], start: [0], limit: [512]}";
constexpr std::string_view none =
    "there is none here: write it over others, of `shardc list ops` and `shardc list composites`";

// Of other array languages what is no op here, and what is none at all, though its name is near to another's.
const std::vector<std::pair<std::string_view, std::string_view>>& foreign_forms() {
    static const std::vector<std::pair<std::string_view, std::string_view>> forms = {
        {"scan", loop},
        {"fori_loop", loop},
        {"while_loop", loop},
        {"remat", remat},
        {"checkpoint", remat},
        {"swiglu", "write {mul: [{silu: gate}, up]}"},
        {"geglu", "write {mul: [{gelu: gate}, up]}"},
        {"glu", "write {mul: [{logistic: gate}, up]}"},
        {"cond", "write {select: [condition, x, y]}, which chooses by element"},
        {"batch_norm", none},
        {"elu", none},
        {"group_norm", none},
        {"leaky_relu", none},
        {"mae", none},
        {"softplus", none},
        {"std", none},
        {"causal_mask", mask},
        {"tril", mask},
        {"triu", mask},
        {"masked_fill", "write {select: [mask, value, x]}"},
        {"split", pieces},
        {"chunk", pieces},
        {"var", none},
        {"variance", none},
    };
    return forms;
}

} // namespace

std::string unknown_op_help(std::string_view word, const std::vector<std::string_view>& names) {
    if (const size_t dot = word.rfind('.'); dot != std::string_view::npos) { // jnp.dot, jax.nn.silu
        const std::string_view base = word.substr(dot + 1);
        if (std::find(names.begin(), names.end(), base) != names.end())
            return fmt::format("it is called '{}' here", base);
        return unknown_op_help(base, names);
    }
    for (const auto& [foreign, here] : foreign_op_names())
        if (foreign == word) return fmt::format("it is called '{}' here", here);
    for (const auto& [foreign, form] : foreign_forms())
        if (foreign == word) return std::string(form);
    return did_you_mean(word, names, "`shardc list ops` and `shardc list composites` show all");
}

} // namespace shard
