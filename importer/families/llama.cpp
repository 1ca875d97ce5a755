// Llama 2 and 3, Mistral, Qwen 2 and 3: one block, which differs in biases, norms of queries and keys, and a window.
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

namespace shard {

namespace {

struct Kind {
    bool qkv_bias = false, o_bias = false, mlp_bias = false, qk_norm = false;
    i64 window = 0;
    double theta = 10000;
    std::string title;
};

Kind kind_of(const HfConfig& config) {
    const std::string type = config.word("model_type", "");
    Kind kind;
    if (type == "llama") {
        kind.title = "Llama";
        kind.qkv_bias = kind.o_bias = config.flag("attention_bias", false);
        kind.mlp_bias = config.flag("mlp_bias", false);
    } else if (type == "mistral") {
        kind.title = "Mistral";
        // Without the key the class takes 4096; null is none.
        kind.window = config.count("sliding_window", 0);
    } else {
        kind.title = type == "qwen2" ? "Qwen 2" : "Qwen 3";
        kind.qkv_bias = type == "qwen2" || config.flag("attention_bias", false);
        kind.o_bias = type == "qwen3" && kind.qkv_bias;
        kind.qk_norm = type == "qwen3";
        if (config.flag("use_sliding_window", false))
            config.refuse("use_sliding_window", "no model of this family is made with a window in some of its layers",
                          "say \"use_sliding_window\": false, as the published models do");
    }
    return kind;
}

FamilyModel make(const HfConfig& config) {
    const Kind kind = kind_of(config);
    const Decoder decoder = read_decoder(config, {});
    require_activation(config, "hidden_act", {"silu", "swish"}, "silu");
    const Rope rope = read_rope(config, kind.theta);
    FamilyModel model = decoder_model(config, decoder);
    model.name = config.word("model_type", "llama");
    model.comments = {fmt::format("{}: {} layers, {} query and {} key-value heads of {}. `shardc list library llama` "
                                  "shows the block.",
                                  kind.title, decoder.layers, decoder.heads, decoder.kv_heads, decoder.kv)};
    model.includes = {"llama"};

    std::string block =
        fmt::format("repeat: llama_block, times: {}, in: x, axis: layers, scan: true, theta: {}, eps: {}",
                    decoder.layers, float_text(rope.theta), float_text(decoder.eps));
    if (!rope.scaling.empty()) block += ", scaling: " + rope.scaling;
    if (kind.window > 0) block += fmt::format(", windowed: true, window: {}", kind.window);
    if (kind.qk_norm) block += ", qk_norm: true";
    if (kind.qkv_bias) block += ", bias: true";
    if (kind.o_bias) block += ", out_bias: true";
    if (kind.mlp_bias) block += ", mlp_bias: true";
    add_decoder_graph(model, {fmt::format("x: {{{}}}", block)}, decoder);

    const std::string at = "model.layers.{layer}.";
    model.tensors.push_back({"llama_block.attention_norm", at + "input_layernorm.weight"});
    add_attention_names(model, "llama_block", "{layer}");
    if (kind.qkv_bias) add_attention_bias_names(model, "llama_block", "{layer}");
    if (kind.o_bias) model.tensors.push_back({"llama_block.bo", at + "self_attn.o_proj.bias"});
    if (kind.qk_norm) {
        model.tensors.push_back({"llama_block.q_norm", at + "self_attn.q_norm.weight"});
        model.tensors.push_back({"llama_block.k_norm", at + "self_attn.k_norm.weight"});
    }
    model.tensors.push_back({"llama_block.mlp_norm", at + "post_attention_layernorm.weight"});
    add_gated_mlp_names(model, "llama_block", at + "mlp.");
    if (kind.mlp_bias)
        for (const char* const name : {"gate", "up", "down"})
            model.tensors.push_back(
                {fmt::format("llama_block.b_{}", name), fmt::format("{}mlp.{}_proj.bias", at, name)});
    return model;
}

} // namespace

const FamilyDef& family_llama() {
    static const FamilyDef def = {{"llama", "mistral", "qwen2", "qwen3"}, make};
    return def;
}

} // namespace shard
