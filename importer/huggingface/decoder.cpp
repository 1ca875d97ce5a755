#include "importer/huggingface/decoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shard {

namespace {

constexpr i64 usual_longest = 8192; // what decoders are trained on at once; more is for --length

} // namespace

std::string float_text(double number) {
    std::string text = fmt::format("{}", number);
    // YAML 1.1 takes 1e-05 for a string.
    if (const size_t e = text.find('e'); e != std::string::npos && text.find('.') == std::string::npos)
        text.insert(e, ".0");
    return text;
}

std::string dtype_of(const HfConfig& config) {
    const std::string_view key = config.has("dtype") ? "dtype" : "torch_dtype";
    const std::string word = config.word(key, "float32");
    if (word == "float32") return "f32";
    if (word == "bfloat16") return "bf16";
    if (word == "float16") return "f16";
    config.refuse(key, fmt::format("no model is made of parameters of the type '{}'", word),
                  "of these one is: float32, bfloat16, float16");
    return "f32";
}

i64 length_of(const HfConfig& config, std::string_view path, i64 usual) {
    return std::min(config.size(path, usual), usual_longest);
}

void require_activation(const HfConfig& config, std::string_view path, std::initializer_list<std::string_view> known,
                        std::string_view usual) {
    const std::string word = config.word(path, usual);
    if (std::find(known.begin(), known.end(), word) != known.end()) return;
    config.refuse(path, fmt::format("no model of this family is made with the activation '{}'", word),
                  fmt::format("of these one is: {}", fmt::join(known, ", ")));
}

Decoder read_decoder(const HfConfig& config, const Decoder& usual) {
    const auto size = [&](std::string_view key, i64 otherwise) {
        return otherwise > 0 ? config.size(key, otherwise) : config.size(key);
    };
    Decoder read;
    read.embed = size("hidden_size", usual.embed);
    read.heads = size("num_attention_heads", usual.heads);
    read.kv_heads = size("num_key_value_heads", usual.kv_heads > 0 ? usual.kv_heads : read.heads);
    if (!config.has("head_dim") && usual.kv == 0 && read.embed % read.heads != 0)
        config.wrong("num_attention_heads", fmt::format("hidden_size {} has no {} heads", read.embed, read.heads));
    if (read.heads % read.kv_heads != 0)
        config.wrong("num_key_value_heads",
                     fmt::format("{} heads do not share {} keys and values", read.heads, read.kv_heads));
    read.kv = config.size("head_dim", usual.kv > 0 ? usual.kv : std::max<i64>(1, read.embed / read.heads));
    read.mlp = size("intermediate_size", usual.mlp);
    read.vocab = size("vocab_size", usual.vocab);
    read.layers = size("num_hidden_layers", usual.layers);
    read.eps = config.number("rms_norm_eps", usual.eps);
    read.tied = config.flag("tie_word_embeddings", usual.tied);
    return read;
}

Rope read_rope(const HfConfig& config, double usual_theta, const std::string& kind) {
    std::string at = config.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
    if (!kind.empty() && config.has(at + "." + kind)) at += "." + kind;
    Rope rope;
    rope.theta = config.number(config.has(at + ".rope_theta") ? at + ".rope_theta" : "rope_theta", usual_theta);
    if (!config.has(at)) return rope;
    const std::string type = config.word(config.has(at + ".rope_type") ? at + ".rope_type" : at + ".type", "default");
    const auto number = [&](std::string_view key, double usual) {
        return config.number(fmt::format("{}.{}", at, key), usual);
    };
    if (type == "linear")
        rope.scaling = fmt::format("[{}]", number("factor", 1));
    else if (type == "llama3")
        rope.scaling = fmt::format("[{}, {}, {}, {}]", number("factor", 8), number("low_freq_factor", 1),
                                   number("high_freq_factor", 4), number("original_max_position_embeddings", 8192));
    else if (type != "default")
        config.refuse(at, fmt::format("no model of this family is made with rotary positions of the type '{}'", type),
                      "of these one is: default, linear, llama3");
    return rope;
}

void require_off(const HfConfig& config, std::initializer_list<std::string_view> flags) {
    for (const std::string_view flag : flags)
        if (config.flag(flag, false))
            config.refuse(flag, fmt::format("no model of this family is made with '{}'", flag),
                          "published models have false");
}

void require_on(const HfConfig& config, std::initializer_list<std::string_view> flags) {
    for (const std::string_view flag : flags)
        if (!config.flag(flag, true))
            config.refuse(flag, fmt::format("no model of this family is made without '{}'", flag),
                          "published models have true");
}

