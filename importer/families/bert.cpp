// BERT: the encoder with its pooler, as BertModel, or with the head for masked tokens, as BertForMaskedLM. All tokens are
// seen: there is no mask for padding.
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr const char* weight = "init: {normal: {stddev: 0.02}}";

bool is_masked_lm(const HfConfig& config) {
    const std::vector<std::string> classes = config.words("architectures");
    if (classes.empty() || classes[0] == "BertModel") return false;
    if (classes[0] != "BertForMaskedLM")
        config.refuse("architectures", fmt::format("no model of this family is made as '{}'", classes[0]),
                      "of these one is: BertModel, BertForMaskedLM");
    return true;
}

// A norm has other names in checkpoints of TensorFlow's time.
void add_norm_names(FamilyModel& model, const std::string& param, const std::string& from) {
    model.tensors.push_back({param + "_scale", from + ".weight", {}, {}, from + ".gamma"});
    model.tensors.push_back({param + "_bias", from + ".bias", {}, {}, from + ".beta"});
}

void add_names(FamilyModel& model, bool masked_lm) {
    model.prefixes = {"bert."};
    model.unused = {"**.position_ids", "cls.seq_relationship.**"};
    if (masked_lm)
        model.unused.insert(model.unused.end(), {"bert.pooler.**", "cls.predictions.decoder.**"});
    else
        model.unused.emplace_back("cls.predictions.**");
    model.tensors = {{"wte", "embeddings.word_embeddings.weight"},
                     {"wpe", "embeddings.position_embeddings.weight"},
                     {"wtt", "embeddings.token_type_embeddings.weight"}};
    add_norm_names(model, "ln", "embeddings.LayerNorm");
    if (masked_lm) {
        model.tensors.push_back({"w_head", "cls.predictions.transform.dense.weight", "out embed -> embed out"});
        model.tensors.push_back({"b_head", "cls.predictions.transform.dense.bias"});
        add_norm_names(model, "ln_head", "cls.predictions.transform.LayerNorm");
        model.tensors.push_back({"b_vocab", "cls.predictions.bias"});
    } else {
        model.tensors.push_back({"w_pool", "pooler.dense.weight", "out embed -> embed out"});
        model.tensors.push_back({"b_pool", "pooler.dense.bias"});
    }
    const std::string block = "bert_block.", at = "encoder.layer.{layer}.";
    const auto add = [&](const std::string& param, const std::string& from, const std::string& rearrange = {}) {
        model.tensors.push_back({block + param, at + from, rearrange});
    };
    for (const auto& [name, word] : {std::pair{"q", "query"}, {"k", "key"}, {"v", "value"}}) {
        add(fmt::format("w{}", name), fmt::format("attention.self.{}.weight", word),
            "(heads kv) embed -> embed heads kv");
        add(fmt::format("b{}", name), fmt::format("attention.self.{}.bias", word), "(heads kv) -> heads kv");
    }
    add("wo", "attention.output.dense.weight", "embed (heads kv) -> heads kv embed");
    add("bo", "attention.output.dense.bias");
    add_norm_names(model, block + "ln1", at + "attention.output.LayerNorm");
    add("w_up", "intermediate.dense.weight", "mlp embed -> embed mlp");
    add("b_up", "intermediate.dense.bias");
    add("w_down", "output.dense.weight", "embed mlp -> mlp embed");
    add("b_down", "output.dense.bias");
    add_norm_names(model, block + "ln2", at + "output.LayerNorm");
}

