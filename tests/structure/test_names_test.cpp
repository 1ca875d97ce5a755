// CTest's list of tests is a list of CMake's, in which a semicolon ends an entry: such a test would be run under two
// names that do not exist.
#include "tests/structure/structure_rules.h"

#include <doctest/doctest.h>

#include <regex>

#include "test_paths.h"

using namespace shard;

TEST_CASE("no name of a test holds a semicolon") {
    static const std::regex name("TEST_CASE\\(\\s*\"[^\"]*;");
    for (const SourceFile& file : read_source_tree(SHARDC_SOURCE_DIR))
        CHECK_MESSAGE(!std::regex_search(file.text, name), file.path);
}
