#include "cli/terminal/table.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("a table aligns its columns, left out where empty, without blanks at line ends") {
    Table table({{"name"}, {"unused"}, {"bytes", Align::right}, {"source"}});
    table.add({"x", "", "16.0 KiB", "model.yaml:6"});
    table.add_note("because");
    table.add({"a#2", "", "512 B"});
    CHECK(table.render({}, "  ") == "  name     bytes  source\n"
                                    "  x     16.0 KiB  model.yaml:6\n"
                                    "      because\n"
                                    "  a#2      512 B\n");
}

TEST_CASE("colour does not shift columns, and characters of several bytes count once") {
    Table table({{""}, {""}});
    table.add({Cell("é", "31"), "1"});
    table.add({"ab", "2"});
    CHECK(table.render(Paint{true}, "") == "\x1b[31mé\x1b[0m   1\nab  2\n");
}

TEST_CASE("a table in Markdown escapes what Markdown would read") {
    Table table({{"name"}, {"sharding", Align::right}});
    table.add({"w_1", "[data | -]"});
    CHECK(table.render_markdown() == "| name | sharding |\n|---|---:|\n| w\\_1 | [data \\| -] |\n");
    table.add_note("because");
    table.add_note("remedy");
    CHECK(table.render_markdown() ==
          "| name | sharding | notes |\n|---|---:|---|\n| w\\_1 | [data \\| -] | because; remedy |\n");
}

TEST_CASE("a table that is too wide leaves columns out that can be spared, in their order, then breaks what wraps") {
    Table table({{.header = "name", .wraps = true},
                 {.header = "source", .spared = 2},
                 {"bytes", Align::right},
                 {.header = "on a device", .spared = 1}});
    table.add({"block.0.attention.wq and more", "model.yaml:6", "1.00 MiB", "(4, 1024)"});
    table.add_note("because it is so");
    const std::string all = "  name                           source           bytes  on a device\n"
                            "  block.0.attention.wq and more  model.yaml:6  1.00 MiB  (4, 1024)\n"
                            "      because it is so\n";
    CHECK(table.render({}, "  ") == all);
    CHECK(table.render({false, 68}, "  ") == all);
    CHECK(table.render({false, 67}, "  ") == "  name                           source           bytes\n"
                                             "  block.0.attention.wq and more  model.yaml:6  1.00 MiB\n"
                                             "      because it is so\n");
    CHECK(table.render({false, 54}, "  ") == "  name                              bytes\n"
                                             "  block.0.attention.wq and more  1.00 MiB\n"
                                             "      because it is so\n");
    CHECK(table.render({false, 34}, "  ") == "  name                       bytes\n"
                                             "  block.0.attention.wq    1.00 MiB\n"
                                             "  and more\n"
                                             "      because it is so\n");
}

TEST_CASE("a column that is left out begins the notes of its rows, where it is one that is noted") {
    Table table({{"name"}, {"bytes", Align::right}, {.header = "source", .spared = 2, .noted = true}});
    table.add({"block", "1.00 MiB", "model.yaml:6"});
    table.add_note("because it is so");
    table.add_note("remedy: none");
    table.add({"x", "1.00 MiB", "model.yaml:7"});
    CHECK(table.render({}, "") == "name      bytes  source\n"
                                  "block  1.00 MiB  model.yaml:6\n"
                                  "    because it is so\n"
                                  "    remedy: none\n"
                                  "x      1.00 MiB  model.yaml:7\n");
    CHECK(table.render({false, 28}, "") == "name      bytes\n"
                                           "block  1.00 MiB\n"
                                           "    model.yaml:6: because it\n"
                                           "    is so\n"
                                           "    remedy: none\n"
                                           "x      1.00 MiB\n"
                                           "    model.yaml:7\n");
}

TEST_CASE("names that a narrow terminal has no column for are said with the cause, and no header is cut") {
    Table table({{"collective"}, {.header = "of", .wraps = true, .noted = true}, {"sent", Align::right}});
    table.add({"all_reduce_all", "block.{wq,wk,wv,wo}, unembed", "1.00 MiB"});
    table.add_note("fsdp splits it");
    CHECK(table.render({false, 45}, "") == "collective      of                       sent\n"
                                           "all_reduce_all  block.{wq,wk,wv,     1.00 MiB\n"
                                           "                wo}, unembed\n"
                                           "    fsdp splits it\n");
    CHECK(table.render({false, 30}, "") == "collective          sent\n"
                                           "all_reduce_all  1.00 MiB\n"
                                           "    block.{wq,wk,wv,wo},\n"
                                           "    unembed: fsdp splits it\n");
    const std::string narrow = table.render({false, 22}, "");
    CHECK_MESSAGE(narrow.starts_with("collective "), narrow);
}

TEST_CASE("a table with groups of columns is cut between them where it does not fit") {
    Table table({{""}, {.header = "data", .group = 1}, {.header = "", .group = 1}, {.header = "tensor", .group = 2}});
    table.add({"step time", "1.00 ms", "*", "2.00 ms"});
    CHECK(table.render({.width = 40}, "") == "           data        tensor\n"
                                             "step time  1.00 ms  *  2.00 ms\n");
    CHECK(table.render({.width = 30}, "") == "           data        tensor\n"
                                             "step time  1.00 ms  *  2.00 ms\n");
    CHECK(table.render({.width = 29}, "") == "           data\n"
                                             "step time  1.00 ms  *\n"
                                             "\n"
                                             "           tensor\n"
                                             "step time  2.00 ms\n");
}
