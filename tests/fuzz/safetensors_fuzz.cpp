// Checkpoints from anywhere: the header of a safetensors file, an index, names of pieces. The first byte says which.
// Any bytes are refused with a problem, or mean the same when they are printed and read again.
#include "executor/checkpoint/checkpoint_index.h"
#include "executor/checkpoint/piece.h"
#include "executor/formats/safetensors.h"
#include "tests/fuzz/reading_fuzz.h"

#include <algorithm>

namespace shard {

namespace {

void check_header(std::string_view file) {
    std::string problem;
    const i64 bytes = static_cast<i64>(file.size());
    std::optional<SafetensorsHeader> header = parse_safetensors_header(file, bytes, problem);
    require(header.has_value() == problem.empty());
    if (!header) return;
    const i64 data_bytes = bytes - header->data_begin;
    i64 held = 0;
    for (const SafetensorsEntry& entry : header->tensors) {
        require(entry.begin >= 0 && entry.begin <= entry.end && entry.end <= data_bytes);
        held += entry.end - entry.begin;
    }
    require(held == data_bytes);
    const std::string printed = print_safetensors_header(*header);
    header->data_begin = static_cast<i64>(printed.size());
    require(parse_safetensors_header(printed, header->data_begin + data_bytes, problem) == header);
}

void check_index(std::string_view text) {
    std::string problem;
    const std::optional<CheckpointIndex> index = parse_checkpoint_index(text, problem);
    require(index.has_value() == problem.empty());
    if (!index) return;
    for (const IndexedFile& file : index->files)
        require(!file.name.empty() && file.name.find('/') == std::string::npos);
    for (const IndexedPiece& piece : index->pieces)
        require(piece.file >= 0 && piece.file < static_cast<int>(index->files.size()));
    const bool all_sums = std::all_of(index->files.begin(), index->files.end(),
                                      [](const IndexedFile& file) { return file.crc32.has_value(); });
    if (all_sums) require(parse_checkpoint_index(print_checkpoint_index(*index), problem) == index);
    // The pieces of a tensor, as if all had what their names say.
    std::vector<Block> blocks;
    for (const IndexedPiece& piece : index->pieces)
        if (const std::optional<Block> block = parse_piece_name(piece.name).block)
            if (blocks.empty() || block->shape.size() == blocks.front().shape.size()) blocks.push_back(*block);
    if (blocks.empty()) return;
    if (const std::optional<Shape> whole = shape_of_grid(blocks))
        for (const Block& block : blocks)
            for (size_t d = 0; d < whole->size(); ++d) require(block.start[d] + block.shape[d] <= (*whole)[d]);
}

void check_piece_name(std::string_view text) {
    const PieceName name = parse_piece_name(text);
    if (!name.block) {
        require(name.tensor == text);
        return;
    }
    Shape whole = name.block->shape;
    whole.front() = whole.front() == 0 ? 1 : 0; // another one, so that the ranges are written
    require(parse_piece_name(piece_name(name.tensor, whole, *name.block)) == name);
}

} // namespace

} // namespace shard

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0]) {
    case 'h':
        shard::check_header(text);
        break;
    case 'i':
        shard::check_index(text);
        break;
    case 'p':
        shard::check_piece_name(text);
        break;
    default:
        break;
    }
    return 0;
}
