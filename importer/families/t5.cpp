// T5: an encoder and a decoder, relative positions that all layers share, scores that are not scaled.
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

constexpr const char* weight = "init: {normal: {stddev: 0.02}}";

void add_names(FamilyModel& model, bool gated, bool tied) {
    model.unused = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
                    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
    model.tensors = {{"wte", "shared.weight"}};
    if (tied)
        model.unused.emplace_back("lm_head.weight");
    else
        model.tensors.push_back({"unembed", "lm_head.weight", "vocab embed -> embed vocab"});
    for (const char* const side : {"encoder", "decoder"}) {
        const bool decodes = side[0] == 'd';
        const std::string block = fmt::format("t5_{}_block.", side),
                          at = fmt::format("{}.block.{{layer}}.layer.", side);
        const auto add = [&](const std::string& param, const std::string& from, const std::string& rearrange = {}) {
            model.tensors.push_back({block + param, at + from + ".weight", rearrange});
        };
        model.tensors.push_back({fmt::format("{}_table", side),
                                 fmt::format("{}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", side)});
        model.tensors.push_back({fmt::format("{}_norm", side), fmt::format("{}.final_layer_norm.weight", side)});
        add("attention_norm", "0.layer_norm");
        for (const auto& [part, name] : {std::pair{"attention", "0.SelfAttention"}, {"cross", "1.EncDecAttention"}}) {
            if (!decodes && part[0] == 'c') continue;
            for (const char* const head : {"q", "k", "v"})
                add(fmt::format("{}.w{}", part, head), fmt::format("{}.{}", name, head),
                    "(heads kv) embed -> embed heads kv");
            add(fmt::format("{}.wo", part), fmt::format("{}.o", name), "embed (heads kv) -> heads kv embed");
        }
        if (decodes) add("cross_norm", "1.layer_norm");
        const char* const last = decodes ? "2." : "1.";
        add("mlp_norm", fmt::format("{}layer_norm", last));
        if (gated) add("mlp.w_gate", fmt::format("{}DenseReluDense.wi_0", last), "mlp embed -> embed mlp");
        add("mlp.w_up", fmt::format("{}DenseReluDense.{}", last, gated ? "wi_1" : "wi"), "mlp embed -> embed mlp");
        add("mlp.w_down", fmt::format("{}DenseReluDense.wo", last), "embed mlp -> mlp embed");
    }
}

FamilyModel make(const HfConfig& config) {
    const i64 embed = config.size("d_model", 512), kv = config.size("d_kv", 64), mlp = config.size("d_ff", 2048),
              heads = config.size("num_heads", 8), layers = config.size("num_layers", 6),
              decoder_layers = config.size("num_decoder_layers", layers),
              buckets = config.size("relative_attention_num_buckets", 32),
              distance = config.size("relative_attention_max_distance", 128);
    const std::string eps = float_text(config.number("layer_norm_epsilon", 1e-6));
    require_activation(config, "feed_forward_proj", {"relu", "gated-gelu"}, "relu");
    const bool gated = config.word("feed_forward_proj", "relu") == "gated-gelu";
    const bool tied = config.flag("tie_word_embeddings", true);
    const bool scaled = config.flag("scale_decoder_outputs", tied); // as T5 before 1.1
    if (buckets % 4 != 0 || distance <= buckets / 2)
        config.wrong("relative_attention_num_buckets",
                     fmt::format("{} buckets do not reach over a distance of {}", buckets, distance));

    FamilyModel model;
    model.name = "t5";
    model.comments = {
        fmt::format("T5: {} layers of an encoder and {} of a decoder, {} heads of {}. `shardc list library t5` "
                    "shows the blocks.",
                    layers, decoder_layers, heads, kv)};
    model.includes = {"t5"};
    model.length = length_of(config, "n_positions", 512);
    model.dtype = dtype_of(config);
    model.axes = {{"target_length", 1, "of what is decoded", "length"},
                  {"embed", embed},
                  {"heads", heads},
                  {"kv", kv, "of a head"},
                  {"mlp", mlp},
                  {"vocab", config.size("vocab_size", 32128)},
                  {"buckets", buckets, "of distances"}};
    const std::string of_decoder = "{axes: [batch, target_length], dtype: i32, init: {randint: {high: vocab}}}";
    set_next_token(model);
    model.inputs.emplace_back("decoder_tokens", of_decoder);
    model.targets = {{"next", of_decoder}};
    model.params = {{"wte", fmt::format("{{axes: [vocab, embed], {}}}", weight)},
                    {"encoder_table", fmt::format("{{axes: [buckets, heads], {}}}", weight)},
                    {"encoder_norm", "{axes: [embed], init: ones}"},
                    {"decoder_table", fmt::format("{{axes: [buckets, heads], {}}}", weight)},
                    {"decoder_norm", "{axes: [embed], init: ones}"}};
    if (!tied) model.params.emplace_back("unembed", fmt::format("{{axes: [embed, vocab], {}}}", weight));
    const auto bias = [&](const char* side, const char* size, i64 each, bool causal) {
        const double spread = std::log(static_cast<double>(distance) / static_cast<double>(std::max<i64>(1, each)));
        return fmt::format(
            "{0}_bias: {{t5_bias: {0}_table, size: {1}, each: {2}, half: {3}, last: {4}, spread: {5}{6}}}", side, size,
            each, 2 * each, 2 * each - 1, float_text(spread), causal ? ", causal: true" : "");
    };
    const auto blocks = [&](const char* side, i64 times, const char* in) {
        return fmt::format(
            "x: {{repeat: t5_{}_block, times: {}, in: [{}], axis: layers, scan: true, gated: {}, eps: {}}}", side,
            times, in, gated, eps);
    };
    model.graph = {bias("encoder", "length", buckets / 4, false),
                   "x: {gather: [wte, tokens], dim: 0}",
                   "x: {constrain: x, axes: [batch, length, embed]}",
                   blocks("encoder", layers, "x, encoder_bias"),
                   fmt::format("encoded: {{rms_norm: [x, encoder_norm], eps: {}}}", eps),
                   bias("decoder", "target_length", buckets / 2, true),
                   "x: {gather: [wte, decoder_tokens], dim: 0}",
                   "x: {constrain: x, axes: [batch, target_length, embed]}",
                   blocks("decoder", decoder_layers, "x, encoded, decoder_bias"),
                   fmt::format("x: {{rms_norm: [x, decoder_norm], eps: {}}}", eps)};
    if (scaled)
        model.graph.push_back(
            fmt::format("x: {{mul: [x, {}]}}", float_text(1 / std::sqrt(static_cast<double>(embed)))));
    model.graph.emplace_back(tied ? "logits: {einsum: \"bld,vd->blv\", in: [x, wte]}" : "logits: {dot: [x, unembed]}");
    add_names(model, gated, tied);
    return model;
}

} // namespace

const FamilyDef& family_t5() {
    static const FamilyDef def = {{"t5"}, make};
    return def;
}

} // namespace shard
