// Checkpoints that transformers wrote (tests/oracle/huggingface_check.py --record), restored into the models that
// `init` makes of their config.json: logits are those that transformers computed.
#include "executor/formats/npy_read.h"
#include "test_paths.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace shard {
namespace {

const std::string recorded = std::string(SHARDC_SOURCE_DIR) + "/tests/cli/run/huggingface/";

std::vector<std::string> checkpoints() {
    std::vector<std::string> names;
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(recorded))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<float> elements_of(const std::string& path, Shape& shape) {
    Diagnostics diagnostics;
    std::optional<NpyFile> file = NpyFile::open(path, diagnostics);
    REQUIRE(file);
    shape = file->shape();
    const std::optional<Tensor> tensor = file->read(DType::f32, diagnostics);
    REQUIRE(tensor);
    std::vector<float> elements(tensor->bytes.size() / sizeof(float));
    std::memcpy(elements.data(), tensor->bytes.data(), tensor->bytes.size());
    return elements;
}

// The largest difference of two files of one shape.
double difference(const std::string& a, const std::string& b) {
    Shape shape, other;
    const std::vector<float> x = elements_of(a, shape), y = elements_of(b, other);
    REQUIRE(shape == other);
    double most = 0;
    for (size_t i = 0; i < x.size(); ++i)
        most = std::isfinite(x[i]) ? std::max(most, std::fabs(static_cast<double>(x[i]) - y[i])) : HUGE_VAL;
    return most;
}

} // namespace

TEST_CASE("checkpoints of transformers are restored as they are: its logits, on one device and on a mesh") {
    const std::string made = std::string(SHARDC_TEST_DIR) + "/huggingface_" + std::to_string(::getpid());
    std::filesystem::create_directories(made);
    const std::vector<std::string> names = checkpoints();
    CHECK(names.size() >= 17);
    for (const std::string& name : names) {
        CAPTURE(name);
        MemoryFiles files{SHARDC_SOURCE_DIR};
        const std::string from = recorded + name;
        const CommandResult init = run_command(files, "shardc init --from " + from + "/config.json --devices 4");
        CAPTURE(init.err);
        REQUIRE(init.code == 0);
        const CommandResult check = run_command(files, "shardc check model.yaml layout.yaml --strict");
        CAPTURE(check.out);
        CHECK(check.code == 0);
        files.files["one.yaml"] = "mesh: {}\n";
        files.files["four.yaml"] = "mesh: {data: 2, model: 2}\n"
                                   "rules: [{batch: data}, {heads: model}, {mlp: model}, {experts: model}]\n";
        const bool pictures = std::filesystem::exists(from + "/image.npy");
        const std::string sizes = pictures ? " --set batch=2" : " --set batch=2 --set length=6";
        const std::string output = made + "/" + name + ".npy";
        std::string given = fmt::format(" --quiet --restore {} --output logits={}", from, output);
        for (const char* const input : {"tokens", "decoder_tokens", "image"})
            if (const std::string file = fmt::format("{}/{}.npy", from, input); std::filesystem::exists(file))
                given += fmt::format(" --input {}={}", input, file);
        const auto restored = [&](const std::string& plan) {
            const CommandResult run = run_command(files, "shardc run " + plan + given);
            CAPTURE(run.err);
            REQUIRE(run.code == 0);
            CHECK(run.err.find("not used") == std::string::npos);
            CHECK(difference(output, from + "/logits.npy") < 1e-4);
        };
        restored("model.yaml one.yaml" + sizes);
        restored("model.yaml four.yaml" + sizes);
        // Written out, a layer has a parameter of its own; and the names are in the plan.
        std::string& model = files.files["model.yaml"];
        for (size_t at = 0; (at = model.find(", scan: true")) != std::string::npos;) model.erase(at, 12);
        const CommandResult plan =
            run_command(files, "shardc plan model.yaml four.yaml -o plan.json --only verdict --quick" + sizes);
        CAPTURE(plan.err);
        REQUIRE(plan.code == 0);
        files.files.erase("huggingface.yaml");
        restored("plan.json");
    }
    std::filesystem::remove_all(made);
}

TEST_CASE("a checkpoint of another config is refused, with the names that it would have") {
    MemoryFiles files{SHARDC_SOURCE_DIR};
    REQUIRE(run_command(files, "shardc init --from " + recorded + "qwen3/config.json").code == 0);
    files.files["one.yaml"] = "mesh: {}\n";
    const std::string run = "shardc run model.yaml one.yaml --quiet --set batch=2 --set length=6 --restore " + recorded;
    const CommandResult other = run_command(files, run + "qwen2");
    CHECK(other.code == 2);
    CHECK(other.err.find("E0613") != std::string::npos);
    CHECK(other.err.find("there 'llama_block.q_norm' would be called 'model.layers.0.self_attn.q_norm.weight'") !=
          std::string::npos);
    std::string& model = files.files["model.yaml"];
    model.replace(model.find("heads: 4"), 8, "heads: 2");
    const CommandResult narrower = run_command(files, run + "qwen3");
    CHECK(narrower.code == 2);
    CHECK(narrower.err.find("E0613") != std::string::npos);
    CHECK(narrower.err.find("which does not fit") != std::string::npos);
}

} // namespace shard
