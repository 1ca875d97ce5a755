// The safetensors format: 8 bytes with the length of a header (little endian), the header, then the tensors' bytes. The
// header is JSON: for every tensor its type, shape and where it lies in those bytes, and strings under `__metadata__`:
//
//     {"__metadata__": {"format": "pt"}, "w1": {"dtype": "F32", "shape": [4, 2], "data_offsets": [0, 32]}}
//
// Source: https://github.com/huggingface/safetensors, "Format". Tensors are row-major and little endian, lie one behind
// the other without gaps, and here start at multiples of their element size. A piece of a tensor is a tensor in its
// file: see executor/checkpoint/piece.h.
#pragma once

#include "plans/sharding/type.h"

#include <utility>

namespace shard {

struct SafetensorsEntry {
    std::string name;
    std::string dtype; // as in the file: "F32", "BF16"; also those that shardc lacks
    Shape shape;
    i64 begin = 0, end = 0; // bytes, from the end of the header
    bool operator==(const SafetensorsEntry&) const = default;
};

struct SafetensorsHeader {
    std::vector<std::pair<std::string, std::string>> metadata;
    std::vector<SafetensorsEntry> tensors;
    i64 data_begin = 0; // bytes from the start of the file: 8 and the header
    bool operator==(const SafetensorsHeader&) const = default;

    const std::string* find_metadata(std::string_view key) const; // nullptr if it is not there
};

// The length and the header, padded so that the data starts at a multiple of 8; data_begin is ignored.
std::string print_safetensors_header(const SafetensorsHeader& header);

// How many bytes of the file parse_safetensors_header needs, from its first 8; at most what the file has, and at most
// 100 MB, as in the reference implementation. nullopt with a problem, if there cannot be a header.
std::optional<i64> safetensors_header_bytes(std::string_view first, i64 file_bytes, std::string& problem);
// Checks everything: what it returns describes exactly the file's bytes.
std::optional<SafetensorsHeader> parse_safetensors_header(std::string_view first, i64 file_bytes, std::string& problem);

} // namespace shard
