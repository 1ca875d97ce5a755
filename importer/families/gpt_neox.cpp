// GPT-NeoX and Pythia: attention and mlp side by side, rotary positions on a part of each head.
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

namespace shard {

namespace {

void add_names(FamilyModel& model) {
    model.unused = {"**.attention.bias", "**.attention.masked_bias", "**.rotary_emb.inv_freq"};
    model.tensors = {{"wte", "gpt_neox.embed_in.weight"},
                     {"lnf_scale", "gpt_neox.final_layer_norm.weight"},
                     {"lnf_bias", "gpt_neox.final_layer_norm.bias"},
                     {"unembed", "embed_out.weight", "vocab embed -> embed vocab"}};
    const std::string block = "gpt_neox_block.", at = "gpt_neox.layers.{layer}.";
    const auto add = [&](const std::string& param, const std::string& from, const std::string& rearrange = {},
                         const FamilyLines& part = {}) {
        model.tensors.push_back({block + param, at + from, rearrange, part});
    };
    add("ln1_scale", "input_layernorm.weight");
    add("ln1_bias", "input_layernorm.bias");
    for (int n = 0; const char* const name : {"q", "k", "v"}) {
        const FamilyLines part = {{"qkv", fmt::format("{} of 3", n++)}};
        const std::string from = "attention.query_key_value.";
        add(fmt::format("w{}", name), from + "weight", "(heads qkv kv) embed -> embed heads kv", part);
        add(fmt::format("b{}", name), from + "bias", "(heads qkv kv) -> heads kv", part);
    }
    add("wo", "attention.dense.weight", "embed (heads kv) -> heads kv embed");
    add("bo", "attention.dense.bias");
    add("ln2_scale", "post_attention_layernorm.weight");
    add("ln2_bias", "post_attention_layernorm.bias");
    add("w_up", "mlp.dense_h_to_4h.weight", "mlp embed -> embed mlp");
    add("b_up", "mlp.dense_h_to_4h.bias");
    add("w_down", "mlp.dense_4h_to_h.weight", "embed mlp -> mlp embed");
    add("b_down", "mlp.dense_4h_to_h.bias");
}

FamilyModel make(const HfConfig& config) {
    const Decoder decoder =
        read_decoder(config, {.embed = 6144, .heads = 64, .mlp = 24576, .vocab = 50432, .layers = 44});
    const std::string eps = float_text(config.number("layer_norm_eps", 1e-5));
    const std::string old = "rotary_pct", now = "rope_parameters.partial_rotary_factor";
    const double part = config.number(config.has(now) ? now : old, 0.25);
    const i64 rotated = static_cast<i64>(part * static_cast<double>(decoder.kv));
    if (!(part > 0 && part <= 1) || rotated % 2 != 0 || rotated == 0)
        config.wrong(config.has(now) ? now : old,
                     fmt::format("{} of {} entries of a head are not turned in pairs", part, decoder.kv));
    const std::string activation = config.word("hidden_act", "gelu");
    require_activation(config, "hidden_act", {"gelu", "gelu_fast", "gelu_new", "gelu_pytorch_tanh"}, "gelu");
    require_on(config, {"attention_bias"});
    require_off(config, {"tie_word_embeddings"});
    const std::string theta_key = config.has("rotary_emb_base") ? "rotary_emb_base" : "rope_theta";
    const Rope rope = read_rope(config, config.number(theta_key, 10000));
    if (!rope.scaling.empty())
        config.refuse("rope_scaling", "no model of this family is made with scaled rotary positions",
                      "published models have none");

    FamilyModel model;
    model.name = "gpt_neox";
    model.comments = {
        fmt::format("GPT-NeoX: {} layers, {} heads of {}, of which {} are turned. `shardc list library gpt_neox` "
                    "shows the block.",
                    decoder.layers, decoder.heads, decoder.kv, rotated)};
    model.includes = {"gpt_neox"};
    model.length = length_of(config, "max_position_embeddings", 2048);
    model.dtype = dtype_of(config);
    model.axes = {{"embed", decoder.embed},
                  {"heads", decoder.heads},
                  {"kv", decoder.kv, "of a head"},
                  {"mlp", decoder.mlp},
                  {"vocab", decoder.vocab}};
    set_next_token(model);
    model.params = {{"wte", "{axes: [vocab, embed], init: {normal: {stddev: 0.02}}}"},
                    {"lnf_scale", "{axes: [embed], init: ones}"},
                    {"lnf_bias", "{axes: [embed], init: zeros}"},
                    {"unembed", "{axes: [embed, vocab], init: {normal: {stddev: 0.02}}}"}};
    std::string block =
        fmt::format("repeat: gpt_neox_block, times: {}, in: x, axis: layers, scan: true, theta: {}, eps: {}",
                    decoder.layers, float_text(rope.theta), eps);
    block += rotated == decoder.kv ? std::string(", whole: true") : fmt::format(", rotated: {}", rotated);
    if (!config.flag("use_parallel_residual", true)) block += ", parallel: false";
    if (activation != "gelu") block += ", approximate: true";
    model.graph = {"x: {gather: [wte, tokens], dim: 0}", "x: {constrain: x, axes: [batch, length, embed]}",
                   fmt::format("x: {{{}}}", block),
                   fmt::format("x: {{layer_norm: [x, lnf_scale, lnf_bias], eps: {}}}", eps),
                   "logits: {dot: [x, unembed]}"};
    add_names(model);
    return model;
}

} // namespace

const FamilyDef& family_gpt_neox() {
    static const FamilyDef def = {{"gpt_neox"}, make};
    return def;
}

} // namespace shard
