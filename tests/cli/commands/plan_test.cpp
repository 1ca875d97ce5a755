// What `plan` does beside printing a report (tests/cli/report/).
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <string>

#include "test_paths.h"

using namespace shard;

TEST_CASE("remedies are in the report and in its part on collectives, and --quick leaves them out") {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    const auto finds_one = [&](const std::string& options) {
        const std::string folder = "examples/logical_constraint/";
        const std::string line = "shardc plan " + folder + "model.yaml " + folder + "layout.yaml --format ";
        return run_command(files, line + options).out.find("without the constraint at") != std::string::npos;
    };
    CHECK(finds_one("json"));
    CHECK(finds_one("markdown --only collectives"));
    CHECK(!finds_one("markdown --only verdict"));
    CHECK(!finds_one("json --quick"));
}
