// .npy files. Those that are read may be of versions 1 to 3, in C or Fortran order and either byte order, and hold the
// types of executor/elements/stored_type.h; they may be pipes. What is written is version 1.0, C order, little endian;
// bf16 is written as float32.
#pragma once

#include "executor/elements/stored_type.h"
#include "executor/formats/tensor.h"
#include "plans/diagnostics/diagnostic.h"

#include <functional>

namespace shard {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

// A file of which the header was read: whether it fits is known before its elements are, whatever their number.
class NpyFile {
public:
    // As many of the next bytes as come, at most those asked for; 0 at the end, -1 with a problem.
    using ReadBytes = std::function<i64(std::span<std::byte> to, std::string& problem)>;

    // E0606 if it is not an array, or is longer or shorter than its header says. A pipe is waited for.
    static std::optional<NpyFile> open(const std::string& path, Diagnostics& diagnostics);
    static std::optional<NpyFile> open_text(std::string_view text, const std::string& path, Diagnostics& diagnostics);

    const StoredType& type() const { return type_; }
    const Shape& shape() const { return shape_; }
    const std::string& path() const { return path_; }
    // The elements, once, in a type that they fit. E0601 if there is no memory for them, E0606 if it ends elsewhere
    // than its header says.
    std::optional<Tensor> read(DType dtype, Diagnostics& diagnostics);

private:
    static std::optional<NpyFile> open(ReadBytes source, i64 size, const std::string& path, Diagnostics& diagnostics);
    ReadBytes source_;
    std::string path_;
    StoredType type_;
    Shape shape_;
    i64 bytes_ = 0; // of the elements
    bool is_fortran_order_ = false;
};

} // namespace shard
