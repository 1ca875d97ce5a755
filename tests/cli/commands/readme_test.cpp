// The README names what there is.
#include "cli/command/command.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "test_paths.h"

using namespace shard;

TEST_CASE("the README's table of commands has every command") {
    std::ifstream stream(std::string(SHARDC_SOURCE_DIR) + "/README.md");
    const std::string readme{std::istreambuf_iterator<char>(stream), {}};
    const size_t from = readme.find("| command |"), to = readme.find("\n\n", from);
    REQUIRE(to != std::string::npos);
    const std::string table = readme.substr(from, to - from);
    for (const CommandDef* command : all_commands()) {
        const std::string name(command->name); // `shardc schema NAME`, `completion SHELL`, `calibrate`
        const bool there = table.find("`shardc " + name + " ") != std::string::npos ||
                           table.find("`" + name + " ") != std::string::npos ||
                           table.find("`" + name + "`") != std::string::npos;
        CHECK_MESSAGE(there, name);
    }
}
