// Families of models of Hugging Face's transformers: what becomes of a config.json. A family is one file:
// importer/families/<name>.cpp defines `const FamilyDef& family_<name>()`.
#pragma once

#include "importer/huggingface/config.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shard {

using FamilyLines = std::vector<std::pair<std::string, std::string>>; // names, and what stands behind them

// What checkpoints call a parameter, as schemas/checkpoint_names.schema.json says it.
struct FamilyTensor {
    std::string param;          // "llama_block.wq"
    std::string from;           // "model.layers.{layer}.self_attn.q_proj.weight"
    std::string rearrange = {}; // "(heads kv) embed -> embed heads kv"; empty where it is stored as it is
    FamilyLines part = {};      // {"qkv", "0 of 3"}
    std::string also = {};      // another name that it has in some checkpoints
};

// A model file and its names, before they are laid out as text.
struct FamilyAxis {
    std::string name;
    i64 size = 1;
    std::string comment = {};
    std::string text = {}; // of the size, where it is arithmetic: "length"
    bool of_arrays = true; // inputs or parameters have it, so that rules may name it
};

struct FamilyModel {
    std::string name;                  // "llama"
    std::vector<std::string> comments; // what it is
    std::vector<std::string> includes; // modules of the box
    std::vector<FamilyAxis> axes;      // but batch and length
    i64 length = 0;                    // of the longest sequence; 0: the model has none
    std::string dtype = "f32";         // of parameters
    FamilyLines inputs, params;
    std::vector<std::string> graph; // entries
    std::string output = "logits";
    FamilyLines targets;
    std::string loss;
    std::vector<FamilyTensor> tensors;
    std::vector<std::string> prefixes; // that may stand before all names, besides none
    double expert_share = 0;           // of tokens that go to an expert, if all get as many; 0: there are none
    std::vector<std::string> unused;   // patterns of what checkpoints hold besides
};

struct FamilyDef {
    std::vector<std::string_view> types;            // of config.json's model_type
    FamilyModel (*make)(const HfConfig&) = nullptr; // what is wrong is reported through the config
};

const std::vector<const FamilyDef*>& all_families();

struct FamilyTexts {
    std::string model, names;               // YAML
    std::vector<FamilyAxis> axes;           // all of them
    bool trains = true;                     // there is a train step
    std::vector<std::string> settings = {}; // as of --set, with which the costs of a step are those that people see
};
struct FamilyRequest {
    i64 batch = 1;
    i64 length = 0; // 0: as the model can
    std::string names_file;
};
// nullopt after E0807 or E0808.
std::optional<FamilyTexts> make_family_model(const HfConfig& config, const FamilyRequest& request);

} // namespace shard
