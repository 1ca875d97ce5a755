#include "plans/base/crc32.h"

#include <doctest/doctest.h>

#include <string_view>

namespace shard {
// The check value of the CRC catalogues, and numbers of Python's zlib.crc32.
TEST_CASE("crc32 gives zlib's sums, however the bytes come") {
    CHECK(crc32_of("") == 0);
    CHECK(crc32_of("123456789") == 0xCBF43926);
    CHECK(crc32_of("The quick brown fox jumps over the lazy dog") == 0x414FA339);
    const std::string_view text = "The quick brown fox jumps over the lazy dog";
    for (size_t cut = 0; cut <= text.size(); ++cut) {
        Crc32 sum;
        sum.add(std::as_bytes(std::span<const char>(text.substr(0, cut))));
        sum.add(std::as_bytes(std::span<const char>(text.substr(cut))));
        CHECK(sum.value() == 0x414FA339);
    }
}

} // namespace shard
