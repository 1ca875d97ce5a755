// Mixtral, Qwen 2 MoE and Qwen 3 MoE: Llama's attention, and experts in the place of the mlp.
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

namespace shard {

namespace {

struct Experts {
    i64 count = 0, chosen = 0, width = 0, shared = 0; // shared: the width of the expert that every token goes to, or 0
    bool normalise = true, qkv_bias = false, qk_norm = false;
    i64 window = 0;
    std::string title, at, router; // at: of an expert's names, router: its name
    const char* names[3] = {};     // of an expert's gate, up and down
};

Experts read_experts(const HfConfig& config) {
    Experts read;
    const std::string type = config.word("model_type", "");
    read.chosen = config.size("num_experts_per_tok", type == "qwen2_moe" ? 4 : type == "mixtral" ? 2 : 8);
    if (type == "mixtral") {
        read.title = "Mixtral";
        read.count = config.size("num_local_experts", 8);
        read.width = config.size("intermediate_size");
        read.window = config.count("sliding_window", 0);
        read.at = "block_sparse_moe.";
        read.names[0] = "w1", read.names[1] = "w3", read.names[2] = "w2";
        return read;
    }
    read.title = type == "qwen2_moe" ? "Qwen 2 MoE" : "Qwen 3 MoE";
    read.count = config.size(config.has("num_experts") ? "num_experts" : "num_local_experts");
    read.width = config.size("moe_intermediate_size");
    read.normalise = config.flag("norm_topk_prob", false);
    read.at = "mlp.";
    read.names[0] = "gate_proj", read.names[1] = "up_proj", read.names[2] = "down_proj";
    if (type == "qwen2_moe") {
        read.shared = config.size("shared_expert_intermediate_size");
        read.qkv_bias = config.flag("qkv_bias", true);
    } else {
        read.qk_norm = true;
        require_off(config, {"attention_bias"});
    }
    require_off(config, {"use_sliding_window"});
    if (config.size("decoder_sparse_step", 1) != 1)
        config.refuse("decoder_sparse_step", "no model of this family is made with experts in some of its layers",
                      "published models have 1");
    if (config.entries("mlp_only_layers") > 0)
        config.refuse("mlp_only_layers", "no model of this family is made with experts in some of its layers",
                      "published models have none");
    return read;
}

void add_names(FamilyModel& model, const Experts& experts) {
    const std::string block = "moe_block.", at = "model.layers.{layer}.";
    model.tensors.push_back({block + "attention_norm", at + "input_layernorm.weight"});
    add_attention_names(model, "moe_block", "{layer}");
    if (experts.qkv_bias) add_attention_bias_names(model, "moe_block", "{layer}");
    if (experts.qk_norm) {
        model.tensors.push_back({block + "q_norm", at + "self_attn.q_norm.weight"});
        model.tensors.push_back({block + "k_norm", at + "self_attn.k_norm.weight"});
    }
    model.tensors.push_back({block + "mlp_norm", at + "post_attention_layernorm.weight"});
    model.tensors.push_back({block + "moe.router", at + experts.at + "gate.weight", "experts embed -> embed experts"});
    const auto name = [&](int n) {
        return fmt::format("{}{}experts.{{expert}}.{}.weight", at, experts.at, experts.names[n]);
    };
    model.tensors.push_back({block + "moe.w_gate", name(0), "mlp embed -> expert embed mlp"});
    model.tensors.push_back({block + "moe.w_up", name(1), "mlp embed -> expert embed mlp"});
    model.tensors.push_back({block + "moe.w_down", name(2), "embed mlp -> expert mlp embed"});
    if (experts.shared == 0) return;
    for (const char* const part : {"gate", "up"})
        model.tensors.push_back({fmt::format("{}shared_{}", block, part),
                                 fmt::format("{}mlp.shared_expert.{}_proj.weight", at, part),
                                 "mlp embed -> embed mlp"});
    model.tensors.push_back(
        {block + "shared_down", at + "mlp.shared_expert.down_proj.weight", "embed mlp -> mlp embed"});
    model.tensors.push_back(
        {block + "shared_share", at + "mlp.shared_expert_gate.weight", "one embed -> embed", {{"one", "0 of 1"}}});
}

FamilyModel make(const HfConfig& config) {
    const Experts experts = read_experts(config);
    Decoder decoder = read_decoder(config, {.eps = config.word("model_type", "") == "mixtral" ? 1e-5 : 1e-6});
    require_activation(config, "hidden_act", {"silu", "swish"}, "silu");
    const Rope rope = read_rope(config, 10000);
    if (experts.chosen > experts.count)
        config.wrong("num_experts_per_tok", fmt::format("there are no {} experts", experts.chosen));
    decoder.mlp = 0; // experts are in its place
    FamilyModel model = decoder_model(config, decoder);
    model.name = config.word("model_type", "mixtral");
    model.comments = {
        fmt::format("{}: {} layers, {} query and {} key-value heads of {}; {} experts, of which a token goes to "
                    "{}. `shardc list library moe`",
                    experts.title, decoder.layers, decoder.heads, decoder.kv_heads, decoder.kv, experts.count,
                    experts.chosen),
        "shows the block."};
    model.includes = {"moe"};
    add_expert_axes(model, experts.count, experts.chosen, experts.width);
    if (experts.shared > 0)
        model.axes.push_back({"shared_mlp", experts.shared, "of the expert that every token goes to"});

    std::string block =
        fmt::format("repeat: moe_block, times: {}, in: x, axis: layers, scan: true, chosen: {}, theta: {}, "
                    "eps: {}",
                    decoder.layers, experts.chosen, float_text(rope.theta), float_text(decoder.eps));
    if (!rope.scaling.empty()) block += ", scaling: " + rope.scaling;
    if (experts.window > 0) block += fmt::format(", windowed: true, window: {}", experts.window);
    if (!experts.normalise) block += ", normalise: false";
    if (experts.shared > 0) block += ", shared: true";
    if (experts.qk_norm) block += ", qk_norm: true";
    if (experts.qkv_bias) block += ", bias: true";
    add_decoder_graph(model, {fmt::format("x: {{{}}}", block)}, decoder);
    add_names(model, experts);
    return model;
}

} // namespace

const FamilyDef& family_mixtral() {
    static const FamilyDef def = {{"mixtral", "qwen2_moe", "qwen3_moe"}, make};
    return def;
}

} // namespace shard
