#include "plans/base/crc32.h"

#include <doctest/doctest.h>

#include <string_view>

namespace shard {
namespace {

std::uint32_t crc32(std::string_view text) {
    Crc32 sum;
    sum.add(std::as_bytes(std::span<const char>(text)));
    return sum.value();
}

} // namespace

// The check value of the CRC catalogues, and numbers of Python's zlib.crc32.
TEST_CASE("crc32 gives zlib's sums, however the bytes come") {
    CHECK(crc32("") == 0);
    CHECK(crc32("123456789") == 0xCBF43926);
    CHECK(crc32("The quick brown fox jumps over the lazy dog") == 0x414FA339);
    const std::string_view text = "The quick brown fox jumps over the lazy dog";
    for (size_t cut = 0; cut <= text.size(); ++cut) {
        Crc32 sum;
        sum.add(std::as_bytes(std::span<const char>(text.substr(0, cut))));
        sum.add(std::as_bytes(std::span<const char>(text.substr(cut))));
        CHECK(sum.value() == 0x414FA339);
    }
}

} // namespace shard
