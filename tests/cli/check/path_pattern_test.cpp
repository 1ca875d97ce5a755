#include "cli/check/path_pattern.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

using namespace shard;

using Paths = std::vector<std::string>;

TEST_CASE("a pattern matches names as a shell does") {
    CHECK(name_matches("*.yaml", "gpt.v2.yaml"));
    CHECK(name_matches("a*b*c", "a.b.b.c"));
    CHECK(name_matches("?pt", "gpt"));
    CHECK(name_matches("l[0-2].yaml", "l1.yaml"));
    CHECK_FALSE(name_matches("l[0-2].yaml", "l3.yaml"));
    CHECK(name_matches("*", ""));
    CHECK_FALSE(name_matches("a*b", "a.bc"));
    CHECK_FALSE(name_matches("?", ""));
    CHECK_FALSE(name_matches("*.yaml", ".hidden.yaml"));
    CHECK(name_matches(".*.yaml", ".hidden.yaml"));
}

TEST_CASE("files of a pattern are sorted, through folders too") {
    MemoryFiles files;
    for (const char* path : {"b.yaml", "l/y.yaml", "l/x.yaml", "l/x.json", "m/x.yaml", "m/deep/x.yaml", "top/l/z.yaml"})
        files.files[path] = "";
    CHECK(matching_paths(files, "l/*.yaml") == Paths{"l/x.yaml", "l/y.yaml"});
    CHECK(matching_paths(files, "?/x.yaml") == Paths{"l/x.yaml", "m/x.yaml"});
    CHECK(matching_paths(files, "?/n.yaml").empty());
    CHECK(matching_paths(files, "*.yaml") == Paths{"b.yaml"});
    CHECK(matching_paths(files, "top/*/*.yaml") == Paths{"top/l/z.yaml"});
    CHECK(matching_paths(files, "l/*.csv").empty());
    CHECK(matching_paths(files, "l/none.yaml") == Paths{"l/none.yaml"}); // whoever reads it says that it is not there
}

TEST_CASE("two stars are folders of any depth, and a file is found once") {
    MemoryFiles files;
    for (const char* path : {"l/x.yaml", "l/a/x.yaml", "l/a/b/x.yaml", "l/.git/x.yaml", "l/a/b/y.json"})
        files.files[path] = "";
    const Paths all = {"l/a/b/x.yaml", "l/a/x.yaml", "l/x.yaml"};
    CHECK(matching_paths(files, "l/**/*.yaml") == all);
    CHECK(matching_paths(files, "**/x.yaml") == all);
    CHECK(matching_paths(files, "l/**/**/x.yaml") == all);
    CHECK(matching_paths(files, "l/**/b/*.json") == Paths{"l/a/b/y.json"});
    CHECK(matching_paths(files, "m/**/*.yaml").empty());
    CHECK(plain_path("./l/../m.yaml") == "m.yaml");
}
