// Runs that are killed: the checkpoint on disk is whole whenever that happens, and training goes on from it on any
// mesh.
#include "cli/command/command.h"
#include "executor/checkpoint/checkpoint.h"
#include "test_paths.h"
#include "tests/support/memory_files.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include <unistd.h>

namespace shard {
namespace {

namespace fs = std::filesystem;

// Of this process alone: tests run side by side.
const std::string folder = std::string(SHARDC_TEST_DIR) + "/checkpoint_killed_" + std::to_string(::getpid());
const struct Sweep {
    ~Sweep() { fs::remove_all(folder); }
} sweep;
const std::string saved = folder + "/ck", log_file = folder + "/log";

// `shardc` as its own process, to be killed.
class Child {
public:
    explicit Child(const std::string& line) {
        std::vector<std::string> words = split_words(line);
        words.insert(words.begin(), SHARDC_EXECUTABLE);
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        for (const int descriptor : {1, 2})
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0);
        REQUIRE(posix_spawn(&id_, SHARDC_EXECUTABLE, &actions, nullptr, pointers.data(), environ) == 0);
        posix_spawn_file_actions_destroy(&actions);
    }
    bool ended() {
        if (id_ > 0 && waitpid(id_, nullptr, WNOHANG) != 0) id_ = 0;
        return id_ == 0;
    }
    void end() {
        if (ended()) return;
        kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
        id_ = 0;
    }

private:
    pid_t id_ = 0;
};

// The step that `latest` names; -1 if there is none.
int latest_step() {
    std::ifstream file(saved + "/latest");
    std::string name;
    file >> name;
    return name.starts_with("step-") ? std::stoi(name.substr(5)) : -1;
}

// Losses by step; of a step that was made again, the last one.
std::map<int, double> logged_losses(const std::string& text) {
    std::map<int, double> losses;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
        if (entry.is_object()) losses[entry["step"]] = entry["loss"]; // a killed process may leave a part of a line
    }
    return losses;
}

std::map<int, double> losses_of(const std::string& line) {
    MemoryFiles files(SHARDC_SOURCE_DIR);
    const CommandResult result = run_command(files, line + " --log log");
    INFO(result.err);
    CHECK(result.code == 0);
    return logged_losses(files.files["log"]);
}

} // namespace

TEST_CASE("saved on 2x4, killed, restored on 8x1 and on 1: the loss series of the NNX guide goes on") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string guide = std::string(SHARDC_SOURCE_DIR) + "/examples/nnx_guide/", model = guide + "model.yaml ";
    const std::string train = " --mode train --steps ";
    {
        Child child("run " + model + guide + "layout.yaml" + train + "100000 --save-every 1 --save " + saved);
        while (latest_step() < 2 && !child.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        child.end();
    }
    const int killed = latest_step();
    REQUIRE(killed >= 2);
    std::ofstream(folder + "/8x1.yaml")
        << "mesh: {data: 8, model: 1}\nrules: [{batch: data}, {hidden: model}, {embed: ~}]\n";
    const std::map<int, double> whole =
        losses_of("run " + model + guide + "layout.yaml" + train + std::to_string(killed + 3));
    for (const std::string& layout : {folder + "/8x1.yaml", guide + "one_device.yaml", guide + "layout.yaml"}) {
        CAPTURE(layout);
        const std::map<int, double> after =
            losses_of("run " + model + layout + train + std::to_string(killed + 3) + " --restore " + saved);
        REQUIRE(after.size() == 3);
        CHECK(after.begin()->first == killed);
        for (const auto& [step, loss] : after) CHECK(std::abs(loss - whole.at(step)) <= 1e-6 * whole.at(step));
    }
}

TEST_CASE(
    "a scanned model goes on written out, on another mesh, and back: the loss series of the Linen guide goes on") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string guide = std::string(SHARDC_SOURCE_DIR) + "/examples/linen_guide/",
                      rules = "rules: [{batch: data}, {hidden: model}, {embed: ~}, {layers: ~}]\n";
    for (const std::string mesh : {"2x4", "8x1", "1x1"})
        std::ofstream(folder + "/" + mesh + ".yaml") << "mesh: {data: " << mesh[0] << ", model: " << mesh[2] << "}\n"
                                                     << rules;
    const auto line = [&](const std::string& model, const std::string& mesh, int steps) {
        return "run " + guide + model + " " + folder + "/" + mesh + ".yaml --mode train --steps " +
               std::to_string(steps);
    };
    const std::string scanned = "scanned.yaml", written_out = "model.yaml";
    for (const auto& [from, to] : {std::pair(scanned, written_out), std::pair(written_out, scanned)}) {
        const std::map<int, double> whole = losses_of(line(from, "2x4", 5));
        REQUIRE(whole.size() == 5);
        losses_of(line(from, "2x4", 2) + " --save " + saved);
        for (const std::string mesh : {"8x1", "1x1"}) {
            CAPTURE(mesh);
            const std::map<int, double> after = losses_of(line(to, mesh, 5) + " --restore " + saved);
            REQUIRE(after.size() == 3);
            CHECK(after.begin()->first == 2);
            for (const auto& [step, loss] : after)
                CHECK(std::abs(loss - whole.at(step)) <= 1e-6 * std::abs(whole.at(step)));
        }
    }
}

