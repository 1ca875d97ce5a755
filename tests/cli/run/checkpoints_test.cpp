// `run --save` and `--restore`: what is saved when, and how a restored run goes on.
#include "cli/command/command.h"
#include "executor/checkpoint/checkpoint_save.h"
#include "executor/formats/npy_read.h"
#include "executor/formats/npy_write.h"
#include "test_paths.h"
#include "tests/support/memory_files.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace shard {
namespace {

namespace fs = std::filesystem;

// loss = mean((x w - t)^2) with w = 1, t = 0 and momentum 0.5: with x = 1 the gradient is 2 w, the trace g + trace / 2.
const std::string model = R"(model: line
axes: {batch: 4, in: 2}
inputs: {x: {axes: [batch, in], init: ones}}
params: {w: {axes: [in], init: ones}}
graph: [{y: {mul: [x, w]}}]
outputs: [y]
train:
  targets: {t: {axes: [batch, in], init: zeros}}
  loss: {mse: [y, t]}
  optimizer: {sgd: {learning_rate: 0.25, momentum: 0.5}}
)";

// Of this process alone: tests run side by side.
const std::string folder = std::string(SHARDC_TEST_DIR) + "/checkpoint_command_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;

template<class F>
CommandResult run_line(F& files, const std::string& line) {
    files.files["model.yaml"] = model;
    files.files["layout.yaml"] = "mesh: {data: 2}\nrules: [{batch: data}, {in: ~}]\n";
    files.files["split.yaml"] = "mesh: {m: 2}\nrules: [{in: m}, {batch: ~}]\n";
    return run_command(files, "run model.yaml " + line);
}

CommandResult run_line(const std::string& line) {
    MemoryFiles files;
    return run_line(files, line);
}

// The lines of steps.
std::string steps_of(const CommandResult& result) {
    std::string steps;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("step ")) steps += line + "\n";
    return steps;
}

std::string uninterrupted() { return steps_of(run_line("layout.yaml --mode train --steps 6")); }

std::string last_lines(const std::string& text, int count) {
    size_t at = text.size() - 1;
    for (; count > 0; --count) at = text.rfind('\n', at - 1);
    return text.substr(at + 1);
}

// Ctrl-C comes while the second step is logged.
struct InterruptingFiles : MemoryFiles {
    bool append(const std::string& path, std::string_view text, std::string& error) override {
        if (text.starts_with("{\"step\": 1")) std::raise(SIGINT);
        return MemoryFiles::append(path, text, error);
    }
};

struct RefusingFiles : MemoryFiles {
    bool append(const std::string&, std::string_view, std::string& error) override {
        error = "no space";
        return false;
    }
};

} // namespace

TEST_CASE("run --save: at the end, and --restore goes on to --steps as if nothing had happened, on another mesh too") {
    fs::remove_all(folder);
    CommandResult result = run_line("layout.yaml --mode train --steps 2 --save " + folder);
    CHECK(result.code == 0);
    CHECK(result.err == "saved step 2 to " + folder + "/step-2\n");
    for (const std::string layout : {"layout.yaml", "split.yaml"}) {
        result = run_line(layout + " --mode train --steps 6 --verify --restore " + folder);
        CHECK(result.code == 0);
        CHECK(result.err == "");
        CHECK(steps_of(result) == last_lines(uninterrupted(), 4));
        CHECK(result.out.find("\nverified against") != std::string::npos);
    }
    // Without --steps, one step.
    CHECK(steps_of(run_line("split.yaml --mode train --restore " + folder)) ==
          last_lines(uninterrupted(), 4).substr(0, last_lines(uninterrupted(), 4).find('\n') + 1));
    const nlohmann::json json =
        nlohmann::json::parse(run_line("layout.yaml --mode train --steps 3 --format json --restore " + folder).out);
    CHECK(json["steps"].size() == 1);
    CHECK(json["steps"][0]["step"] == 2);
    // The same folder, read again by --verify after it was replaced.
    result =
        run_line("split.yaml --mode train --steps 4 --verify --save-every 1 --save " + folder + " --restore " + folder);
    CHECK(result.err == "saved step 3 to " + folder + "/step-3\nsaved step 4 to " + folder + "/step-4\n");
    CHECK(result.out.find("\nverified against") != std::string::npos);
    CHECK(steps_of(run_line("layout.yaml --mode train --steps 6 --restore " + folder)) ==
          last_lines(uninterrupted(), 2));
    CHECK(fs::exists(folder + "/step-4/model-00002-of-00002.safetensors"));
}

