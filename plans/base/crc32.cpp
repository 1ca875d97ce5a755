#include "plans/base/crc32.h"

#include <zlib.h>

namespace shard {

void Crc32::add(std::span<const std::byte> bytes) {
    sum_ =
        static_cast<std::uint32_t>(::crc32_z(sum_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

} // namespace shard
