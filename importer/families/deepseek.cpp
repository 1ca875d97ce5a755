// DeepSeek V3: attention over a latent of keys and values; after the first layers, experts that are chosen within groups.
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

#include <cmath>

namespace shard {

namespace {

struct Sizes {
    i64 kv = 128, turned = 64, v_kv = 128, q_rank = 1536, kv_rank = 512,
        dense = 3; // dense: first layers without experts
    i64 experts = 256, chosen = 8, groups = 8, chosen_groups = 4, width = 2048, shared = 1;
};

Sizes read_sizes(const HfConfig& config) {
    Sizes read;
    read.kv = config.size("qk_nope_head_dim", read.kv);
    read.turned = config.size("qk_rope_head_dim", read.turned);
    read.v_kv = config.size("v_head_dim", read.v_kv);
    read.q_rank = config.size("q_lora_rank", read.q_rank);
    read.kv_rank = config.size("kv_lora_rank", read.kv_rank);
    read.dense = config.count("first_k_dense_replace", read.dense);
    read.experts = config.size(config.has("n_routed_experts") ? "n_routed_experts" : "num_local_experts", read.experts);
    read.chosen = config.size("num_experts_per_tok", read.chosen);
    read.groups = config.size("n_group", read.groups);
    read.chosen_groups = config.size("topk_group", read.chosen_groups);
    read.width = config.size("moe_intermediate_size", read.width);
    read.shared = config.size("n_shared_experts", read.shared);
    const i64 latent = read.kv_rank + read.turned;
    // What checkpoints store turned entries in is pairs, which begin at a whole pair.
    if (read.turned % 2 != 0 || (read.kv + read.turned) % 2 != 0 || latent % 2 != 0)
        config.wrong("qk_rope_head_dim", fmt::format("{} of {} entries of a head are not turned in pairs", read.turned,
                                                     read.kv + read.turned));
    if (read.experts % read.groups != 0 || read.experts / read.groups < 2 || read.chosen_groups > read.groups ||
        read.chosen > read.experts / read.groups * read.chosen_groups)
        config.wrong("n_group", fmt::format("{} experts do not give {} groups, of {} of which {} are chosen",
                                            read.experts, read.groups, read.chosen_groups, read.chosen));
    return read;
}

// The positions of a longer context, by YaRN (arXiv 2309.00071): frequencies up to one index stay, from another on all are
// lower by the factor. The scale of scores grows with the factor.
void read_yarn(const HfConfig& config, const std::string& at, const Sizes& sizes, Rope& rope, double& scale) {
    const auto number = [&](std::string_view key, double usual) {
        return config.number(fmt::format("{}.{}", at, key), usual);
    };
    const double factor = number("factor", 1), length = number("original_max_position_embeddings", 4096);
    const double pi = 3.14159265358979323846, width = static_cast<double>(sizes.turned);
    const auto index_of_turns = [&](double turns) {
        return width * std::log(length / (turns * 2 * pi)) / (2 * std::log(rope.theta));
    };
    const double low = std::max(0.0, std::floor(index_of_turns(number("beta_fast", 32))));
    const double high = std::min(width - 1, std::ceil(index_of_turns(number("beta_slow", 1))));
    if (!(factor >= 1) || !(length > 0) || !(rope.theta > 1) || !(high > low)) {
        config.wrong(at, "these rotary positions have no frequencies between those that stay and those that are lower");
        return;
    }
    rope.scaling = fmt::format("[{}, {}, {}]", factor, low, high);
    const double all = number("mscale_all_dim", 0);
    if (number("mscale", 1) != all)
        config.refuse(at + ".mscale", "no model of this family is made where mscale and mscale_all_dim differ",
                      "in published models they are equal");
    const double grown = 0.1 * all * std::log(factor) + 1;
    scale *= grown * grown;
}

void add_names(FamilyModel& model, const Sizes& sizes, const std::string& block, const std::string& layer,
               bool sparse) {
    const std::string at = fmt::format("model.layers.{}.", layer), attention = at + "self_attn.";
    const auto add = [&](const std::string& param, const std::string& from, const std::string& rearrange = {},
                         const FamilyLines& part = {}) {
        model.tensors.push_back({fmt::format("{}.{}", block, param), from, rearrange, part});
    };
    const auto part = [](std::string_view name, i64 start, i64 of) {
        return FamilyLines{{std::string(name), fmt::format("{} of {}", start, of)}};
    };
    const i64 head = sizes.kv + sizes.turned, latent = sizes.kv_rank + sizes.turned, both = sizes.kv + sizes.v_kv;
    add("attention_norm", at + "input_layernorm.weight");
    add("wq_a", attention + "q_a_proj.weight", "rank embed -> embed rank");
    add("q_norm", attention + "q_a_layernorm.weight");
    add("wq", attention + "q_b_proj.weight", "(heads kv) rank -> rank heads kv", part("kv", 0, head));
    add("wq_turned", attention + "q_b_proj.weight", "(heads pair two) rank -> rank heads two pair",
        part("pair", sizes.kv / 2, head / 2));
    add("wkv_a", attention + "kv_a_proj_with_mqa.weight", "rank embed -> embed rank", part("rank", 0, latent));
    add("kv_norm", attention + "kv_a_layernorm.weight");
    add("wk", attention + "kv_b_proj.weight", "(heads kv) rank -> rank heads kv", part("kv", 0, both));
    add("wk_turned", attention + "kv_a_proj_with_mqa.weight", "(pair two) embed -> embed two pair",
        part("pair", sizes.kv_rank / 2, latent / 2));
    add("wv", attention + "kv_b_proj.weight", "(heads kv) rank -> rank heads kv", part("kv", sizes.kv, both));
    add("wo", attention + "o_proj.weight", "embed (heads kv) -> heads kv embed");
    add("mlp_norm", at + "post_attention_layernorm.weight");
    if (!sparse) return add_gated_mlp_names(model, block, at + "mlp.");
    for (const auto& [name, rearrange] : {std::pair{"gate", "mlp embed -> embed mlp"},
                                          {"up", "mlp embed -> embed mlp"},
                                          {"down", "embed mlp -> mlp embed"}})
        add(fmt::format("shared_{}", name), fmt::format("{}mlp.shared_experts.{}_proj.weight", at, name), rearrange);
    add("moe.router", at + "mlp.gate.weight", "experts embed -> embed experts");
    add("moe.balance", at + "mlp.gate.e_score_correction_bias");
    for (const auto& [name, rearrange] : {std::pair{"gate", "mlp embed -> expert embed mlp"},
                                          {"up", "mlp embed -> expert embed mlp"},
                                          {"down", "embed mlp -> expert mlp embed"}})
        add(fmt::format("moe.w_{}", name), fmt::format("{}mlp.experts.{{expert}}.{}_proj.weight", at, name), rearrange);
}

FamilyModel make(const HfConfig& config) {
    const Sizes sizes = read_sizes(config);
    const Decoder decoder =
        read_decoder(config, {.embed = 7168, .heads = 128, .kv = 64, .mlp = 18432, .vocab = 129280, .layers = 61});
    require_activation(config, "hidden_act", {"silu", "swish"}, "silu");
    require_on(config, {"rope_interleave"});
    require_off(config, {"attention_bias"});
    if (config.size("moe_layer_freq", 1) != 1 || config.word("scoring_func", "sigmoid") != "sigmoid")
        config.refuse("scoring_func", "no model of this family is made with another routing than DeepSeek V3's",
                      "published models have a moe_layer_freq of 1 and sigmoid");
    if (decoder.layers <= sizes.dense)
        config.wrong("first_k_dense_replace", fmt::format("of {} layers none has experts", decoder.layers));
    if (decoder.tied)
        config.refuse("tie_word_embeddings", "no model of this family is made with a tied embedding",
                      "published models have false");
    double scale = 1 / std::sqrt(static_cast<double>(sizes.kv + sizes.turned));
    const std::string at = config.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
    const std::string type_key = at + (config.has(at + ".rope_type") ? ".rope_type" : ".type");
    Rope rope;
    if (config.word(type_key, "default") == "yarn") {
        rope.theta = config.number(config.has(at + ".rope_theta") ? at + ".rope_theta" : "rope_theta", 10000);
        read_yarn(config, at, sizes, rope, scale);
    } else {
        rope = read_rope(config, 10000);
    }

    FamilyModel model = decoder_model(config, decoder);
    model.name = "deepseek_v3";
    model.comments = {
        fmt::format("DeepSeek V3: {} layers, {} heads over a latent of {}; from layer {} on {} experts, of which a "
                    "token goes to {}.",
                    decoder.layers, decoder.heads, sizes.kv_rank, sizes.dense, sizes.experts, sizes.chosen),
        "`shardc list library deepseek` shows the block. The module that predicts a second token is left out."};
    model.includes = {"deepseek"};
    model.axes = {{"embed", decoder.embed},
                  {"heads", decoder.heads},
                  {"kv", sizes.kv, "of a head, without what is turned"},
                  {"v_kv", sizes.v_kv, "of a head's values"},
                  {"q_rank", sizes.q_rank, "of the latent of queries"},
                  {"kv_rank", sizes.kv_rank, "of the latent of keys and values"},
                  {"mlp", decoder.mlp, "of layers without experts"},
                  {"shared_mlp", sizes.shared * sizes.width, "of the experts that every token goes to"},
                  {"vocab", decoder.vocab}};
    add_expert_axes(model, sizes.experts, sizes.chosen, sizes.width);
    const std::string positions = fmt::format("pairs: {}, scale: {}, theta: {}, eps: {}{}", sizes.turned / 2,
                                              float_text(scale), float_text(rope.theta), float_text(decoder.eps),
                                              rope.scaling.empty() ? "" : ", scaling: " + rope.scaling);
    std::vector<std::string> blocks;
    if (sizes.dense > 0)
        blocks.push_back(fmt::format("x: {{repeat: deepseek_block, times: {}, in: x, axis: layers, scan: true, sparse: "
                                     "false, {}}}",
                                     sizes.dense, positions));
    blocks.push_back(fmt::format("x: {{repeat: deepseek_block, times: {}, in: x, axis: layers, scan: true, chosen: {}, "
                                 "groups: {}, chosen_groups: {}, normalise: {}, factor: {}, {}}}",
                                 decoder.layers - sizes.dense, sizes.chosen, sizes.groups, sizes.chosen_groups,
                                 config.flag("norm_topk_prob", true),
                                 float_text(config.number("routed_scaling_factor", 2.5)), positions));
    add_decoder_graph(model, blocks, decoder);
    const std::string block = "deepseek_block";
    if (sizes.dense > 0) add_names(model, sizes, block, "{layer}", false);
    if (sizes.dense > 0)
        add_names(model, sizes, block + "_2", fmt::format("{{layer+{}}}", sizes.dense), true);
    else
        add_names(model, sizes, block, "{layer}", true);
    model.unused.push_back(fmt::format("model.layers.{}.**", decoder.layers)); // predicts a second token
    return model;
}

} // namespace

const FamilyDef& family_deepseek() {
    static const FamilyDef def = {{"deepseek_v3"}, make};
    return def;
}

} // namespace shard