void set_next_token(FamilyModel& model) {
    const std::string tokens = "{axes: [batch, length], dtype: i32, init: {randint: {high: vocab}}}";
    model.inputs = {{"tokens", tokens}};
    model.targets = {{"next", tokens}};
    model.loss = "{softmax_cross_entropy: [logits, next]}";
}

FamilyModel decoder_model(const HfConfig& config, const Decoder& decoder) {
    FamilyModel model;
    model.length = length_of(config, "max_position_embeddings", 2048);
    model.dtype = dtype_of(config);
    model.axes = {{"embed", decoder.embed},
                  {"heads", decoder.heads, "of queries"},
                  {"kv_heads", decoder.kv_heads, "of keys and values"},
                  {"kv", decoder.kv, "of a head"},
                  {"vocab", decoder.vocab}};
    if (decoder.mlp > 0) model.axes.insert(model.axes.end() - 1, {"mlp", decoder.mlp});
    set_next_token(model);
    model.params = {{"wte", "{axes: [vocab, embed], init: {normal: {stddev: 0.02}}}"},
                    {"norm", "{axes: [embed], init: ones}"}};
    model.tensors = {{"wte", "model.embed_tokens.weight"}, {"norm", "model.norm.weight"}};
    if (decoder.tied) {
        model.unused = {"lm_head.weight"};
    } else {
        model.params.emplace_back("unembed", "{axes: [embed, vocab], init: {normal: {stddev: 0.02}}}");
        model.tensors.push_back({"unembed", "lm_head.weight", "vocab embed -> embed vocab"});
    }
    model.unused.emplace_back("**.rotary_emb.inv_freq");
    return model;
}

void add_decoder_graph(FamilyModel& model, const std::vector<std::string>& blocks, const Decoder& decoder) {
    model.graph = {"x: {gather: [wte, tokens], dim: 0}", "x: {constrain: x, axes: [batch, length, embed]}"};
    model.graph.insert(model.graph.end(), blocks.begin(), blocks.end());
    model.graph.push_back(fmt::format("x: {{rms_norm: [x, norm], eps: {}}}", float_text(decoder.eps)));
    model.graph.emplace_back(decoder.tied ? "logits: {einsum: \"bld,vd->blv\", in: [x, wte]}"
                                          : "logits: {dot: [x, unembed]}");
}

void add_expert_axes(FamilyModel& model, i64 experts, i64 chosen, i64 width) {
    model.axes.push_back({"experts", experts});
    model.axes.push_back({"expert_mlp", width, "of an expert"});
    model.axes.push_back(
        {"capacity", 1, "of an expert, in tokens of a sequence; `length` drops none", "length", false});
    model.expert_share = static_cast<double>(chosen) / static_cast<double>(experts);
}

void add_attention_names(FamilyModel& model, const std::string& block, const std::string& layer) {
    const std::string at = fmt::format("model.layers.{}.self_attn.", layer);
    for (const char* const name : {"q", "k", "v"}) {
        const std::string heads = *name == 'q' ? "heads" : "kv_heads";
        model.tensors.push_back({fmt::format("{}.w{}", block, name), fmt::format("{}{}_proj.weight", at, name),
                                 fmt::format("({0} kv) embed -> embed {0} kv", heads)});
    }
    model.tensors.push_back({block + ".wo", at + "o_proj.weight", "embed (heads kv) -> heads kv embed"});
}

void add_attention_bias_names(FamilyModel& model, const std::string& block, const std::string& layer) {
    const std::string at = fmt::format("model.layers.{}.self_attn.", layer);
    for (const char* const name : {"q", "k", "v"})
        model.tensors.push_back({fmt::format("{}.b{}", block, name), fmt::format("{}{}_proj.bias", at, name),
                                 *name == 'q' ? "(heads kv) -> heads kv" : "(kv_heads kv) -> kv_heads kv"});
}

void add_gated_mlp_names(FamilyModel& model, const std::string& block, const std::string& prefix) {
    model.tensors.push_back({block + ".w_gate", prefix + "gate_proj.weight", "mlp embed -> embed mlp"});
    model.tensors.push_back({block + ".w_up", prefix + "up_proj.weight", "mlp embed -> embed mlp"});
    model.tensors.push_back({block + ".w_down", prefix + "down_proj.weight", "embed mlp -> mlp embed"});
}

} // namespace shard
