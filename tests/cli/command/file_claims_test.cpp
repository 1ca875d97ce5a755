// The files that commands write: what can be known to fail is said before anything runs, and nothing is lost by a slip.
#include "cli/command/arguments.h"
#include "cli/command/command.h"
#include "executor/formats/npy_write.h"
#include "plans/diagnostics/usual_help.h"
#include "plans/disk/file.h"
#include "plans/disk/output_path.h"
#include "plans/disk/read_inputs.h"
#include "test_paths.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_files.h"
#include "tests/support/natural_npy.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>

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
    std::ofstream(folder + "/model.yaml")
        << "model: line\naxes: {batch: 4, in: 2}\n"
           "inputs: {x: {axes: [batch, in], init: ones}}\n"
           "params: {w: {axes: [in], init: ones}}\n"
           "graph: [{y: {mul: [x, w]}}]\noutputs: [y]\ntrain:\n"
           "  targets: {t: {axes: [batch, in], init: zeros}}\n"
           "  loss: {mse: [y, t]}\n  optimizer: {sgd: {learning_rate: 0.25, momentum: 0.5}}\n";
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
        {run + "--output y=@/y.npy --output y=@/here/y.npy", "--output names '@/here/y.npy' twice"},
    };
    for (const auto& [line, message] : slips) {
        const CommandResult result = run_on_disk(line);
        CHECK(result.code == 2);
        CHECK(result.out == "");
        CHECK(result.err == "error[E0707]: " + message + "\n  = help: give each output a file of its own\n\n");
    }
    // What lies in a checkpoint goes with it.
    for (const auto& [option, path] :
         {std::pair("--log", "@/ck/step-0/log.jsonl"), std::pair("--log", "@/here/ck/step-0/log.jsonl"),
          std::pair("--log", "@/ck/step-0/model.safetensors"), std::pair("--trace", "@/there/../ck/step-0/t.json"),
          std::pair("--output", "@/ck/step-0"), std::pair("--output", "@/ck/step-7"),
          std::pair("--output", "@/ck/step-0/deeper")}) {
        for (const std::string save : {"@/ck", "@/ck/", "@/here/ck"}) {
            const CommandResult result = run_on_disk(run + "--mode train --save " + save + " " + option + " " + path);
            CHECK(result.code == 2);
            CHECK(result.out == "");
            CHECK(result.err.starts_with(fmt::format("error[E0707]: {} would write '{}' into step-", option, path)));
        }
    }
    CHECK(run_on_disk(run + "--mode train --save @/ck --output w=@/ck/step-0/w.npy").code == 2);
    // Of commands whose words need not be files, and of files that others name.
    CommandResult result = run_on_disk("show @/plan.json --output @/plan.json");
    CHECK(result.code == 2);
    CHECK(result.err.starts_with("error[E0707]: '@/plan.json' was read as an input, and would be written over\n"));
    CHECK(all_texts() == before);
    // What is no file may be named twice.
    if (::mknod((folder + "/null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0)
        CHECK(run_on_disk(plan + "-o @/null --output @/null").code == 0);
    REQUIRE(::mkfifo((folder + "/pipe").c_str(), 0666) == 0);
    const int reader = ::open((folder + "/pipe").c_str(), O_RDONLY | O_NONBLOCK);
    CHECK(run_on_disk(plan + "-o @/pipe --output @/pipe").code == 0);
    ::close(reader);
    // What was read from a pipe is not written over: nobody may be there to read it.
    std::string problem;
    CHECK(check_output(folder + "/pipe", OutputUse::replace, problem));
    CHECK_FALSE(check_output(folder + "/pipe", OutputUse::renew, problem));
    CHECK(problem.starts_with("it is a pipe"));
}

TEST_CASE("what is read though no option names it is not written over: a hardware profile, a checkpoint") {
    make_files();
    std::ofstream(folder + "/hw.yaml") << "hardware: lab\nlinks: {wire: {topology: switched, bandwidth: 1.0e9}}\n";
    std::ofstream(folder + "/layout.yaml") << "mesh: {data: 2}\nrules: [{batch: data}, {in: ~}]\nhardware: hw.yaml\n";
    REQUIRE(run_on_disk("run @/model.yaml @/layout.yaml --mode train --steps 2 --save @/ck").code == 0);
    REQUIRE(run_on_disk("plan @/model.yaml @/layout.yaml -o @/plan.json").code == 0);
    const std::map<std::string, std::string> before = all_texts();
    const std::string both = " @/model.yaml @/layout.yaml ", run = "run" + both,
                      restored = run + "--mode train --steps 3 --restore @/ck ";
    const std::vector<std::pair<std::string, std::string>> slips = {
        {"plan" + both + "-o @/hw.yaml", "'@/hw.yaml' was read as an input, and would be written over"},
        {"plan" + both + "--output @/here/hw.yaml", "'@/here/hw.yaml' was read as an input, and would be written over"},
        {"check" + both + "--output @/hw.yaml", "'@/hw.yaml' was read as an input, and would be written over"},
        {"show" + both + "--output @/hw.yaml", "'@/hw.yaml' was read as an input, and would be written over"},
        {run + "--output y=@/hw.yaml", "--output would write over '@/hw.yaml', which was read as an input"},
        {run + "--mode train --log @/here/hw.yaml",
         "--log would write over '@/here/hw.yaml', which was read as an input"},
        {restored + "--log @/ck/latest", "--log would write over '@/ck/latest', which was read as an input"},
        {restored + "--output loss=@/ck/step-2/model.safetensors",
         "--output would write over '@/ck/step-2/model.safetensors', which was read as an input"},
        {restored + "--output loss=@/ck/step-2/model.safetensors.index.json",
         "--output would write over '@/ck/step-2/model.safetensors.index.json', which was read as an input"},
        // Not one that is read, but what is left would be no checkpoint.
        {restored + "--restore-only params --output loss=@/ck/step-2/optimizer.safetensors",
         "--output would write over '@/ck/step-2/optimizer.safetensors', which was read as an input"},
        {run + "--restore @/ck/step-2/model.safetensors --output y=@/ck/step-2/model.safetensors",
         "--output would write over '@/ck/step-2/model.safetensors', which was read as an input"},
    };
    for (const auto& [line, message] : slips) {
        const std::string slip = line; // clang 14 has no captures of bindings
        CAPTURE(slip);
        const CommandResult result = run_on_disk(line);
        CHECK(result.code == 2);
        CHECK(result.out == "");
        CHECK(result.err.starts_with("error[E0707]: " + message + "\n"));
    }
    CHECK(all_texts() == before);
    // The writers know it themselves.
    const ReadInputs inputs;
    std::string problem;
    REQUIRE(read_file(folder + "/hw.yaml", problem));
    CHECK_FALSE(write_file_atomically(folder + "/here/hw.yaml", "", problem));
    CHECK(problem == "it was read as an input");
    CHECK_FALSE(LogFile::open(folder + "/hw.yaml", problem));
    Diagnostics diagnostics;
    REQUIRE(read_npy(folder + "/x.npy", diagnostics));
    CHECK_FALSE(write_npy(folder + "/x.npy", make_tensor(DType::f32, {1}, [](i64) { return 0.0; }), diagnostics));
    CHECK(all_texts() == before);
    // A run saves where it restored from.
    CHECK(run_on_disk(restored + "--save @/ck").code == 0);
    CHECK(text_of(folder + "/ck/latest") == "step-3\n");
}

TEST_CASE("an empty name of a folder is not left aside") {
    make_files();
    const std::string run = "run @/model.yaml @/layout.yaml --mode train ";
    CHECK(
        run_on_disk(run + "--save ''").err.starts_with("error[E0614]: cannot save to '': No such file or directory\n"));
    CHECK(run_on_disk(run + "--restore ''").err.starts_with("error[E0611]: "));
    CHECK(run_on_disk(run + "--save ''").code == 2);
    CHECK(run_on_disk(run + "--restore ''").code == 2);
}

TEST_CASE("- is stdin, or stdout in the place of a payload, and nowhere a file of that name") {
    make_files();
    const std::string both = " @/model.yaml @/layout.yaml ", run = "run" + both, train = run + "--mode train ";
    for (const auto& [line, option] :
         std::vector<std::pair<std::string, std::string>>{{"plan" + both + "-o -", "--plan"},
                                                          {run + "--output y=-", "--output"},
                                                          {run + "--output -", "--output"},
                                                          {run + "--input x=-", "--input"},
                                                          {train + "--data x=-", "--data"},
                                                          {train + "--log -", "--log"},
                                                          {train + "--save -", "--save"},
                                                          {train + "--restore -", "--restore"}}) {
        const CommandResult result = run_on_disk(line);
        CHECK(result.code == 2);
        CHECK(result.err == "error[E0701]: " + option +
                                " does not go with stdin or stdout, which - means\n  = help: ./- is a file of that "
                                "name\n\n");
    }
    CHECK_FALSE(fs::exists("-"));
    CHECK(run_on_disk("plan" + both + "--output -").out == run_on_disk("plan" + both).out);
}

TEST_CASE(
    "a file of an input that is rounded is said, as of checkpoints, and one that does not fit comes with a hint") {
    make_files();
    std::ofstream(folder + "/model.yaml") << "model: half\ninputs: {x: {shape: [4, 2], dtype: bf16}}\n"
                                             "graph: [{y: {neg: x}}]\noutputs: [y]\n";
    std::ofstream(folder + "/layout.yaml") << "mesh: {data: 2}\n";
    const std::string run = "run @/model.yaml @/layout.yaml --input x=";
    const CommandResult rounded = run_on_disk(run + "@/x.npy");
    CHECK(rounded.code == 0);
    CHECK(rounded.err.starts_with("warning[W0602]: @/x.npy: f32 there, rounded to bf16 here\n"));
    Diagnostics diagnostics;
    REQUIRE(write_npy(folder + "/y.npy", make_tensor(DType::f32, {2, 4}, [](i64) { return 1.0; }), diagnostics));
    const CommandResult misfit = run_on_disk(run + "@/y.npy");
    CHECK(misfit.code == 2);
    CHECK(misfit.err.find("= help: " + std::string(usual_help("E0602")) + "\n") != std::string::npos);
}

TEST_CASE("a line of a log begins a line, also after one that has no end") {
    make_files();
    for (const std::string before : {"", "{\"step\": 0}\n", "{\"step\": 0}", "cut"}) {
        std::ofstream(folder + "/log") << before;
        REQUIRE(run_on_disk("run @/model.yaml @/layout.yaml --mode train --log @/log").code == 0);
        const std::string end = before.empty() || before.ends_with('\n') ? "" : "\n";
        CHECK(text_of(folder + "/log").starts_with(before + end + "{\"step\": 0, "));
    }
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

TEST_CASE(
    "a disk without room for the outputs or the checkpoint is known before the run, and one that fills up after") {
    make_files();
    const std::string found = in_child([] {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("shardc_test", (folder + "/there").c_str(), "tmpfs", 0, "size=8k") != 0)
            return std::string("cannot mount");
        std::string said;
        const auto run = [&said](const std::string& options) {
            const CommandResult result = run_on_disk("run @/model.yaml @/layout.yaml --mode train --quiet " + options);
            const size_t error = result.err.find("error");
            said += fmt::format("{} {} {}", result.code, result.out.empty() ? "before" : "after",
                                result.err.substr(error, result.err.find('\n', error) - error + 1));
        };
        std::ofstream(folder + "/there/full") << std::string(8192, 'x');
        run("--output @/there/new");
        run("--output w=@/there/w.npy");
        run("--save @/there");
        run("--log @/there/log");
        std::ofstream(folder + "/there/full") << std::string(4096, 'x');
        run("--output @/there/new"); // three files of one page each, 132 bytes and more: not sure before
        return said;
    });
    if (found == "cannot mount")
        MESSAGE("no disk of our own");
    else
        CHECK(found ==
              "2 before error[E0607]: cannot write @/there/new/loss.npy: No space left on device: it will have "
              "132 B, and 0 B are free\n"
              "2 before error[E0607]: cannot write @/there/w.npy: No space left on device: it will have 136 B, "
              "and 0 B are free\n"
              "2 before error[E0614]: cannot save to '@/there': model.safetensors: No space left on device: it "
              "will have 8 B, and 0 B are free\n"
              "2 before error[E0703]: cannot write '@/there/log': No space left on device: it will have 1 B, "
              "and 0 B are free\n"
              "2 after error[E0607]: cannot write @/there/new/w.npy: No space left on device\n");
}

} // namespace shard
