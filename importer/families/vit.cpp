// ViT: patches of a picture as positions; with the head for classes, as ViTForImageClassification, or the pooler, as
// ViTModel.
#include "importer/huggingface/decoder.h"

#include <fmt/format.h>

namespace shard {

namespace {

bool has_classes(const HfConfig& config) {
    const std::vector<std::string> classes = config.words("architectures");
    if (classes.empty() || classes[0] == "ViTModel") return false;
    if (classes[0] != "ViTForImageClassification")
        config.refuse("architectures", fmt::format("no model of this family is made as '{}'", classes[0]),
                      "of these one is: ViTModel, ViTForImageClassification");
    return true;
}

void add_names(FamilyModel& model, bool classes) {
    model.prefixes = {"vit."};
    if (classes)
        model.unused = {"vit.pooler.**"};
    else
        model.unused = {"classifier.**"};
    model.tensors = {
        {"cls", "embeddings.cls_token", "one also embed -> embed", {{"one", "0 of 1"}, {"also", "0 of 1"}}},
        {"wpe", "embeddings.position_embeddings", "one places embed -> places embed", {{"one", "0 of 1"}}},
        {"w_patch", "embeddings.patch_embeddings.projection.weight",
         "embed channels patch_rows patch_cols -> channels patch_rows patch_cols embed"},
        {"b_patch", "embeddings.patch_embeddings.projection.bias"},
        {"ln_scale", "layernorm.weight"},
        {"ln_bias", "layernorm.bias"}};
    model.tensors.push_back(
        {"w_head", classes ? "classifier.weight" : "pooler.dense.weight", "out embed -> embed out"});
    model.tensors.push_back({"b_head", classes ? "classifier.bias" : "pooler.dense.bias"});
    const std::string block = "vit_block.", at = "encoder.layer.{layer}.";
    const auto add = [&](const std::string& param, const std::string& from, const std::string& rearrange = {}) {
        model.tensors.push_back({block + param, at + from, rearrange});
    };
    add("ln1_scale", "layernorm_before.weight");
    add("ln1_bias", "layernorm_before.bias");
    for (const auto& [name, word] : {std::pair{"q", "query"}, {"k", "key"}, {"v", "value"}}) {
        add(fmt::format("w{}", name), fmt::format("attention.attention.{}.weight", word),
            "(heads kv) embed -> embed heads kv");
        add(fmt::format("b{}", name), fmt::format("attention.attention.{}.bias", word), "(heads kv) -> heads kv");
    }
    add("wo", "attention.output.dense.weight", "embed (heads kv) -> heads kv embed");
    add("bo", "attention.output.dense.bias");
    add("ln2_scale", "layernorm_after.weight");
    add("ln2_bias", "layernorm_after.bias");
    add("w_up", "intermediate.dense.weight", "mlp embed -> embed mlp");
    add("b_up", "intermediate.dense.bias");
    add("w_down", "output.dense.weight", "embed mlp -> mlp embed");
    add("b_down", "output.dense.bias");
}

FamilyModel make(const HfConfig& config) {
    const Decoder sizes = read_decoder(config, {.embed = 768, .heads = 12, .mlp = 3072, .vocab = 1, .layers = 12});
    const std::string eps = float_text(config.number("layer_norm_eps", 1e-12));
    const i64 image = config.size("image_size", 224), patch = config.size("patch_size", 16);
    if (image % patch != 0)
        config.wrong("patch_size", fmt::format("a picture of {} has no patches of {}", image, patch));
    require_activation(config, "hidden_act", {"gelu", "gelu_new", "gelu_pytorch_tanh"}, "gelu");
    require_on(config, {"qkv_bias"});
    const std::string approximate = config.word("hidden_act", "gelu") == "gelu" ? "false" : "true";
    const bool classes = has_classes(config);
    const i64 labels =
        config.has("id2label") ? std::max<i64>(1, config.entries("id2label")) : config.size("num_labels", 2);

    FamilyModel model;
    model.name = "vit";
    model.comments = {
        fmt::format("ViT: {} layers, {} heads of {}, pictures of {} in patches of {}. `shardc list library vit` "
                    "shows the block.",
                    sizes.layers, sizes.heads, sizes.kv, image, patch)};
    model.includes = {"vit"};
    model.dtype = dtype_of(config);
    model.axes = {{"height", image},
                  {"width", image},
                  {"channels", config.size("num_channels", 3)},
                  {"patch_rows", patch},
                  {"patch_cols", patch},
                  {"rows", image / patch, "of patches", "height / patch_rows", false},
                  {"cols", image / patch, "of patches", "width / patch_cols", false},
                  {"length", image / patch * (image / patch) + 1, "patches, and the first for all", "rows * cols + 1"},
                  {"embed", sizes.embed},
                  {"heads", sizes.heads},
                  {"kv", sizes.kv, "of a head"},
                  {"mlp", sizes.mlp}};
    if (classes) model.axes.push_back({"classes", labels});
    const std::string out = classes ? "classes" : std::to_string(sizes.embed);
    const std::string weight = "init: {normal: {stddev: 0.02}}";
    model.inputs = {{"image", "{axes: [batch, channels, height, width]}"}};
    model.params = {{"w_patch", fmt::format("{{axes: [channels, patch_rows, patch_cols, embed], {}}}", weight)},
                    {"b_patch", "{axes: [embed], init: zeros}"},
                    {"cls", fmt::format("{{axes: [embed], {}}}", weight)},
                    {"wpe", fmt::format("{{axes: [length, embed], {}}}", weight)},
                    {"ln_scale", "{axes: [embed], init: ones}"},
                    {"ln_bias", "{axes: [embed], init: zeros}"},
                    {"w_head", fmt::format("{{axes: [embed, {}], {}}}", out, weight)},
                    {"b_head", fmt::format("{{axes: [{}], init: zeros}}", out)}};
    model.graph = {
        "patches: {reshape: image, axes: [batch, channels, rows, patch_rows, cols, patch_cols]}",
        "x: {add: [{einsum: \"bcrpsq,cpqd->brsd\", in: [patches, w_patch]}, b_patch]}",
        "x: {reshape: x, shape: [batch, rows * cols, embed]}",
        "first: {broadcast: cls, shape: [batch, 1, embed]}",
        "x: {add: [{concatenate: [first, x], dim: 1}, wpe]}",
        "x: {constrain: x, axes: [batch, length, embed]}",
        fmt::format("x: {{repeat: vit_block, times: {}, in: x, axis: layers, scan: true, approximate: {}, eps: {}}}",
                    sizes.layers, approximate, eps),
        fmt::format("hidden: {{layer_norm: [x, ln_scale, ln_bias], eps: {}}}", eps),
        "first: {reshape: {slice: hidden, dim: 1, start: 0, limit: 1}, axes: [batch, embed]}"};
    if (classes) {
        model.graph.emplace_back("logits: {linear: [first, w_head, b_head]}");
        model.targets = {{"label", "{axes: [batch], dtype: i32, init: {randint: {high: classes}}}"}};
        model.loss = "{softmax_cross_entropy: [logits, label]}";
    } else {
        model.graph.emplace_back("pooled: {tanh: {linear: [first, w_head, b_head]}}");
        model.output = "hidden, pooled";
    }
    add_names(model, classes);
    return model;
}

} // namespace

const FamilyDef& family_vit() {
    static const FamilyDef def = {{"vit"}, make};
    return def;
}

} // namespace shard
