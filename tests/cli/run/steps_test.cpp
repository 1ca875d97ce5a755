// `run --mode train`: what is printed, logged and returned.
#include "cli/command/arguments.h"
#include "cli/command/command.h"
#include "cli/run/steps.h"
#include "cli/terminal/interrupt.h"
#include "executor/formats/npy_read.h"
#include "executor/formats/npy_write.h"
#include "tests/support/memory_files.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <limits>
#include <sstream>

#include "test_paths.h"

namespace shard {
namespace {

// loss = mean((x w - t)^2) with w = 1, t = 0 and SGD: w' = w - 2 * rate * x^2 w. With x = 1, w is 1, 0.5, 0.25, ...
const std::string model = R"(model: line
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

// Ctrl-C comes while the second step is logged.
struct InterruptingFiles : MemoryFiles {
    bool append(const std::string& path, std::string_view text, std::string& error) override {
        if (text.starts_with("{\"step\": 1")) std::raise(SIGINT);
        return MemoryFiles::append(path, text, error);
    }
};

struct FullDisk : MemoryFiles {
    bool append(const std::string&, std::string_view, std::string& error) override {
        error = "No space left on device";
        return false;
    }
};

template<class F>
CommandResult run_line(F& files, const std::string& line) {
    files.files["model.yaml"] = model;
    files.files["layout.yaml"] = "mesh: {data: 2}\nrules: [{batch: data}, {in: ~}]\n";
    return run_command(files, line);
}

} // namespace

TEST_CASE("train: a value of the graph as the loss and as a metric gives the steps of the loss that is written out") {
    const std::string by_op = R"(model: line
axes: {batch: 4, in: 1}
inputs: {x: {axes: [batch, in], init: ones}}
params: {w: {axes: [in], init: ones}}
graph: [{y: {mul: [x, w]}}, {square: {mul: [y, y]}}]
outputs: [y]
train: {loss: {mean: square}, metrics: {also: {mean: square}}, optimizer: {sgd: {learning_rate: 0.25}}}
)";
    std::string by_name = by_op;
    by_name.replace(by_name.find(", {square: {mul: [y, y]}}]"), 26, ", {l: {mean: {mul: [y, y]}}}]");
    by_name.replace(by_name.find("{mean: square}, metrics: {also: {mean: square}}"), 47, "l, metrics: {also: l}");
    const auto steps = [](const std::string& text) {
        MemoryFiles files;
        files.files["model.yaml"] = text;
        files.files["layout.yaml"] = "mesh: {data: 2}\nrules: [{batch: data}, {in: ~}]\n";
        const CommandResult result =
            run_command(files, "run model.yaml layout.yaml --mode train --steps 3 --verify --log log");
        CHECK_MESSAGE(result.code == 0, result.err);
        std::vector<std::string> lines;
        std::istringstream log(files.files["log"]);
        for (std::string line; std::getline(log, line);) {
            nlohmann::json step = nlohmann::json::parse(line);
            step.erase("seconds");
            lines.push_back(step.dump());
        }
        return lines;
    };
    CHECK(steps(by_op).size() == 3);
    CHECK(steps(by_op) == steps(by_name));
}

TEST_CASE("train: a line a step, the parameters, and figures of a step") {
    MemoryFiles files;
    const CommandResult result = run_line(files, "run model.yaml layout.yaml --mode train --steps 3 --verify --log l");
    CHECK(result.err == "");
    CHECK(result.code == 0);
    CHECK(result.out.starts_with("line, train, run on data 2 = 2 devices\n\n"
                                 "step 0  loss 1.0\nstep 1  loss 0.25\nstep 2  loss 0.0625\n\n"
                                 "  parameter  type       mean  least   most  first values\n"
                                 "  w          f32 (1,)  0.125  0.125  0.125  0.125\n\n"));
    CHECK(result.out.find("sent between devices in a step, all together") != std::string::npos);
    CHECK(result.out.find("\nverified against the same model on one device") != std::string::npos);
    std::istringstream log(files.files["l"]);
    std::string line;
    for (int step = 0; std::getline(log, line); ++step) {
        const nlohmann::json entry = nlohmann::json::parse(line);
        CHECK(entry["step"] == step);
        CHECK(entry["loss"] == std::vector<double>{1, 0.25, 0.0625}.at(static_cast<size_t>(step)));
        CHECK(entry["seconds"] > 0);
    }
    run_line(files, "run model.yaml layout.yaml --mode train --log l");
    CHECK(files.files["l"].find("{\"step\": 0, \"loss\": 1.0, \"seconds\": ", 100) != std::string::npos); // appended
}

TEST_CASE("train: a model of one number trains, be it the first and the only buffer that is updated") {
    MemoryFiles files;
    files.files = {{"model.yaml", "model: one\nparams: {w: {shape: [], init: ones}}\ngraph: [{y: {mul: [w, w]}}]\n"
                                  "outputs: [y]\n"
                                  "train: {loss: {mean: y}, optimizer: {sgd: {learning_rate: 0.25}}}\n"},
                   {"layout.yaml", "mesh: {data: 2}\n"}};
    const CommandResult result =
        run_command(files, "run model.yaml layout.yaml --mode train --steps 3 --verify --format text");
    CHECK(result.err == "");
    CHECK(result.code == 0);
    CHECK(result.out.starts_with("one, train, run on data 2 = 2 devices\n\n"
                                 "step 0  loss 1.0\nstep 1  loss 0.25\nstep 2  loss 0.0625\n\n"
                                 "  parameter  type     mean  least   most  first values\n"
                                 "  w          f32 ()  0.125  0.125  0.125  0.125\n\n"));
}

