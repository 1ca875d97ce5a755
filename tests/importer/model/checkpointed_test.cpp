// Layers of a loss that are in a jax.checkpoint.
#include "tests/support/imported_model.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

const std::string remat = "    remat: full # as jax.checkpoint without a policy: the program's text has none\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

} // namespace

TEST_CASE("layers of a loss that are in a jax.checkpoint are computed again, and no others") {
    const std::string program = recorded_program("flax_scanned_gpt");
    CHECK(imported_program(program).model.find(remat) != std::string::npos);
    // By another name, or where some of it is elsewhere, as a name that only looks like it.
    CHECK(imported_program(replaced(program, "checkpoint/", "checkpoints/")).model.find("remat") == std::string::npos);
    CHECK(
        imported_program(replaced(program, "\"checkpoint/blocks.<lambda>/blocks/LayerNorm_1/", "\"blocks/LayerNorm_1/"))
            .model.find(remat) != std::string::npos); // of the same line
    CHECK(imported_program(recorded_program("flax_gpt")).model.find("remat") == std::string::npos);
    // No loss: what is computed again is the program's own affair.
    CHECK(imported_program(recorded_program("stacked_layers")).model.find("remat") == std::string::npos);
}

} // namespace shard
