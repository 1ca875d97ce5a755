// The index of a checkpoint, model.safetensors.index.json: which file holds what, as Hugging Face's libraries write it,
// and in `metadata` what shardc adds: the step, and every file's size and checksum.
//
//     {"metadata": {"total_size": 64, "format_version": 1, "tool": "shardc 0.1.0", "model": "mlp", "step": 5,
//                   "files": {"model.safetensors": {"bytes": 136, "crc32": "cbf43926"}}, "shapes": {"w1": [4, 4]}},
//      "weight_map": {"w1": "model.safetensors"}}
#pragma once

#include "plans/sharding/type.h"

namespace shard {

inline constexpr std::string_view index_file = "model.safetensors.index.json";

struct IndexedFile {
    std::string name; // of a file beside the index
    i64 bytes = -1;   // -1: the index does not say
    std::optional<std::uint32_t> crc32;
    bool operator==(const IndexedFile&) const = default;
};

struct IndexedPiece {
    std::string name; // as in executor/checkpoint/piece.h
    int file = 0;     // in CheckpointIndex::files
    bool operator==(const IndexedPiece&) const = default;
};

struct CheckpointIndex {
    static constexpr i64 current_format_version = 1;
    std::string tool, model; // empty: not written by shardc
    i64 step = 0;            // that were made before
    i64 total_size = 0;      // bytes of all tensors
    std::vector<IndexedFile> files;
    std::vector<IndexedPiece> pieces;
    std::vector<std::pair<std::string, Shape>> shapes;          // of whole tensors, by name
    bool is_own() const { return tool.starts_with("shardc "); } // written by this program, in some version
    bool operator==(const CheckpointIndex&) const = default;
};

std::string print_checkpoint_index(const CheckpointIndex& index);
// What others wrote need not have more than a weight_map. nullopt with what is wrong; file names are plain names.
std::optional<CheckpointIndex> parse_checkpoint_index(std::string_view json, std::string& problem);

} // namespace shard