TEST_CASE("train: JSON has every step, and the timing of those that were repeated") {
    MemoryFiles files;
    const CommandResult result =
        run_line(files, "run model.yaml layout.yaml --mode train --steps 2 --repeat 3 --format json");
    const nlohmann::json json = nlohmann::json::parse(result.out);
    REQUIRE(json["steps"].size() == 5);
    CHECK(json["steps"][1] == nlohmann::json{{"step", 1}, {"loss", 0.25}});
    CHECK(json["stopped"] == false);
    CHECK(json["timing"]["warm_up"] == 2);
    CHECK(json["timing"]["count"] == 3);
    CHECK(json["timing"]["mean_seconds"] >= json["timing"]["least_seconds"]);
    CHECK(json["wire_bytes_total"]["equal"] == true);
    const CommandResult text = run_line(files, "run model.yaml layout.yaml --repeat 3");
    CHECK(text.out.find(" per step (mean +- std. dev. of 3 runs, after 1 to warm up)\n") != std::string::npos);
    CHECK(text.out.find("\npredicted for ") != std::string::npos);
}

TEST_CASE("train: data changes from step to step") {
    MemoryFiles files;
    const std::string path = std::string(SHARDC_TEST_DIR) + "/x_steps.npy";
    Diagnostics diagnostics;
    REQUIRE(write_npy(path, make_tensor(DType::f32, {2, 4, 1}, [](i64 i) { return i < 4 ? 1.0 : 0.0; }), diagnostics));
    const CommandResult result =
        run_line(files, "run model.yaml layout.yaml --mode train --steps 4 --verify --data x=" + path);
    CHECK(result.code == 0);
    CHECK(result.out.find("step 0  loss 1.0\nstep 1  loss 0.0\nstep 2  loss 0.25\nstep 3  loss 0.0\n") !=
          std::string::npos);
}

TEST_CASE("train: Ctrl-C ends the run after the running step, with exit code 130") {
    InterruptingFiles files;
    const CommandResult result = run_line(files, "run model.yaml layout.yaml --mode train --steps 1000 --log l");
    CHECK(result.code == 130);
    CHECK(result.out.find("step 1  loss 0.25\n\nstopped after 2 of 1000 steps\n\n  parameter") != std::string::npos);
    CHECK(result.out.find("step 2") == std::string::npos);
    {
        const Interrupt interrupt;
        CHECK_FALSE(interrupt.requested()); // what was asked of another run is over
        std::raise(SIGINT);
        CHECK(interrupt.requested());
    }
}

TEST_CASE("train: slips are refused before or at the first step") {
    MemoryFiles files;
    CommandResult result = run_line(files, "run model.yaml layout.yaml --steps 3");
    CHECK(result.code == 2);
    CHECK(result.err == "error[E0701]: the plan has no steps to follow: it updates nothing\n"
                        "  = help: plan with --mode train; --repeat N runs the plan again to time it\n\n");
    result = run_line(files, "run model.yaml layout.yaml --mode train --data v=x.npy");
    CHECK(result.code == 2);
    CHECK(result.err.starts_with("error[E0706]: the model has no input 'v'\n"));
    FullDisk full;
    result = run_line(full, "run model.yaml layout.yaml --mode train --steps 3 --log l");
    CHECK(result.code == 2);
    CHECK(result.err.starts_with("error[E0703]: cannot write 'l': No space left on device\n"));
    CHECK(result.out.find("step 1") == std::string::npos);
}

TEST_CASE("train: a plan file has one mode, and another one is refused") {
    MemoryFiles files;
    CHECK(run_line(files, "plan model.yaml layout.yaml --mode train -o p.json").code == 0);
    CHECK(run_line(files, "run p.json --mode train").code == 0);
    const CommandResult other = run_line(files, "run p.json --mode forward");
    CHECK(other.code == 2);
    CHECK(other.err.find("error[E0701]: the plan file is for mode train, not forward\n") == 0);
    CHECK(other.out.empty());
}

TEST_CASE("train: progress is shown on a terminal only") {
    MemoryFiles files;
    files.files["model.yaml"] = model;
    files.files["layout.yaml"] = "mesh: {data: 2}\n";
    std::istringstream in;
    std::ostringstream out, err;
    Env env{in, out, err, files, false, false, 120, true};
    CHECK(run_cli({"run", "model.yaml", "layout.yaml", "--mode", "train", "--steps", "3"}, env) == 0);
    CHECK(err.str().find("\r\x1b[K1 of 3 steps done  loss 1.0  ") != std::string::npos);
    CHECK(err.str().ends_with("\r\x1b[K"));
    CHECK(out.str().find('\x1b') == std::string::npos);
    err.str("");
    CHECK(run_cli({"run", "model.yaml", "layout.yaml", "--mode", "train", "--steps", "1"}, env) == 0);
    CHECK(err.str().find("1 of 1 steps done  loss 1.0  0 s left") != std::string::npos);
}

TEST_CASE("a scalar is printed in the precision of its type, as numpy prints it") {
    CHECK(scalar_text(DType::f32, static_cast<double>(1.4580092F)) == "1.4580092");
    CHECK(scalar_text(DType::f32, static_cast<double>(0.1F)) == "0.1");
    CHECK(scalar_text(DType::f64, 0.1) == "0.1");
    CHECK(scalar_text(DType::f32, 3) == "3.0");
    CHECK(scalar_text(DType::i32, 3) == "3");
    CHECK(scalar_text(DType::f32, 1e-5F) == "1e-05");
    CHECK(scalar_text(DType::f32, -std::numeric_limits<double>::quiet_NaN()) == "nan");
    CHECK(scalar_text(DType::f32, std::numeric_limits<double>::infinity()) == "inf");
}

} // namespace shard
