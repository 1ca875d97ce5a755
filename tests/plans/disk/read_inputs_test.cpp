#include "plans/disk/read_inputs.h"

#include "test_paths.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("what is read is an input as long as the command lives, and what is read between commands is none") {
    const std::string path = SHARDC_SOURCE_DIR "/README.md";
    struct stat status = {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    {
        const ReadInputs command;
        CHECK_FALSE(is_input(status));
        note_input(path);
        CHECK(is_input(status));
    }
    CHECK_FALSE(is_input(status));
    note_input(path);
    CHECK_FALSE(is_input(status));
    const ReadInputs next;
    CHECK_FALSE(is_input(status));
}