FamilyModel make(const HfConfig& config) {
    const Decoder sizes =
        read_decoder(config, {.embed = 768, .heads = 12, .mlp = 3072, .vocab = 30522, .layers = 12, .tied = true});
    const std::string eps = float_text(config.number("layer_norm_eps", 1e-12));
    const i64 positions = config.size("max_position_embeddings", 512);
    require_activation(config, "hidden_act", {"gelu", "gelu_new", "gelu_pytorch_tanh"}, "gelu");
    require_off(config, {"is_decoder", "add_cross_attention"});
    if (config.word("position_embedding_type", "absolute") != "absolute")
        config.refuse("position_embedding_type", "no model of this family is made with relative positions",
                      "published models have 'absolute'");
    const bool masked_lm = is_masked_lm(config);
    const std::string approximate = config.word("hidden_act", "gelu") == "gelu" ? "false" : "true";

    FamilyModel model;
    model.name = "bert";
    model.comments = {fmt::format("BERT: {} layers, {} heads of {}, {}. `shardc list library bert` shows the block.",
                                  sizes.layers, sizes.heads, sizes.kv,
                                  masked_lm ? "the head for masked tokens" : "and the pooler")};
    model.includes = {"bert"};
    model.length = positions;
    model.dtype = dtype_of(config);
    model.axes = {{"embed", sizes.embed},
                  {"heads", sizes.heads},
                  {"kv", sizes.kv, "of a head"},
                  {"mlp", sizes.mlp},
                  {"vocab", sizes.vocab},
                  {"context", positions, "positions that it has learned"},
                  {"types", config.size("type_vocab_size", 2), "of tokens: of the first text or the second"}};
    set_next_token(model);
    model.inputs.emplace_back("token_types", "{axes: [batch, length], dtype: i32, init: zeros}");
    model.params = {{"wte", fmt::format("{{axes: [vocab, embed], {}}}", weight)},
                    {"wpe", fmt::format("{{axes: [context, embed], {}}}", weight)},
                    {"wtt", fmt::format("{{axes: [types, embed], {}}}", weight)},
                    {"ln_scale", "{axes: [embed], init: ones}"},
                    {"ln_bias", "{axes: [embed], init: zeros}"}};
    model.graph = {
        "p: {slice: wpe, dim: context, start: 0, limit: length}",
        "x: {add: [{gather: [wte, tokens], dim: 0}, {gather: [wtt, token_types], dim: 0}]}",
        fmt::format("x: {{layer_norm: [{{add: [x, p]}}, ln_scale, ln_bias], eps: {}}}", eps),
        "x: {constrain: x, axes: [batch, length, embed]}",
        fmt::format("hidden: {{repeat: bert_block, times: {}, in: x, axis: layers, scan: true, approximate: {}, "
                    "eps: {}}}",
                    sizes.layers, approximate, eps)};
    if (masked_lm) {
        model.params.insert(model.params.end(),
                            {{"w_head", fmt::format("{{axes: [embed, {}], {}}}", sizes.embed, weight)},
                             {"b_head", "{axes: [embed], init: zeros}"},
                             {"ln_head_scale", "{axes: [embed], init: ones}"},
                             {"ln_head_bias", "{axes: [embed], init: zeros}"},
                             {"b_vocab", "{axes: [vocab], init: zeros}"}});
        model.graph.push_back(
            fmt::format("h: {{gelu: {{linear: [hidden, w_head, b_head]}}, approximate: {}}}", approximate));
        model.graph.push_back(fmt::format("h: {{layer_norm: [h, ln_head_scale, ln_head_bias], eps: {}}}", eps));
        model.graph.emplace_back("logits: {add: [{einsum: \"bld,vd->blv\", in: [h, wte]}, b_vocab]}");
    } else {
        model.params.insert(model.params.end(),
                            {{"w_pool", fmt::format("{{axes: [embed, {}], {}}}", sizes.embed, weight)},
                             {"b_pool", "{axes: [embed], init: zeros}"}});
        model.graph.emplace_back("first: {reshape: {slice: hidden, dim: 1, start: 0, limit: 1}, axes: [batch, embed]}");
        model.graph.emplace_back("pooled: {tanh: {linear: [first, w_pool, b_pool]}}");
        model.output = "hidden, pooled";
        model.loss.clear();
    }
    add_names(model, masked_lm);
    return model;
}

} // namespace

const FamilyDef& family_bert() {
    static const FamilyDef def = {{"bert"}, make};
    return def;
}

} // namespace shard
