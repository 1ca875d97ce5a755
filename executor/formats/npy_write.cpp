// Writing .npy files; the format is described in executor/formats/npy_read.cpp.
#include "executor/formats/npy_write.h"

#include "executor/elements/strided.h"
#include "executor/formats/npy_read.h"
#include "executor/formats/tensor.h"
#include "plans/disk/file.h"
#include "plans/disk/output_file.h"

#include <fmt/format.h>

namespace shard {

bool write_npy(const std::string& path, const Tensor& tensor, Diagnostics& diagnostics) {
    const DType stored = has_numpy_name(tensor.type.dtype) ? tensor.type.dtype : DType::f32;
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", numpy_name(stored),
                                     tensor.type.shape.empty() ? "()" : shape_text(tensor.type.shape));
    const size_t fixed = npy_magic.size() + 4;
    header.append((64 - (fixed + header.size() + 1) % 64) % 64, ' '); // elements start at a multiple of 64
    header += '\n';
    std::string file(npy_magic);
    file += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
    file += header;
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
