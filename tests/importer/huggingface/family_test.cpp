// Models that are made of published configs have the published numbers of parameters (transformers on its meta device
// counts as many), and a name for each.
#include "importer/huggingface/family.h"
#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

struct Published {
    std::string config; // what is not as in the class
    i64 parameters;
};

const std::vector<Published> published = {
    // Llama 3.1 8B, 3.2 1B
    {R"("model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256)",
     8'030'261'248},
    {R"("model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "head_dim": 64,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": true)",
     1'235'814'400},
    // Mistral 7B
    {R"("model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "sliding_window": 4096)",
     7'241'732'096},
    // Qwen 2 7B and 0.5B, 3 8B
    {R"("model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
        "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064)",
     7'615'616'512},
    {R"("model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
        "num_attention_heads": 14, "num_key_value_heads": 2, "vocab_size": 151936, "tie_word_embeddings": true)",
     494'032'768},
    {R"("model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936)",
     8'190'735'360},
    // GPT-2, and XL
    {R"("model_type": "gpt2")", 124'439'808},
    {R"("model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25)", 1'557'611'200},
    // Mixtral 8x7B, Qwen 3 30B-A3B, Qwen 1.5 MoE A2.7B
    {R"("model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "num_local_experts": 8)",
     46'702'792'704},
    {R"("model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768,
        "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
        "vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8, "norm_topk_prob": true)",
     30'532'122'624},
    {R"("model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632, "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 16,
        "vocab_size": 151936, "num_experts": 60, "num_experts_per_tok": 4)",
     14'315'784'192},
    // Gemma 2 9B, 3 1B, and 3 4B's decoder, within a config that leaves out what is as in the class
    {R"("model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_hidden_layers": 42,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "vocab_size": 256000)",
     9'241'705'984},
    {R"("model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912, "num_hidden_layers": 26,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 262144)",
     999'885'952},
    {R"("model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
        "intermediate_size": 10240, "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}})",
     3'880'263'168},
    // GPT-NeoX 20B, Pythia 6.9B
    {R"("model_type": "gpt_neox", "hidden_act": "gelu_fast")", 20'554'567'680},
    {R"("model_type": "gpt_neox", "hidden_size": 4096, "intermediate_size": 16384, "num_hidden_layers": 32,
        "num_attention_heads": 32)",
     6'857'302'016},
    // BERT base with its pooler, and with the head for masked tokens; ViT-B/16 with its pooler, and with 1000 classes
    {R"("model_type": "bert")", 109'482'240},
    {R"("model_type": "bert", "architectures": ["BertForMaskedLM"])", 109'514'298},
    {R"("model_type": "vit")", 86'389'248},
    {R"("model_type": "vit", "architectures": ["ViTForImageClassification"], "num_labels": 1000)", 86'567'656},
    // DeepSeek V3, with 256 numbers for the balance of the experts of each of 58 layers; T5 small, and 1.1 small
    {R"("model_type": "deepseek_v3", "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0,
        "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096, "type": "yarn"})",
     671'026'404'352 + 58 * 256},
    {R"("model_type": "t5")", 60'506'624},
    {R"("model_type": "t5", "d_ff": 1024, "num_layers": 8, "num_heads": 6, "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": false)",
     76'961'152},
};

// Elements of the parameters of a model, as its train step has them; Hugging Face counts variables with them.
i64 parameters_of(const FamilyTexts& texts) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", texts.model);
    request.layout_file = sources.add("layout.yaml", "mesh: {}\n");
    request.passes = all_passes().first(static_cast<size_t>(find_pass("build") - all_passes().data()) + 1);
    const Compilation made = compile(sources, request);
    for (const Diagnostic& problem : made.diagnostics.all()) FAIL_CHECK(problem.message);
    REQUIRE(made.graph);
    i64 count = 0;
    for (const ValueId input : made.graph->inputs) {
        const Value& value = made.graph->values[input];
        if (value.role != Role::param && value.role != Role::variable) continue;
        count += element_count(value.type.shape);
        std::string line = fmt::format("\n  {}: ", value.name);
        CAPTURE(line);
        CHECK(texts.names.find(line) != std::string::npos);
    }
    return count;
}

} // namespace

TEST_CASE("published configs become models of the published numbers of parameters") {
    for (const Published& model : published) {
        CAPTURE(model.config);
        Sources sources;
        Diagnostics diagnostics;
        const int file = sources.add("config.json", "{" + model.config + "}");
        const std::optional<HfConfig> config = HfConfig::parse(sources, file, diagnostics);
        REQUIRE(config);
        const std::optional<FamilyTexts> texts = make_family_model(*config, {});
        for (const Diagnostic& problem : diagnostics.all()) FAIL_CHECK(problem.message);
        REQUIRE(texts);
        CHECK(parameters_of(*texts) == model.parameters);
    }
}

TEST_CASE("every family has a published config here") {
    for (const FamilyDef* family : all_families())
        for (const std::string_view type : family->types) {
            CAPTURE(type);
            const std::string named = fmt::format("\"model_type\": \"{}\"", type);
            CHECK(std::any_of(published.begin(), published.end(),
                              [&](const Published& model) { return model.config.find(named) != std::string::npos; }));
        }
}

} // namespace shard
