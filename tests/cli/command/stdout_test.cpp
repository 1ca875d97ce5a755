// What does not arrive is said: every command in every format, as its own process, into a full disk, a closed stdout
// and a pipe that nobody reads.
#include "cli/command/command.h"
#include "plans/base/base.h"
#include "test_paths.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <sys/wait.h>
#include <unistd.h>

namespace shard {
namespace {

namespace fs = std::filesystem;

const std::string folder = std::string(SHARDC_TEST_DIR) + "/stdout_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& path, const std::string& text) {
    fs::create_directories(folder);
    std::ofstream(path, std::ios::binary) << text;
}

struct Ended {
    int code = 0;
    std::string err;
};

// `line` is for a shell in the root of the repository; $shardc is the program. Its stderr goes to a file.
Ended in_shell(const std::string& line) {
    fs::create_directories(folder);
    const std::string err = folder + "/err";
    const int status = std::system(
        fmt::format("cd '{}' && shardc='{}' && {{ {}\n}} 2> '{}'", SHARDC_SOURCE_DIR, SHARDC_EXECUTABLE, line, err)
            .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(err)};
}

constexpr std::string_view two = "examples/dot_relu_dot/model.yaml examples/dot_relu_dot/layout.yaml";

// A line that prints something, per command, format and choice; and --help of each.
std::vector<std::string> all_lines() {
    // `check --format github` prints nothing where all is well, and `--format patch` where nothing can be mended.
    write_text(folder + "/warned.yaml", "mesh: {data: 2}\nrules:\n  - {batch: data}\n  - {typo: data}\n");
    write_text(folder + "/wide.yaml", "mesh:  {data: 2}\n");
    write_text(folder + "/base.yml", "mesh_axes: [data]\nici_data_parallelism: -1\nlogical_axis_rules: []\n");
    std::map<std::string_view, std::string> words = {
        // of those that print nothing without
        {"plan", std::string(two)},
        {"check", fmt::format("examples/dot_relu_dot/model.yaml '{}/warned.yaml'", folder)},
        {"run", std::string(two)},
        {"show", std::string(two)},
        {"diff", fmt::format("{} examples/dot_relu_dot/data_only.yaml", two)},
        {"explain", std::string(two)},
        {"export", fmt::format("{} --to specs", two)},
        {"list", "ops"},
        {"init", fmt::format("--force -o '{}/init'", folder)},
        {"fmt", fmt::format("--diff '{}/wide.yaml'", folder)},
        {"import", "tests/importer/program/programs/mlp_loss.mlir"},
        {"schema", "model"},
        {"rules", fmt::format("maxtext '{}/base.yml' --devices 2", folder)},
        {"watch", std::string(two)},
    };
    std::vector<std::string> lines = {"--help", "--version"};
    for (const CommandDef* command : all_commands()) {
        lines.push_back(fmt::format("{} --help", command->name));
        std::vector<std::string> variants = {fmt::format("{} {}", command->name, words[command->name])};
        for (const OptionDef& option : command->options)
            if (option.name == "--format" || option.name == "SHELL") {
                variants.clear();
                for (const std::string_view choice : option.choices)
                    variants.push_back(
                        fmt::format("{} {} {}", command->name, words[command->name],
                                    option.name == "SHELL" ? std::string(choice) : fmt::format("--format {}", choice)));
            }
        lines.insert(lines.end(), variants.begin(), variants.end());
    }
    lines.push_back(fmt::format("explain {} --lowered", two));
    return lines;
}

// A step takes little, and there are many: only a run that notices ends in time.
const std::string endless = R"(model: line
axes: {batch: 4, in: 1}
inputs: {x: {axes: [batch, in], init: ones}}
params: {w: {axes: [in], init: ones}}
graph: [{y: {mul: [x, w]}}]
outputs: [y]
train:
  targets: {t: {axes: [batch, in], init: zeros}}
  loss: {mse: [y, t]}
  optimizer: {sgd: {learning_rate: 0.25}}
)";

