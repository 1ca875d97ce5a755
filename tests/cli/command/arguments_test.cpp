// What the table of each command says of its arguments, as whoever types it meets it.
#include "cli/command/command.h"
#include "test_paths.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace shard {

TEST_CASE("a command without an argument that it needs says which") {
    MemoryFiles files;
    for (const auto& [command, argument] :
         {std::pair("run", "FILE"), std::pair("show", "FILE"), std::pair("diff", "FILE"), std::pair("export", "FILE"),
          std::pair("import", "FILE"), std::pair("explain", "WHAT"), std::pair("completion", "SHELL")}) {
        CAPTURE(command);
        const CommandResult result = run_command(files, command);
        CHECK(result.code == 2);
        CHECK(result.err.starts_with(fmt::format("error[E0701]: {} is required\n", argument)));
    }
}

TEST_CASE("help COMMAND is COMMAND --help, and asks which command where there is none of that name") {
    MemoryFiles files;
    const CommandResult plan = run_command(files, "help plan");
    CHECK(plan.code == 0);
    CHECK(plan.out == run_command(files, "plan --help").out);
    CHECK(run_command(files, "help").out == run_command(files, "--help").out);
    for (const char* typed : {"help plann", "plann --help"}) {
        const CommandResult wrong = run_command(files, typed);
        CHECK(wrong.code == 2);
        CHECK(wrong.out.empty());
        CHECK(wrong.err.starts_with("error[E0701]: there is no command 'plann': did you mean 'plan'?\n"));
    }
}

TEST_CASE("an input without a file is told how it is given") {
    for (const std::string text : {"x", "x="}) {
        MemoryFiles files{SHARDC_SOURCE_DIR};
        const CommandResult result = run_command(
            files, "run examples/dot_relu_dot/model.yaml examples/dot_relu_dot/layout.yaml --input " + text);
        CHECK(result.code == 2);
        CHECK(result.err ==
              "error[E0701]: --input takes NAME=FILE.npy, not '" + text + "'\n  = help: there are x, w1, w2\n\n");
    }
}

TEST_CASE("an option that takes one value is told how often it is there, by its name and not by another option's") {
    MemoryFiles files;
    for (const auto& [line, said] : {
             std::pair<std::string, std::string>("plan m l -o a --output b -o c",
                                                 "--plan (-o) is there 2 times, and takes one FILE"),
             std::pair<std::string, std::string>("plan m l --output a --output=b --output c",
                                                 "--output is there 3 times, and takes one FILE"),
             std::pair<std::string, std::string>("run p --steps 3 --output a --output b --steps=4",
                                                 "--steps is there 2 times, and takes one N"),
             std::pair<std::string, std::string>("run p --log a --steps 3 --log b",
                                                 "--log is there 2 times, and takes one FILE"),
         }) {
        CAPTURE(line);
        const CommandResult result = run_command(files, line);
        CHECK(result.code == 2);
        CHECK(result.err.starts_with(fmt::format("error[E0701]: {}\n", said)));
    }
}

TEST_CASE("a count of steps says what it may be") {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    const std::string guide = "examples/nnx_guide/";
    const CommandResult result =
        run_command(files, "run " + guide + "model.yaml " + guide +
                               "layout.yaml --mode train --save d --save-every 4611686018427387904");
    CHECK(result.code == 2);
    CHECK(result.err.find("error[E0701]: --save-every takes a whole number from 1 to 2147483647, not "
                          "'4611686018427387904'\n") != std::string::npos);
}

TEST_CASE("- is stdin where one file is read, and stdout where one is written") {
    std::vector<std::string> options;
    for (const CommandDef* command : all_commands())
        for (const OptionDef& option : command->options)
            if (option.dash) options.push_back(fmt::format("{} {}", command->name, option.name));
    for (const char* option : {"plan MODEL", "plan LAYOUT", "plan --output", "check --policy", "run FILE", "diff FILE",
                               "export FILE", "export --output", "import FILE", "calibrate --output"})
        CHECK_MESSAGE(std::find(options.begin(), options.end(), option) != options.end(), option);
}

} // namespace shard
