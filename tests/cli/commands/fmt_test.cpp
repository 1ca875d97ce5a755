// fmt: what it would not keep as it is, it leaves alone.
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("fmt -: what stdout would show escaped is refused, so that no editor takes it for the file") {
    for (const char* text : {"mesh: {data: 2}   # a\ttab\n", "mesh:   {data: 2} # \xE2\x80\x8D\n"}) {
        CAPTURE(text);
        MemoryFiles files;
        const CommandResult result = run_command(files, "fmt -", text);
        CHECK(result.code == 2);
        CHECK(result.out.empty());
        CHECK(result.err.find("error[E0701]: stdin holds characters") != std::string::npos);
    }
    MemoryFiles files;
    CHECK(run_command(files, "fmt -", "mesh:   {data: 2} # c\n").out == "mesh: {data: 2}  # c\n");
    CHECK(run_command(files, "fmt -", "mesh:   {data: 2} # c\r\n").out == "mesh: {data: 2}  # c\r\n");
    files.files["crlf.yaml"] = "mesh:   {data: 2}\r\n";
    CHECK(run_command(files, "fmt --diff crlf.yaml").out ==
          "--- crlf.yaml\n+++ crlf.yaml\n@@ -1,1 +1,1 @@\n-mesh:   {data: 2}\r\n+mesh: {data: 2}\r\n");
}

TEST_CASE("fmt: there is no place to write to but the files and stdout") {
    MemoryFiles files;
    for (const std::string option : {"-o", "--output"})
        CHECK(run_command(files, "fmt a.yaml " + option + " b.yaml").err ==
              "error[E0701]: fmt has no option '" + option +
                  "': it writes into the files themselves; `fmt -` reads stdin and prints\n"
                  "  = help: usage: shardc fmt FILE... [--check] [--diff]\n\n");
    CHECK(run_command(files, "fmt a.yaml -x").err.find("fmt has no option '-x'\n") != std::string::npos);
}

TEST_CASE("fmt: a file of another program is left as it is") {
    for (const std::string text : {"services:\n    web: {image:   x}\n", "[1,   2]\n", "{\"a\":   1}\n"}) {
        CAPTURE(text);
        MemoryFiles files;
        files.files["compose.yaml"] = text;
        const CommandResult result = run_command(files, "fmt compose.yaml");
        CHECK(result.code == 2);
        CHECK(result.err.find("error[E0709]: 'compose.yaml' has no key of a model") != std::string::npos);
        CHECK(files.files.at("compose.yaml") == text);
    }
    MemoryFiles files;
    files.files["names.yaml"] = "prefixes:   [a]\n";
    CHECK(run_command(files, "fmt names.yaml").code == 0);
}

TEST_CASE("fmt: of a file that holds nothing that is said, and what is nothing is nobody else's") {
    MemoryFiles files;
    files.files["empty.yaml"] = "# nothing yet\n";
    files.files["null.yaml"] = "~ # nothing\n";
    const CommandResult result = run_command(files, "fmt empty.yaml");
    CHECK(result.code == 2);
    CHECK(result.err.starts_with("error[E0109]: the file is empty\n"));
    CHECK(run_command(files, "fmt null.yaml").code == 0);
}

TEST_CASE("fmt: a comment that belongs to the list above it goes with the list where keys are put in order") {
    MemoryFiles files;
    files.files["f.yaml"] = "rules:\n- a: 1\n    # c\n# d\nmesh: {}\n";
    const std::string now = "# d\nmesh: {}\nrules:\n  - a: 1\n    # c\n";
    for (int time = 0; time < 2; ++time) {
        CHECK(run_command(files, "fmt f.yaml").code == 0);
        CHECK(files.files.at("f.yaml") == now);
    }
}

} // namespace shard
