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
