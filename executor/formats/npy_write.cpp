// Writing .npy files; the format is described in executor/formats/npy_read.cpp.
#include "executor/formats/npy_write.h"

#include "executor/elements/strided.h"
#include "executor/formats/npy_read.h"
#include "executor/formats/tensor.h"
#include "plans/disk/file.h"
#include "plans/disk/output_file.h"

#include <fmt/format.h>

namespace shard {

namespace {

DType stored_as(DType dtype) { return has_numpy_name(dtype) ? dtype : DType::f32; }

// All before the elements, which start at a multiple of 64.
std::string npy_header(const TensorType& type) {
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", numpy_name(stored_as(type.dtype)),
                    type.shape.empty() ? "()" : shape_text(type.shape));
    const size_t fixed = npy_magic.size() + 4;
    header.append((64 - (fixed + header.size() + 1) % 64) % 64, ' ');
    header += '\n';
    std::string file(npy_magic);
    file += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
    return file + header;
}

} // namespace

i64 npy_bytes(const TensorType& type) {
    return std::ssize(npy_header(type)) + type.elements() * byte_size(stored_as(type.dtype));
}

bool write_npy(const std::string& path, const Tensor& tensor, Diagnostics& diagnostics) {
    const DType stored = stored_as(tensor.type.dtype);
    std::string file = npy_header(tensor.type);
    const size_t begin = file.size();
    const i64 count = tensor.type.elements();
    file.resize(begin + (count * byte_size(stored)));
    convert_strided(reinterpret_cast<std::byte*>(file.data() + begin), stored, tensor.bytes.data(), tensor.type.dtype,
                    {{count, 1, 1}});
    std::string problem;
    if (write_file_atomically(path, file, problem)) return true;
    diagnostics.error("E0607", {}, fmt::format("cannot write {}: {}", path, problem));
    return false;
}

} // namespace shard
