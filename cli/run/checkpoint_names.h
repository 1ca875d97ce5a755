// The file of a model's `checkpoint_names`, read:
//
//     prefixes: ["transformer."]
//     unused: ["**.attn.bias"]
//     tensors:
//       wte: wte.weight
//       gpt2_block.wk: {from: "h.{layer}.attn.c_attn.weight", rearrange: "embed (qkv heads kv) -> embed heads kv",
//                       part: {qkv: 1 of 3}}
#pragma once

#include "executor/checkpoint/stored_names.h"
#include "plans/diagnostics/diagnostic.h"
#include "plans/plan/plan.h"

namespace shard {

// That of the model a plan was made of; no names if it has none. Its text joins `sources`, so that errors (E0615, and
// those of YAML) have places.
std::optional<StoredNames> read_checkpoint_names(const Plan& plan, Sources& sources, Diagnostics& diagnostics);

} // namespace shard