std::string train_line(const std::string& more) {
    write_text(folder + "/model.yaml", endless);
    write_text(folder + "/layout.yaml", "mesh: {data: 2}\nrules: [{batch: data}, {in: ~}]\n");
    return fmt::format("$shardc run '{0}/model.yaml' '{0}/layout.yaml' --mode train --steps 1000000 {1}", folder, more);
}

i64 count_lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

} // namespace

TEST_CASE("every command in every format says that stdout cannot be written, and exits with 2") {
    for (const std::string& line : all_lines()) {
        CAPTURE(line);
        const Ended full = in_shell(fmt::format("$shardc {} > /dev/full", line));
        CHECK(full.code == 2);
        CHECK(full.err == "error[E0708]: cannot write to stdout: No space left on device\n"
                          "  = help: what was printed is not whole; files that the command wrote are\n\n");
        const Ended closed = in_shell(fmt::format("$shardc {} >&-", line));
        CHECK(closed.code == 2);
        CHECK(closed.err.starts_with("error[E0708]: cannot write to stdout: Bad file descriptor\n"));
    }
}

TEST_CASE("every command in every format ends quietly where nobody reads on") {
    for (const std::string& line : all_lines()) {
        CAPTURE(line);
        const std::string code = folder + "/code", gone = folder + "/gone";
        const Ended ended = in_shell(fmt::format("rm -f '{1}'; {{ until [ -e '{1}' ]; do sleep 0.005; done; "
                                                 "$shardc {0}; echo $? > '{2}'; }} | {{ exec <&-; : > '{1}'; }}",
                                                 line, gone, code));
        CHECK(ended.err == "");
        CHECK(text_of(code) == "141\n");
    }
}

TEST_CASE("a limit of the file's size is an error of writing, not the end by a signal") {
    const Ended ended =
        in_shell(fmt::format("( ulimit -f 1; $shardc list codes --format json > '{}/out' 2> /dev/null )", folder));
    CHECK(ended.code == 2);
}

TEST_CASE("a closed stdout is no error where nothing goes there, and takes no file's place") {
    const std::string plan = folder + "/plan.json", report = folder + "/report.txt";
    const Ended ended = in_shell(fmt::format("$shardc plan {} -o '{}' --output '{}' >&-", two, plan, report));
    CHECK(ended.code == 0);
    CHECK(ended.err == "");
    CHECK(nlohmann::json::parse(text_of(plan))["model"] == "dot_relu_dot");
    CHECK(text_of(report).starts_with("dot_relu_dot, forward, on data 2 x model 4"));
    // Whatever becomes of the payload, the file is whole.
    const Ended full = in_shell(fmt::format("$shardc plan {} -o '{}/other.json' > /dev/full", two, folder));
    CHECK(full.code == 2);
    CHECK(text_of(folder + "/other.json") == text_of(plan));
}

TEST_CASE("a training run ends after the step at which stdout is gone, with its log and its checkpoint") {
    const std::string log = folder + "/log", saved = folder + "/saved";
    const auto check_kept = [&] {
        CHECK(count_lines(text_of(log)) == 1);
        CHECK(nlohmann::json::parse(text_of(log))["step"] == 0);
        CHECK(fs::exists(saved + "/latest"));
        fs::remove_all(saved);
        fs::remove(log);
    };
    const std::string line = train_line(fmt::format("--log '{}' --save '{}'", log, saved));
    const Ended full = in_shell(line + " > /dev/full");
    CHECK(full.code == 2);
    CHECK(full.err.find("error[E0708]: cannot write to stdout: No space left on device\n") != std::string::npos);
    check_kept();
    const Ended closed = in_shell(line + " >&-");
    CHECK(closed.code == 2);
    check_kept(); // the log above all: its file must not be stdout
    const Ended pipe = in_shell(fmt::format("{{ sleep 0.05; {}; echo $? > '{}/code'; }} | exec true", line, folder));
    CHECK(text_of(folder + "/code") == "141\n");
    CHECK(pipe.err.find("error") == std::string::npos);
    check_kept();
}

