// Whole .npy files, in the type that is nearest to the file's. A header alone, since fuzz targets link no helpers.
#pragma once

#include "executor/formats/npy_read.h"

namespace shard {

// E0606 also of elements that no type of shardc holds.
inline std::optional<Tensor> read_natural(std::optional<NpyFile> file, Diagnostics& diagnostics) {
    if (!file) return std::nullopt;
    const DType dtype = natural_type(file->type());
    if (fit_of(file->type(), dtype) != Fit::refused) return file->read(dtype, diagnostics);
    diagnostics.error("E0606", {}, file->path() + ": no type of shardc holds " + name(file->type()));
    return std::nullopt;
}

inline std::optional<Tensor> read_npy(const std::string& path, Diagnostics& diagnostics) {
    return read_natural(NpyFile::open(path, diagnostics), diagnostics);
}

} // namespace shard
