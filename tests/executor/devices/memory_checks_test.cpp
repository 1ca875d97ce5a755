#include "executor/devices/memory_checks.h"

#include "executor/devices/arenas.h"

#include <doctest/doctest.h>

using namespace shard;

#ifdef SHARDC_CHECKS_MEMORY

TEST_CASE("arenas: bytes that nobody was given are out of bounds") {
    Arenas arenas;
    REQUIRE(arenas.allocate(2, 4096, 0, 2));
    const auto forbidden = [](const std::byte* at) { return __asan_address_is_poisoned(at) != 0; };
    CHECK(forbidden(arenas.of(0)));
    allow_bytes(arenas.of(0), 4096);
    CHECK_FALSE(forbidden(arenas.of(0)));
    CHECK_FALSE(forbidden(arenas.of(0) + 4095));
    CHECK(forbidden(arenas.of(0) + 4096)); // between two arenas
    CHECK(forbidden(arenas.of(1)));
    forbid_bytes(arenas.of(0) + 64, 64);
    CHECK(forbidden(arenas.of(0) + 64));
    CHECK_FALSE(forbidden(arenas.of(0) + 128));
}

#endif