TEST_CASE("what the shell sends stdin, stdout and stderr to is known as what options name") {
    write_text(folder + "/m.yaml", text_of(std::string(SHARDC_SOURCE_DIR) + "/examples/dot_relu_dot/model.yaml"));
    write_text(folder + "/l.yaml", text_of(std::string(SHARDC_SOURCE_DIR) + "/examples/dot_relu_dot/layout.yaml"));
    REQUIRE(in_shell(fmt::format("cd '{}'; $shardc plan m.yaml l.yaml -o p.json > report", folder)).code == 0);
    const auto texts = [] {
        std::map<std::string, std::string> found;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder))
            if (entry.is_regular_file() && entry.path().filename() != "err" && entry.path().filename() != "out")
                found[entry.path().filename().string()] = text_of(entry.path().string());
        return found;
    };
    const std::map<std::string, std::string> before = texts();
    for (const auto& [line, message] : std::vector<std::pair<std::string, std::string>>{
             {"plan m.yaml l.yaml -o out > out", "--plan would write over 'out', which stdout writes too"},
             {"plan m.yaml l.yaml >> m.yaml", "stdout would write over 'm.yaml', which MODEL reads"},
             {"show p.json >> p.json", "stdout is a file that was read as an input, and would be written over"},
             {"run p.json >> p.json", "stdout would write over 'p.json', which FILE reads"},
             {"show - --output p.json < p.json", "'p.json' was read as an input, and would be written over"},
             {"show /dev/stdin --output p.json < p.json", "'p.json' was read as an input, and would be written over"},
             {"plan - l.yaml -o m.yaml < m.yaml", "--plan would write over 'm.yaml', which MODEL reads"},
             {"plan /dev/stdin l.yaml -o m.yaml < m.yaml", "--plan would write over 'm.yaml', which MODEL reads"},
             {"plan /dev/fd/7 l.yaml -o m.yaml 7< m.yaml", "--plan would write over 'm.yaml', which MODEL reads"},
             {"plan m.yaml l.yaml -o /dev/fd/7 7>> m.yaml",
              "--plan would write over '/dev/fd/7', which MODEL reads"}}) {
        const std::string typed = line; // clang 14 has no captures of bindings
        CAPTURE(typed);
        const Ended ended = in_shell(fmt::format("cd '{}'; $shardc {}", folder, line));
        CHECK(ended.code == 2);
        CHECK(ended.err.starts_with("error[E0707]: " + message + "\n"));
        CHECK(texts() == before);
    }
    // stderr too; and streams of one file do not write over each other.
    CHECK(in_shell(fmt::format("cd '{}'; $shardc plan m.yaml l.yaml -o out 2> out", folder)).code == 2);
    CHECK(in_shell(fmt::format("cd '{}'; $shardc plan m.yaml l.yaml > out 2>&1", folder)).code == 0);
    CHECK(in_shell(fmt::format("cd '{}'; $shardc plan m.yaml l.yaml -o /dev/stdout > out", folder)).code == 0);
    CHECK(texts() == before);
}

TEST_CASE("stdin that cannot be read is said, and is not taken for an empty file") {
    const std::string line = "$shardc plan - examples/dot_relu_dot/layout.yaml";
    const Ended closed = in_shell(line + " <&-");
    CHECK(closed.code == 2);
    CHECK(closed.err == "error[E0702]: cannot read stdin: Bad file descriptor\n"
                        "  = help: pipe a file in, or name one instead of -\n\n");
    const Ended directory = in_shell(line + " < examples");
    CHECK(directory.code == 2);
    CHECK(directory.err.starts_with("error[E0702]: cannot read stdin: Is a directory\n"));
}

} // namespace shard