TEST_CASE("run --restore: data goes on with the step's element") {
    fs::remove_all(folder);
    const std::string path = std::string(SHARDC_TEST_DIR) + "/checkpoint_x.npy";
    Diagnostics diagnostics;
    REQUIRE(write_npy(path, make_tensor(DType::f32, {4, 4, 2}, [](i64 i) { return static_cast<double>(i / 8); }),
                      diagnostics));
    const std::string line = "layout.yaml --mode train --data x=" + path;
    const std::string whole = steps_of(run_line(line + " --steps 6"));
    run_line(line + " --steps 3 --save " + folder);
    CHECK(steps_of(run_line(line + " --steps 6 --restore " + folder)) == last_lines(whole, 3));
}

TEST_CASE("run --restore: forward takes the parameters, training needs the states too") {
    fs::remove_all(folder);
    run_line("layout.yaml --mode train --steps 2 --save-only params --save " + folder);
    CHECK_FALSE(fs::exists(folder + "/step-2/optimizer.safetensors"));
    CommandResult result = run_line("split.yaml --verify --restore " + folder);
    CHECK(result.err == "");
    CHECK(result.code == 0);
    // w is 1, then 1 - 0.25 * 1 = 0.75 (mse is a mean over 2), then 0.75 - 0.25 (0.75 + 0.5) = 0.4375.
    CHECK(result.out.find("y       f32 (4, 2)  0.4375  0.4375  0.4375") != std::string::npos);
    result = run_line("layout.yaml --mode train --steps 3 --restore " + folder);
    CHECK(result.code == 2);
    CHECK(result.err == "error[E0613]: " + folder +
                            "/step-2 does not hold 'w.momentum'\n"
                            "  = help: it has no optimizer states: --restore-only params begins with new ones\n\n");
    result = run_line("layout.yaml --mode train --steps 1 --restore-only params --restore " + folder);
    CHECK(result.code == 0);
    CHECK(steps_of(result) == "step 0  loss 0.19140625\n"); // 0.4375 squared
    // And what training saved whole serves inference without a word about states.
    fs::remove_all(folder);
    run_line("layout.yaml --mode train --steps 2 --save " + folder);
    CHECK(run_line("layout.yaml --restore " + folder).err == "");
    // A forward run has no states to save, and does not put a checkpoint without them in the place of one with them.
    result = run_line("layout.yaml --restore " + folder + " --save " + folder);
    CHECK(result.code == 2);
    CHECK(result.err ==
          "error[E0701]: a plan that updates nothing has no optimizer states to save\n"
          "  = help: --save-only params saves the parameters alone; --mode train saves what training goes "
          "on from\n\n");
    CHECK(steps_of(run_line("layout.yaml --mode train --steps 6 --restore " + folder)) ==
          last_lines(uninterrupted(), 4));
    // Its parameters are those of the step that was restored.
    result = run_line("layout.yaml --save-only params --restore " + folder + " --save " + folder + "/params");
    CHECK(result.err == "saved step 2 to " + folder + "/params/step-2\n");
    CHECK(run_line("layout.yaml --restore " + folder + "/params").out.find("0.4375") != std::string::npos);
}

TEST_CASE("run --save: Ctrl-C saves the step that ran") {
    fs::remove_all(folder);
    InterruptingFiles files;
    CommandResult result =
        run_line(files, "layout.yaml --mode train --steps 6 --log l --save-every 5 --save " + folder);
    CHECK(result.code == 130);
    CHECK(result.err == "saved step 2 to " + folder + "/step-2\n");
    result = run_line("layout.yaml --mode train --steps 6 --log l --restore " + folder);
    CHECK(steps_of(result) == last_lines(uninterrupted(), 4));
    InterruptingFiles again;
    result = run_line(again, "layout.yaml --mode train --steps 6 --log l");
    CHECK(result.out.find("stopped after 2 of 6 steps") != std::string::npos);
}

TEST_CASE(
    "run --restore: the same line again after its end has nothing left to do, and says so to people and scripts") {
    fs::remove_all(folder);
    const std::string line = "layout.yaml --mode train --steps 2 --log l --save " + folder;
    CHECK(run_line(line).code == 0);
    for (const std::string mesh : {"layout.yaml", "split.yaml"}) {
        MemoryFiles files;
        const std::string again = mesh + " --mode train --steps 2 --log l --save " + folder + " --restore " + folder;
        CommandResult result = run_line(files, again);
        CHECK(result.code == 0);
        CHECK(result.err == "");
        CHECK(result.out == "line, train, run on " + std::string(mesh == "layout.yaml" ? "data" : "m") +
                                " 2 = 2 devices\n\nnothing left to do: " + folder +
                                "/step-2 has made all 2 steps\n"
                                "steps are counted from the first run's beginning: --steps 4 makes 2 more\n");
        CHECK(files.files["l"] == "{\"nothing_left\": true, \"steps_made\": 2}\n");
        result = run_line(files, again + " --format json --verify");
        CHECK(result.code == 0);
        const nlohmann::json json = nlohmann::json::parse(result.out);
        CHECK(json["nothing_left"] == true);
        CHECK(json["steps_made"] == 2);
        CHECK(json["steps"].empty());
        CHECK(json["stopped"] == false);
    }
    CHECK(fs::exists(folder + "/step-2/model.safetensors")); // it was not written again
    const CommandResult more = run_line("layout.yaml --mode train --steps 3 --format json --restore " + folder);
    CHECK(nlohmann::json::parse(more.out)["nothing_left"] == false);
    // A checkpoint that is damaged is not the end of a run.
    fs::resize_file(folder + "/step-2/optimizer.safetensors", 100);
    CHECK(run_line(line + " --restore " + folder).code == 2);
    // A log that cannot be written is an error here as it is in a run.
    fs::remove_all(folder);
    run_line(line);
    RefusingFiles refusing;
    const CommandResult refused = run_line(refusing, "layout.yaml --mode train --steps 2 --log l --restore " + folder);
    CHECK(refused.code == 2);
    CHECK(refused.out == "");
    CHECK(refused.err == "error[E0703]: cannot write 'l': no space\n  = help: name another place, or see to it that "
                         "the folder is there, can be written and has room\n\n");
}

