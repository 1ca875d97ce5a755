// The files that commands write: what can be known to fail is said before anything runs, and nothing is lost by a slip.
#include "cli/command/arguments.h"
#include "cli/command/command.h"
#include "executor/formats/npy_read.h"
#include "executor/formats/npy_write.h"
#include "plans/diagnostics/usual_help.h"
#include "test_paths.h"
#include "tests/executor/plan_builder.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace shard {
namespace {

namespace fs = std::filesystem;

// Of this process alone: tests run side by side.
const std::string folder = std::string(SHARDC_TEST_DIR) + "/outputs_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

// As main() runs it, on the disk; '@' stands for the test's folder.
CommandResult run_on_disk(std::string line) {
    for (size_t at = 0; (at = line.find('@')) != std::string::npos;) line.replace(at, 1, folder);
    std::istringstream in;
    std::ostringstream out, err;
    DiskFiles files;
    Env env{in, out, err, files, false, false, 120};
    CommandResult result;
    result.code = run_cli(split_words(line), env);
    result.out = out.str();
    result.err = err.str();
    for (size_t at = 0; (at = result.err.find(folder)) != std::string::npos;)
        result.err.replace(at, folder.size(), "@");
    return result;
}

std::map<std::string, std::string> all_texts() {
    std::map<std::string, std::string> texts;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        texts[entry.path().string()] = entry.is_regular_file() ? text_of(entry.path().string()) : "";
    return texts;
}

void make_files() {
    fs::remove_all(folder);
    fs::create_directories(folder + "/there/deep");
    std::ofstream(folder + "/model.yaml") << "model: line\naxes: {batch: 4, in: 2}\n"
                                             "inputs: {x: {axes: [batch, in], init: ones}}\n"
                                             "params: {w: {axes: [in], init: ones}}\n"
                                             "graph: [{y: {mul: [x, w]}}]\noutputs: [y]\ntrain:\n"
                                             "  targets: {t: {axes: [batch, in], init: zeros}}\n"
                                             "  loss: {mse: [y, t]}\n  optimizer: {sgd: {learning_rate: 0.25}}\n";
    std::ofstream(folder + "/layout.yaml") << "mesh: {data: 2}\nrules: [{batch: data}, {in: ~}]\n";
    Diagnostics diagnostics;
    REQUIRE(write_npy(folder + "/x.npy", make_tensor(DType::f32, {4, 2}, [](i64) { return 1.0; }), diagnostics));
    fs::create_symlink("layout.yaml", folder + "/link.yaml");
    fs::create_directory_symlink(".", folder + "/here");
    std::ofstream(folder + "/read_only") << "kept";
    ::chmod((folder + "/read_only").c_str(), 0444);
}

} // namespace