TEST_CASE("a run that is killed at any moment leaves a whole checkpoint, and goes on from it bit for bit") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string model = folder + "/model.yaml", layout = folder + "/layout.yaml";
    std::ofstream(model) << "model: small\naxes: {batch: 4, in: 8, out: 8}\n"
                            "inputs: {x: {axes: [batch, in], init: {normal: {stddev: 1.0}, key: 1}}}\n"
                            "params: {w: {axes: [in, out], init: lecun_normal}}\n"
                            "graph: [{y: {dot: [x, w]}}]\noutputs: [y]\ntrain:\n"
                            "  targets: {t: {axes: [batch, out], init: {normal: {stddev: 1.0}, key: 2}}}\n"
                            "  loss: {mse: [y, t]}\n  optimizer: {adam: {learning_rate: 1.0e-3}}\n";
    std::ofstream(layout) << "mesh: {m: 2}\nrules: [{out: m}, {in: ~}, {batch: ~}]\n";
    const std::string line = "run " + model + " " + layout + " --mode train --steps ";
    const Plan plan = [&] {
        std::ifstream model_file(model), layout_file(layout);
        return train_plan(std::string(std::istreambuf_iterator<char>(model_file), {}),
                          std::string(std::istreambuf_iterator<char>(layout_file), {}));
    }();

    std::mt19937 random(7);
    for (int kills = 0; kills < 20; ++kills) {
        const int before = latest_step();
        Child child(line + "1000000 --log " + log_file + " --save-every 1 --save " + saved +
                    (before >= 0 ? " --restore " + saved : ""));
        while (latest_step() == before && !child.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
        CHECK_FALSE(child.ended());
        child.end();
        CHECK(latest_step() > before);
        Diagnostics diagnostics;
        std::optional<Checkpoint> checkpoint = Checkpoint::open(saved, diagnostics);
        REQUIRE(checkpoint);
        CHECK(checkpoint->select(plan, SaveWhat::all, {}, diagnostics)); // every checksum
        CHECK(diagnostics.all().empty());
        CHECK(checkpoint->step() == latest_step());
    }
    std::ifstream log(log_file);
    const std::map<int, double> losses = logged_losses(std::string(std::istreambuf_iterator<char>(log), {}));
    CHECK(static_cast<int>(losses.size()) >= latest_step());
    CHECK(losses == losses_of(line + std::to_string(losses.size())));
}

struct LimitingFiles : MemoryFiles {
    using MemoryFiles::MemoryFiles;
    std::function<void()> limit;
    bool append(const std::string& path, std::string_view text, std::string& error) override {
        if (!text.empty()) limit();
        return MemoryFiles::append(path, text, error);
    }
};

TEST_CASE("a disk that is full while a checkpoint is written ends the run and leaves the one before") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string guide = std::string(SHARDC_SOURCE_DIR) + "/examples/nnx_guide/";
    const std::string line = "run " + guide + "model.yaml " + guide + "layout.yaml --mode train", to = " --save ";
    MemoryFiles files(SHARDC_SOURCE_DIR);
    REQUIRE(run_command(files, line + to + saved).code == 0);
    const auto limit_files = [](rlim_t bytes) {
        rlimit limit = {};
        getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
    };
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    for (const rlim_t bytes : {rlim_t{0}, rlim_t{1000}, rlim_t{2000000}, rlim_t{4000000}}) {
        CAPTURE(bytes);
        limit_files(bytes);
        const CommandResult before = run_command(files, line + " --steps 2 --restore " + saved + to + saved);
        limit_files(RLIM_INFINITY);
        CHECK(before.code == 2);
        CHECK(before.out == "");
        CHECK(before.err.starts_with("error[E0614]: cannot save to "));
        CHECK(before.err.find(": File too large: it will have ") != std::string::npos);
        LimitingFiles limiting(SHARDC_SOURCE_DIR);
        limiting.limit = [&] { limit_files(bytes); }; // once it runs
        const CommandResult result = run_command(limiting, line + " --log l --steps 2 --restore " + saved + to + saved);
        limit_files(RLIM_INFINITY);
        CHECK(result.code == 2);
        CHECK(result.err.starts_with("error[E0614]: cannot write "));
        CHECK(result.err.find(".safetensors of step 2: File too large\n") != std::string::npos);
        CHECK(latest_step() == 1);
        std::vector<std::string> names;
        for (const fs::directory_entry& entry : fs::directory_iterator(saved))
            names.push_back(entry.path().filename().string());
        CHECK(names.size() == 2);                                                    // latest, step-1
        CHECK(run_command(files, line + " --steps 2 --restore " + saved).code == 0); // it is whole
    }
    std::signal(SIGXFSZ, handler);
}

} // namespace shard
