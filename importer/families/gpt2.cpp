// GPT-2: learned positions, one array for queries, keys and values, weights as (in, out).
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

namespace shard {

namespace {

FamilyModel make(const HfConfig& config) {
    const i64 embed = config.size("n_embd", 768), heads = config.size("n_head", 12),
              layers = config.size("n_layer", 12);
    const i64 mlp = config.size("n_inner", 4 * embed), positions = config.size("n_positions", 1024);
    const std::string eps = float_text(config.number("layer_norm_epsilon", 1e-5));
    if (embed % heads != 0) config.wrong("n_head", fmt::format("n_embd {} has no {} heads", embed, heads));
    require_activation(config, "activation_function", {"gelu_new", "gelu_pytorch_tanh"}, "gelu_new");
    require_off(config, {"scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn", "add_cross_attention"});
    require_on(config, {"scale_attn_weights", "tie_word_embeddings"});

    FamilyModel model;
    model.name = "gpt2";
    model.comments = {fmt::format("GPT-2: {} layers, {} heads of {}, learned positions, tied embedding. `shardc list "
                                  "library gpt2` shows the block.",
                                  layers, heads, embed / heads)};
    model.includes = {"gpt2"};
    model.length = positions;
    model.dtype = dtype_of(config);
    model.axes = {{"embed", embed},
                  {"heads", heads},
                  {"kv", embed / heads, "of a head"},
                  {"mlp", mlp},
                  {"vocab", config.size("vocab_size", 50257)},
                  {"context", positions, "positions that it has learned"}};
    set_next_token(model);
    model.params = {{"wte", "{axes: [vocab, embed], init: {normal: {stddev: 0.02}}}"},
                    {"wpe", "{axes: [context, embed], init: {normal: {stddev: 0.01}}}"},
                    {"lnf_scale", "{axes: [embed], init: ones}"},
                    {"lnf_bias", "{axes: [embed], init: zeros}"}};
    model.graph = {
        "p: {slice: wpe, dim: context, start: 0, limit: length}",
        "x: {add: [{gather: [wte, tokens], dim: 0}, p]}",
        "x: {constrain: x, axes: [batch, length, embed]}",
        fmt::format("x: {{repeat: gpt2_block, times: {}, in: x, axis: layers, scan: true, eps: {}}}", layers, eps),
        fmt::format("x: {{layer_norm: [x, lnf_scale, lnf_bias], eps: {}}}", eps),
        "logits: {einsum: \"bld,vd->blv\", in: [x, wte]}"};

    model.prefixes = {"transformer."};
    model.unused = {"lm_head.weight", "**.attn.bias", "**.attn.masked_bias"};
    model.tensors = {
        {"wte", "wte.weight"}, {"wpe", "wpe.weight"}, {"lnf_scale", "ln_f.weight"}, {"lnf_bias", "ln_f.bias"}};
    const std::string block = "gpt2_block.", at = "h.{layer}.";
    const auto add = [&](const std::string& param, const std::string& from, const std::string& rearrange = {},
                         const FamilyLines& part = {}) {
        model.tensors.push_back({block + param, at + from, rearrange, part});
    };
    add("ln1_scale", "ln_1.weight");
    add("ln1_bias", "ln_1.bias");
    for (int n = 0; const char* const name : {"q", "k", "v"}) {
        const FamilyLines part = {{"qkv", fmt::format("{} of 3", n++)}};
        add(fmt::format("w{}", name), "attn.c_attn.weight", "embed (qkv heads kv) -> embed heads kv", part);
        add(fmt::format("b{}", name), "attn.c_attn.bias", "(qkv heads kv) -> heads kv", part);
    }
    add("wo", "attn.c_proj.weight", "(heads kv) embed -> heads kv embed");
    add("bo", "attn.c_proj.bias");
    add("ln2_scale", "ln_2.weight");
    add("ln2_bias", "ln_2.bias");
    add("w_up", "mlp.c_fc.weight");
    add("b_up", "mlp.c_fc.bias");
    add("w_down", "mlp.c_proj.weight");
    add("b_down", "mlp.c_proj.bias");
    return model;
}

} // namespace

const FamilyDef& family_gpt2() {
    static const FamilyDef def = {{"gpt2"}, make};
    return def;
}

} // namespace shard
