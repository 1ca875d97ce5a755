// Gemma 2 and 3: blocks that see a window and blocks that see all, in turn; norms of 1 + scale; a scaled embedding.
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

struct Kind {
    bool is_third = false;
    i64 period = 2; // of which the last block sees all
    std::string group;
};

// Names of the block at `layer`, called so in the model.
void add_names(FamilyModel& model, const std::string& block, const std::string& layer, const Kind& kind) {
    const std::string at = fmt::format("model.layers.{}.", layer);
    model.tensors.push_back({block + ".attention_norm", at + "input_layernorm.weight"});
    add_attention_names(model, block, layer);
    if (kind.is_third) {
        model.tensors.push_back({block + ".q_norm", at + "self_attn.q_norm.weight"});
        model.tensors.push_back({block + ".k_norm", at + "self_attn.k_norm.weight"});
    }
    model.tensors.push_back({block + ".attention_post_norm", at + "post_attention_layernorm.weight"});
    model.tensors.push_back({block + ".mlp_norm", at + "pre_feedforward_layernorm.weight"});
    add_gated_mlp_names(model, block, at + "mlp.");
    model.tensors.push_back({block + ".mlp_post_norm", at + "post_feedforward_layernorm.weight"});
}

// Which layers see all is in `layer_types`, where it is written.
void check_layers(const HfConfig& config, const Kind& kind) {
    const std::vector<std::string> types = config.words("layer_types");
    for (size_t layer = 0; layer < types.size(); ++layer) {
        const bool sees_all = (static_cast<i64>(layer) + 1) % kind.period == 0;
        if (types[layer] == (sees_all ? "full_attention" : "sliding_attention")) continue;
        config.refuse("layer_types",
                      fmt::format("no model of this family is made where layer {} has '{}'", layer, types[layer]),
                      fmt::format("of {} layers the last sees all, the others a window", kind.period));
        return;
    }
}

FamilyModel make(const HfConfig& whole) {
    const std::string type = whole.word("model_type", "gemma2");
    // A model that sees pictures too has its decoder's config within.
    const HfConfig config = type == "gemma3" ? whole.part("text_config") : whole;
    Kind kind;
    if (type != "gemma2") kind = {true, 6, "gemma3_six"};
    // Published configs of Gemma 3 leave out what is as in its 4B.
    Decoder usual{.tied = true};
    if (kind.is_third)
        usual = {.embed = 2304,
                 .heads = 8,
                 .kv_heads = 4,
                 .kv = 256,
                 .mlp = 9216,
                 .vocab = 262208,
                 .layers = 26,
                 .tied = true};
    const Decoder decoder = read_decoder(config, usual);
    if (!kind.is_third) kind.group = "gemma2_pair";
    require_activation(config, "hidden_activation", {"gelu_pytorch_tanh"}, "gelu_pytorch_tanh");
    require_off(config, {"attention_bias", "use_bidirectional_attention"});
    check_layers(config, kind);
    if (!decoder.tied)
        config.refuse("tie_word_embeddings", "no model of this family is made with an embedding of its own for logits",
                      "published models have true");
    const i64 window = config.size("sliding_window", kind.is_third ? 1024 : 4096);
    const double scale = 1 / std::sqrt(std::max(1e-9, config.number("query_pre_attn_scalar", 256)));
    const double final_cap = config.number("final_logit_softcapping", kind.is_third ? 0 : 30);
    const double cap = config.number("attn_logit_softcapping", kind.is_third ? 0 : 50);
    if (kind.is_third == (cap > 0))
        config.refuse("attn_logit_softcapping",
                      fmt::format("no model of this family is made with scores capped at {}", cap),
                      "Gemma 2 caps scores, Gemma 3 does not");
    const Rope rope = read_rope(config, kind.is_third ? 1'000'000 : 10'000, "full_attention");
    double local_theta = config.number("rope_local_base_freq", 10'000);
    if (config.has("rope_parameters.sliding_attention"))
        local_theta = read_rope(config, 10'000, "sliding_attention").theta;
    if (!kind.is_third && !rope.scaling.empty())
        config.refuse("rope_scaling", "no model of Gemma 2 is made with scaled rotary positions",
                      "published models have none");
    const i64 groups = decoder.layers / kind.period, left = decoder.layers % kind.period;
    if (groups == 0)
        config.wrong("num_hidden_layers", fmt::format("a model of this family has {} layers or more", kind.period));

    FamilyModel model = decoder_model(config, decoder);
    model.name = kind.is_third ? "gemma3" : "gemma2";
    model.comments = {
        fmt::format("Gemma {}: {} layers, of {} the last sees all and the others a window of {}; tied embedding. "
                    "`shardc list",
                    kind.is_third ? 3 : 2, decoder.layers, kind.period, window),
        fmt::format("library {}` shows the block.", model.name)};
    model.includes = {model.name};
    model.params[1].second = "{axes: [embed], init: zeros}"; // of 1 + norm
    const std::string eps = float_text(decoder.eps);
    const std::string given = fmt::format("window: {}, scale: {}, eps: {}", window, float_text(scale), eps);
    const std::string positions =
        kind.is_third ? fmt::format("local_theta: {}, theta: {}{}", float_text(local_theta), float_text(rope.theta),
                                    rope.scaling.empty() ? "" : ", scaling: " + rope.scaling)
                      : fmt::format("theta: {}, cap: {}", float_text(rope.theta), float_text(cap));
    model.graph = {fmt::format("x: {{mul: [{{gather: [wte, tokens], dim: 0}}, {}]}}",
                               float_text(std::sqrt(static_cast<double>(decoder.embed)))),
                   "x: {constrain: x, axes: [batch, length, embed]}",
                   fmt::format("x: {{repeat: {}, times: {}, in: x, axis: layers, scan: true, {}, {}}}", kind.group,
                               groups, given, positions)};
    for (i64 n = 0; n < left; ++n)
        model.graph.push_back(fmt::format("x: {{{}_block: x, {}, theta: {}, local: true, name: last_{}}}", model.name,
                                          given, float_text(kind.is_third ? local_theta : rope.theta), n));
    model.graph.push_back(fmt::format("x: {{rms_norm: [x, {{add: [norm, 1]}}], eps: {}}}", eps));
    model.graph.emplace_back("logits: {einsum: \"bld,vd->blv\", in: [x, wte]}");
    if (final_cap > 0)
        model.graph.push_back(
            fmt::format("logits: {{mul: [{{tanh: {{div: [logits, {0}]}}}}, {0}]}}", float_text(final_cap)));

    if (type == "gemma3") {
        model.prefixes = {"language_model."};
        model.unused.insert(model.unused.end(), {"vision_tower.**", "multi_modal_projector.**", "model.vision_tower.**",
                                                 "model.multi_modal_projector.**"});
    }
    for (i64 n = 0; n + 1 < kind.period; ++n)
        add_names(model, fmt::format("{}.{}", kind.group, kind.is_third ? fmt::format("local_{}", n) : "local"),
                  n == 0 ? fmt::format("{{{}*layer}}", kind.period) : fmt::format("{{{}*layer+{}}}", kind.period, n),
                  kind);
    add_names(model, kind.group + ".global", fmt::format("{{{}*layer+{}}}", kind.period, kind.period - 1), kind);
    for (i64 n = 0; n < left; ++n)
        add_names(model, fmt::format("last_{}", n), std::to_string(groups * kind.period + n), kind);
    return model;
}

} // namespace

const FamilyDef& family_gemma() {
    static const FamilyDef def = {{"gemma2", "gemma3", "gemma3_text"}, make};
    return def;
}

} // namespace shard
