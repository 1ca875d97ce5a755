// What `explain` and `show` take for the name of a tensor.
#include "tests/support/layered_model.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("explain and show take names as reports print them, and kinds of collectives") {
    MemoryFiles files;
    files.files["model.yaml"] = layered_model(false);
    files.files["layout.yaml"] = layered_layout;
    const auto asked = [&](const std::string& line) {
        const CommandResult result = run_command(files, line);
        CAPTURE(line);
        CHECK_MESSAGE(result.code == 0, result.err);
        return result.out;
    };
    const std::string report = asked("plan model.yaml layout.yaml");
    REQUIRE(report.find("block.{0..2}.y") != std::string::npos);
    for (const std::string command : {"explain", "show"})
        CHECK(asked(command + " model.yaml layout.yaml block.{0..2}.y") ==
              asked(command + " model.yaml layout.yaml block.0.y block.1.y block.2.y"));
    CHECK(asked("explain model.yaml layout.yaml all_reduce") == asked("explain model.yaml layout.yaml block.0.y"));
    const CommandResult last = run_command(files, "explain model.yaml layout.yaml up");
    CHECK(last.code == 2);
    CHECK(last.err.find("did you mean 'block.0.up'?") != std::string::npos);
}

} // namespace shard
