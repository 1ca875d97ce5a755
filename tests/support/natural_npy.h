// Whole .npy files, in the type that they have. A header alone, since fuzz targets link no helpers.
#pragma once

#include "executor/formats/npy_read.h"

namespace shard {

inline std::optional<Tensor> read_natural(std::optional<NpyFile> file, Diagnostics& diagnostics) {
    return file ? file->read(file->type().dtype, diagnostics) : std::nullopt;
}

inline std::optional<Tensor> read_npy(const std::string& path, Diagnostics& diagnostics) {
    return read_natural(NpyFile::open(path, diagnostics), diagnostics);
}

} // namespace shard
