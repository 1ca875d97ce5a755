// What decoders of tokens have in common: an embedding, blocks that are repeated, a norm, logits, the next token as
// the target.
#pragma once

#include "importer/huggingface/family.h"

namespace shard {

struct Decoder {
    i64 embed = 0, heads = 0, kv_heads = 0, kv = 0, mlp = 0, vocab = 0, layers = 0;
    double eps = 1e-6;
    bool tied = false;
};

// By the names that most families have. `usual` are the class's values for what a config leaves out; of a size that is 0
// there it is an error, but of heads of keys, which are then those of queries, and of kv, which is then the rest.
Decoder read_decoder(const HfConfig& config, const Decoder& usual);

// "f32", "bf16" or "f16".
std::string dtype_of(const HfConfig& config);
// The longest sequence, and not more than people train on at once.
i64 length_of(const HfConfig& config, std::string_view path, i64 usual);
std::string float_text(double number); // as YAML reads it, a float

// How `rope` turns: what follows "rope: q" in a map, ", theta: 500000, scaling: [8, 1, 4, 8192]". Both the form of
// transformers 5 (`rope_parameters`) and that from before.
struct Rope {
    double theta = 10000;
    std::string scaling; // "[8, 1, 4, 8192]"; empty: none
};
Rope read_rope(const HfConfig& config, double usual_theta, const std::string& kind = {});
// E0808 unless the activation is one of these.
void require_activation(const HfConfig& config, std::string_view path, std::initializer_list<std::string_view> known,
                        std::string_view usual);
// E0808 for a flag that is set, or is not: no model of the family is made so.
void require_off(const HfConfig& config, std::initializer_list<std::string_view> flags);
void require_on(const HfConfig& config, std::initializer_list<std::string_view> flags);

// Tokens as the input, the next ones as targets, and their loss.
void set_next_token(FamilyModel& model);
// A file with the embedding, the final norm and logits; families add blocks. Without `mlp` there is no such axis.
FamilyModel decoder_model(const HfConfig& config, const Decoder& decoder);

// The graph: the embedding, what is between, the norm and logits.
void add_decoder_graph(FamilyModel& model, const std::vector<std::string>& blocks, const Decoder& decoder);
void add_expert_axes(FamilyModel& model, i64 experts, i64 chosen, i64 width);

// The names of norms, of attention and of a gated mlp as Llama's checkpoints have them, for blocks of shardc's library.
// `layer` is the number of the checkpoint's layer: "{layer}", "{2*layer+1}".
void add_attention_names(FamilyModel& model, const std::string& block, const std::string& layer);
void add_attention_bias_names(FamilyModel& model, const std::string& block, const std::string& layer);
void add_gated_mlp_names(FamilyModel& model, const std::string& block, const std::string& prefix);

} // namespace shard
