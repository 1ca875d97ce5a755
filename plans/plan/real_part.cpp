#include "plans/plan/real_part.h"

#include <algorithm>

namespace shard {

bool RealPart::empty() const {
    return std::any_of(shape.begin(), shape.end(), [](i64 size) { return size == 0; });
}

RealPart real_part(const Mesh& mesh, const Buffer& buffer, std::span<const i64> coordinates) {
    RealPart part{local_start(mesh, buffer.global_shape, buffer.sharding, coordinates), buffer.shape};
    for (size_t d = 0; d < part.shape.size(); ++d) {
        const i64 size = buffer.real_shape()[d];
        part.start[d] = std::min(part.start[d], size);
        part.shape[d] = std::min(part.shape[d], size - part.start[d]);
    }
    return part;
}

} // namespace shard