TEST_CASE("an output that is an input or another output, by whatever path, is refused before anything runs") {
    make_files();
    REQUIRE(run_on_disk("plan @/model.yaml @/layout.yaml -o @/plan.json --output @/report").code == 0);
    REQUIRE(run_on_disk("run @/plan.json --save-only params --save @/ck").code == 0);
    REQUIRE(run_on_disk("run @/plan.json --output @/out").code == 0);
    const std::map<std::string, std::string> before = all_texts();
    const std::string plan = "plan @/model.yaml @/layout.yaml ", run = "run @/model.yaml @/layout.yaml ";
    const std::vector<std::pair<std::string, std::string>> slips = {
        {plan + "-o @/layout.yaml", "--plan would write over '@/layout.yaml', which LAYOUT reads"},
        {plan + "-o @/link.yaml", "--plan would write over '@/link.yaml', which LAYOUT reads"},
        {plan + "--output @/there/../here/model.yaml",
         "--output would write over '@/there/../here/model.yaml', which MODEL reads"},
        {plan + "-o @/new --output @/here/new", "--output would write over '@/here/new', which --plan writes too"},
        {"check @/model.yaml @/layout.yaml --output @/link.yaml",
         "--output would write over '@/link.yaml', which LAYOUT reads"},
        {"run @/plan.json --log @/plan.json --mode train", "--log would write over '@/plan.json', which FILE reads"},
        {run + "--input x=@/x.npy --output y=@/here/x.npy",
         "--output would write over '@/here/x.npy', which --input reads"},
        {run + "--mode train --log @/l --output y=@/l", "--output would write over '@/l', which --log writes too"},
        {run + "--input x=@/out/y.npy --output @/here/out",
         "--output would write over '@/here/out/y.npy', which --input reads"},
        {run + "--mode train --save @/ck --log @/ck/latest",
         "--save would write over '@/ck/latest', which --log writes too"},
    };
    for (const auto& [line, message] : slips) {
        const CommandResult result = run_on_disk(line);
        CHECK(result.code == 2);
        CHECK(result.out == "");
        CHECK(result.err == "error[E0707]: " + message + "\n  = help: give each output a file of its own\n\n");
    }
    // Of commands whose words need not be files, and of files that others name.
    CommandResult result = run_on_disk("show @/plan.json --output @/plan.json");
    CHECK(result.code == 2);
    CHECK(result.err.starts_with("error[E0703]: cannot write '@/plan.json': it is a file that was read for this\n"));
    CHECK(all_texts() == before);
    // What is no file may be named twice.
    if (::mknod((folder + "/null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0)
        CHECK(run_on_disk(plan + "-o @/null --output @/null").code == 0);
    REQUIRE(::mkfifo((folder + "/pipe").c_str(), 0666) == 0);
    const int reader = ::open((folder + "/pipe").c_str(), O_RDONLY | O_NONBLOCK);
    CHECK(run_on_disk(plan + "-o @/pipe --output @/pipe").code == 0);
    ::close(reader);
}

TEST_CASE("an output that cannot be written is found before a run") {
    make_files();
    const std::map<std::string, std::string> before = all_texts();
    const std::string train = "run @/model.yaml @/layout.yaml --mode train --steps 2 ",
                      plan = "plan @/model.yaml @/layout.yaml ";
    const std::vector<std::pair<std::string, std::string>> slips = {
        {train + "--log @/nowhere/l", "cannot write '@/nowhere/l': No such file or directory"},
        {train + "--log @/there", "cannot write '@/there': Is a directory"},
        {train + "--log @/read_only", "cannot write '@/read_only': it is read-only"},
        {train + "--output y=@/nowhere/y.npy", "cannot write '@/nowhere/y.npy': No such file or directory"},
        {train + "--output y=@/model.yaml/y.npy", "cannot write '@/model.yaml/y.npy': Not a directory"},
        {train + "--output @/read_only", "cannot write '@/read_only': Not a directory"},
        {train + "--output @/read_only/deeper", "cannot write '@/read_only/deeper': Not a directory"},
        {plan + "-o @/nowhere/plan.json", "cannot write '@/nowhere/plan.json': No such file or directory"},
        {plan + "--output @/read_only", "cannot write '@/read_only': it is read-only"},
        {"calibrate -o @/nowhere/c.yaml", "cannot write '@/nowhere/c.yaml': No such file or directory"},
    };
    for (const auto& [line, message] : slips) {
        const CommandResult result = run_on_disk(line);
        CHECK(result.code == 2);
        CHECK(result.out == "");
        CHECK(result.err == "error[E0703]: " + message + "\n  = help: " + std::string(usual_help("E0703")) + "\n\n");
    }
    CHECK(all_texts() == before);
    // Folders are made, also those that they lie in.
    const CommandResult result = run_on_disk("run @/model.yaml @/layout.yaml --output @/a/b/c");
    CHECK(result.code == 0);
    CHECK(fs::exists(folder + "/a/b/c/y.npy"));
}

TEST_CASE("a log and an output go to pipes and devices as they come") {
    make_files();
    CommandResult result = run_on_disk("run @/model.yaml @/layout.yaml --mode train --steps 2 --log /dev/full");
    CHECK(result.code == 2);
    CHECK(result.err.starts_with("error[E0703]: cannot write '/dev/full': No space left on device\n"));
    REQUIRE(::mkfifo((folder + "/pipe").c_str(), 0666) == 0);
    const int reader = ::open((folder + "/pipe").c_str(), O_RDONLY | O_NONBLOCK);
    result = run_on_disk("run @/model.yaml @/layout.yaml --mode train --steps 3 --log @/pipe");
    CHECK(result.code == 0);
    char text[4096] = {};
    CHECK(::read(reader, text, sizeof text) > 0);
    const std::string lines(text);
    CHECK(std::count(lines.begin(), lines.end(), '\n') == 3);
    ::close(reader);
}

} // namespace shard