TEST_CASE("run --save and --restore: slips are refused before anything runs") {
    fs::remove_all(folder);
    const auto refused = [](const std::string& options) {
        const CommandResult result = run_line("layout.yaml --mode train " + options);
        CHECK(result.code == 2);
        CHECK(result.out == "");
        return result.err;
    };
    CHECK(refused("--save-every 2") == "error[E0701]: --save-every says more about --save, which is not there\n"
                                       "  = help: add --save DIR, or leave --save-every out\n\n");
    CHECK(refused("--save-every 0 --save " + folder) == "error[E0701]: --save-every takes a whole number from 1 to "
                                                        "2147483647, not '0'\n  = help: `shardc COMMAND --help` lists "
                                                        "options and what they take\n\n");
    CHECK(refused("--restore-only params").starts_with("error[E0701]: --restore-only says more about --restore"));
    CHECK(refused("--save-only all --save " + folder).starts_with("error[E0701]: "));
    CHECK(refused("--restore " + folder) ==
          "error[E0611]: cannot read " + folder +
              ": No such file or directory\n"
              "  = help: name a folder that `run --save` made, or a folder or file of safetensors\n\n");
    CHECK_FALSE(fs::exists(folder));
    run_line("layout.yaml --mode train --steps 5 --save " + folder);
    CHECK(refused("--steps 4 --restore " + folder) ==
          "error[E0701]: --steps 4 ends before the checkpoint, which has made 5\n"
          "  = help: steps are counted from the first run's beginning: --steps 9 makes 4 more\n\n");
    CHECK(refused("--steps 5 --repeat 3 --restore " + folder) ==
          "error[E0701]: --steps 5 leaves no step to warm up with before --repeat\n"
          "  = help: the checkpoint has made 5: --steps 6 makes one more first\n\n");
    // Of two runs, the second one is told so before it begins.
    {
        Diagnostics diagnostics;
        const std::unique_ptr<FolderLock> first = prepare_save(folder, diagnostics);
        CHECK(refused("--steps 7 --log l --save " + folder) ==
              "error[E0614]: another process is saving to '" + folder +
                  "'\n  = help: give each run a folder of its own\n\n");
    }
    // What is restored from a folder of somebody else's files can be saved there.
    fs::remove(folder + "/step-5/model.safetensors.index.json");
    CHECK(run_line("layout.yaml --mode train --restore-only params --restore " + folder + "/step-5 --save " + folder +
                   "/step-5")
              .code == 0);
    fs::remove(folder + "/latest");
    REQUIRE(::mkfifo((folder + "/latest").c_str(), 0666) == 0);
    CHECK(refused("--restore " + folder)
              .starts_with("error[E0612]: " + folder + "/latest is damaged: is not a regular file\n"));
    CHECK(refused("--save " + folder).find("/latest is not a regular file\n") != std::string::npos);
    fs::remove(folder + "/latest");
    fs::create_symlink("/dev/null", folder + "/latest");
    CHECK(refused("--save " + folder).find("/latest is not a regular file\n") != std::string::npos);
    CHECK(fs::exists(folder + "/step-5/model.safetensors"));
    fs::remove(folder + "/latest");
    std::ofstream(folder + "/latest") << "step-5\n";
    REQUIRE(::mkfifo((folder + "/step-5/model.safetensors.index.json").c_str(), 0666) == 0);
    CHECK(refused("--restore " + folder).find("model.safetensors.index.json: is not a regular file\n") !=
          std::string::npos);
    CHECK(refused("--save " + folder + "/latest")
              .starts_with("error[E0614]: cannot save to '" + folder + "/latest': Not a directory\n"));
}

} // namespace shard
