// What `plan` does beside printing a report (tests/cli/report/).
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <string>

#include "test_paths.h"

using namespace shard;

TEST_CASE("a part of the report without collectives tries no remedies") {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    const auto finds_one = [&](const std::string& options) {
        const std::string folder = "examples/logical_constraint/";
        const std::string line = "shardc plan " + folder + "model.yaml " + folder + "layout.yaml --format json";
        return run_command(files, line + options).out.find("without the constraint at") != std::string::npos;
    };
    CHECK(finds_one(""));
    CHECK(finds_one(" --only collectives"));
    CHECK(!finds_one(" --only verdict"));
    CHECK(!finds_one(" --quick"));
}
