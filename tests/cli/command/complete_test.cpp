#include "cli/command/complete.h"

#include "cli/report/registries.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include "test_paths.h"

namespace shard {
namespace {

// The words that may come, and ":files".
std::vector<std::string> words(const std::string& line) {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    const CommandResult result = run_command(files, "shardc completion words -- " + line);
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    std::vector<std::string> found;
    for (size_t at = 0; at < result.out.size();) {
        const size_t end = result.out.find('\n', at);
        const std::string each = result.out.substr(at, end - at);
        found.push_back(each.substr(0, each.find(' ')));
        at = end + 1;
    }
    return found;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

using Words = std::vector<std::string>;
const std::string example = "examples/dot_relu_dot/model.yaml examples/dot_relu_dot/layout.yaml";

} // namespace

TEST_CASE("completion knows every command and option") {
    const Words commands = words("\"\"");
    for (const CommandDef* command : all_commands()) {
        const std::string name(command->name);
        CHECK(has(commands, name));
        const Words options = words(name + " --");
        for (const OptionDef& option : command->options)
            if (option.name.starts_with("--")) CHECK_MESSAGE(has(options, std::string(option.name)), name);
    }
    CHECK(words("pl") == Words{"plan"});
    CHECK(words("help expl") == Words{"explain"});
    CHECK(words("plan --fo") == Words{"--format"});
    CHECK(words("nothing \"\"").empty());
}

TEST_CASE("completion knows choices, and what takes a file") {
    CHECK(words("check m l --format j") == Words{"json", "junit"});
    CHECK(words("check m l --format=j") == Words{"--format=json", "--format=junit"});
    CHECK(words("check m l --format sarif=o") == Words{":files"});
    CHECK(words("plan m l -o \"\"") == Words{":files"});
    CHECK(words("plan exa") == Words{":files"});
    CHECK(words("run --workers \"\"").empty());
    CHECK(words("export p.json --to ch") == Words{"chakra"});
}

TEST_CASE("completion knows what registries and schemas have") {
    for (const Registry& registry : all_registries()) CHECK(has(words("list \"\""), std::string(registry.name)));
    CHECK(words("list ops einsu") == Words{"einsum"});
    CHECK(words("list nothing \"\"").empty());
    CHECK(words("schema layo") == Words{"layout"});
    CHECK(words("man calib") == Words{"calibrate"});
    CHECK(words("init --hardware tpu-v5") == Words{"tpu-v5e", "tpu-v5p"});
    CHECK(words("explain E0313") == Words{"E0313", ":files"});
    CHECK(has(words("explain microb"), "microbatches"));
    CHECK(words("explain \"\"") == Words{":files"}); // of all of them the names of files would not be found
    CHECK(words("explain m l --after propag") == Words{"propagate"});
}

TEST_CASE("completion knows the names of the files that were typed") {
    CHECK(words("explain " + example + " w") == Words{"w1", "w2"});
    CHECK(words("show " + example + " --mode forward w1 w") == Words{"w1", "w2"});
    CHECK(words("run " + example + " --print \"\"") == Words{"z"});
    CHECK(words("run " + example + " --input x") == Words{"x="});
    CHECK(words("run " + example + " --input x=x") == Words{":files"});
    CHECK(words("plan " + example + " --set ba") == Words{"batch="});
    CHECK(words("plan " + example + " --fit ba") == Words{"batch"});
    CHECK(words("explain nowhere.yaml nothing.yaml w").empty());
    CHECK(words("explain - " + example + " w").empty()); // nobody types a model meanwhile
}

TEST_CASE("completion waits for no writer of a file") {
    const std::string pipe = std::string(SHARDC_TEST_DIR) + "/complete_pipe";
    std::filesystem::remove(pipe);
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(words("explain " + pipe + " \"\"") == words("explain - \"\""));
    CHECK(words("plan " + pipe + " layout.yaml --set \"\"") == words("plan - layout.yaml --set \"\""));
    std::filesystem::remove(pipe);
}

TEST_CASE("of very many names the next part is completed") {
    MemoryFiles files;
    files.files["m.yaml"] =
        "model: deep\naxes: {batch: 8, embed: 8, out: 8}\ninputs: {x: {axes: [batch, embed]}}\nmodules:\n"
        "  block:\n    inputs: [x]\n    params: {w: {axes: [embed, out]}}\n    graph:\n"
        "      - y: {dot: [x, w]}\n    outputs: [y]\n"
        "graph:\n  - y: {repeat: block, times: 200, in: x}\noutputs: [y]\n";
    files.files["l.yaml"] = "mesh: {data: 2}\nrules: [{batch: data}]\n";
    const std::string line = "shardc completion words -- show m.yaml l.yaml ";
    CHECK(run_command(files, line + "b").out == "block.\n");
    CHECK(run_command(files, line + "block.1").out.find("\nblock.191.\n") != std::string::npos);
}

TEST_CASE("bash completes by asking") {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    const std::string path = std::string(SHARDC_TEST_DIR) + "/completion.bash";
    std::ofstream(path) << run_command(files, "shardc completion bash").out
                        << "cd " SHARDC_SOURCE_DIR "\n"
                           "t() { COMP_WORDS=(" SHARDC_EXECUTABLE " \"$@\"); COMP_CWORD=$#; _shardc; "
                           "echo \"${COMPREPLY[*]}\"; }\n"
                           "t pl; t plan --fo; t check m l --format j; t check m l --format = j\n"
                           "t check m l --format sarif = CHANGE; t explain "
                        << example << " w; t run " << example << " --input x; t READ; t plan CHANGEL\n";
    FILE* pipe = popen(("bash " + path).c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string printed;
    for (int c; (c = std::fgetc(pipe)) != EOF;) printed += static_cast<char>(c);
    CHECK(pclose(pipe) == 0);
    CHECK(printed == "plan\n--format\njson junit\njson junit\nCHANGELOG.md\nw1 w2\nx=\n\nCHANGELOG.md\n");
}

} // namespace shard
