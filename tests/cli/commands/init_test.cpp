// `init`: what is written, and what is not written over.
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

const std::string config = R"({
  "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4,
  "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512, "max_position_embeddings": 256
})";

CommandResult init(MemoryFiles& files, const std::string& arguments = {}) {
    return run_command(files, "shardc init " + arguments);
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("init alone writes a folder that check passes, without a warning") {
    MemoryFiles files;
    const CommandResult made = init(files);
    CHECK(made.code == 0);
    CHECK(files.files.size() == 5);
    CHECK(files.files.contains(".github/workflows/shardc.yml"));
    const CommandResult check = run_command(files, "shardc check --strict");
    CAPTURE(check.out);
    CHECK(check.code == 0);
    CHECK(holds(check.out, "ok       layout.yaml"));
    // Its policy is one that something breaks.
    CHECK(run_command(files, "shardc check --set batch=262144000").code == 1);
}

TEST_CASE("init below a repository's root: the workflow checks that folder, and has to be moved") {
    MemoryFiles files;
    files.files[".git/HEAD"] = "";
    const CommandResult made = init(files, "-o plans/llama");
    CHECK(made.code == 0);
    REQUIRE(files.files.contains("plans/llama/.github/workflows/shardc.yml"));
    CHECK(holds(files.files.at("plans/llama/.github/workflows/shardc.yml"),
                "with: {working-directory: \"plans/llama\"}\n"));
    CHECK(holds(made.out, "move .github to the root of the repository"));
    // At the root it lies where GitHub looks.
    const CommandResult root = init(files);
    CHECK_FALSE(holds(files.files.at(".github/workflows/shardc.yml"), "working-directory"));
    CHECK_FALSE(holds(root.out, "move .github"));
}

TEST_CASE("init writes over nothing, unless it is told to") {
    MemoryFiles files;
    files.files["shardc.yaml"] = "mine";
    const CommandResult refused = init(files);
    CHECK(refused.code == 2);
    CHECK(holds(refused.err, "error[E0714]: shardc.yaml is there already"));
    CHECK(files.files.size() == 1);
    CHECK(files.files["shardc.yaml"] == "mine");
    CHECK(init(files, "-o sub/folder").code == 0);
    CHECK(files.files.contains("sub/folder/.github/workflows/shardc.yml"));
    CHECK(init(files, "-o sub/folder").code == 2);
    CHECK(init(files, "--force").code == 0);
    CHECK(files.files["shardc.yaml"] != "mine");
}

TEST_CASE("the layout that init writes is the fastest that fits, for the devices and the hardware that are named") {
    MemoryFiles files;
    files.files["config.json"] = config;
    const CommandResult made = init(files, "--from config.json --devices 4 --hardware a100 --batch 8 --length 128");
    CAPTURE(made.err);
    REQUIRE(made.code == 0);
    CHECK(holds(files.files["model.yaml"], "batch: 8 "));
    CHECK(holds(files.files["model.yaml"], "length: 128 "));
    CHECK(holds(files.files["layout.yaml"], "hardware: a100"));
    const auto seconds = [&](const std::string& layout) {
        files.files["other.yaml"] = layout;
        const std::string json =
            run_command(files, "shardc plan model.yaml other.yaml --mode train --quick --format json").out;
        const size_t at = json.find("\"step_seconds\":");
        REQUIRE(at != std::string::npos);
        return std::stod(json.substr(at + 15));
    };
    const double best = seconds(files.files["layout.yaml"]);
    for (const char* const layout :
         {"mesh: {data: 4}\nrules: [{batch: data}]\nhardware: a100\n",
          "mesh: {data: 4}\nrules: [{batch: data}]\nfsdp: {axis: data}\nhardware: a100\n",
          "mesh: {model: 4}\nrules: [{heads: model}, {mlp: model}, {vocab: model}]\nhardware: a100\n",
          "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {heads: model}, {mlp: model}]\nhardware: a100\n"})
        CHECK(best <= seconds(layout));
}

TEST_CASE("where no layout fits, the one that needs least is written, with a warning") {
    MemoryFiles files;
    files.files["config.json"] = R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672,
        "num_hidden_layers": 2, "num_attention_heads": 64, "vocab_size": 4000000, "max_position_embeddings": 2048})";
    const CommandResult made = init(files, "--from config.json --devices 2");
    CHECK(made.code == 0);
    CHECK(holds(made.err, "warning[W0802]: no layout fits on 2 devices of h100"));
    CHECK(holds(files.files["layout.yaml"], "this one needs least"));
}

TEST_CASE("init says what it does not know, and writes nothing then") {
    const auto says = [](const std::string& text, const std::string& problem, const std::string& options = {}) {
        MemoryFiles files;
        files.files["config.json"] = text;
        const CommandResult result = init(files, "--from config.json " + options);
        CAPTURE(text);
        CAPTURE(result.err);
        CHECK(result.code == 2);
        CHECK(holds(result.err, problem));
        CHECK(files.files.size() == 1);
    };
    const auto with = [](const std::string& from, const std::string& to) {
        std::string text = config;
        return text.replace(text.find(from), from.size(), to);
    };
    says("model_type: llama", "E0807");
    says("[1]", "expected an object");
    says("{}", "'model_type' is missing");
    says(with("\"llama\"", "\"mamba\""), "error[E0808]: no model is made of the family 'mamba'");
    says(with("\"llama\"", "\"mamba\""), "of these one is: ");
    says(with("\"llama\"", "7"), "expected a string");
    says(with("\"llama\"", "\"a\\nb\""), "is no name");
    says(with("\"hidden_size\": 64, ", ""), "'hidden_size' is missing");
    says(with("\"hidden_size\": 64", "\"hidden_size\": -64"), "which is no size");
    says(with("\"hidden_size\": 64", "\"hidden_size\": 0"), "'hidden_size' is 0");
    says(with("\"hidden_size\": 64", "\"hidden_size\": \"64\""), "expected a whole number");
    says(with("\"hidden_size\": 64", "\"hidden_size\": 66"), "has no 4 heads");
    says(with("_heads\": 2", "_heads\": 3"), "4 heads do not share 3");
    says(with("256", "256, \"hidden_act\": \"relu\""), "with the activation 'relu'");
    says(with("256", "256, \"rms_norm_eps\": true"), "expected a number");
    says(with("256", "256, \"tie_word_embeddings\": 1"), "expected true or false");
    says(with("256", "256, \"torch_dtype\": \"int8\""), "parameters of the type 'int8'");
    says(with("256", "256, \"rope_scaling\": {\"rope_type\": \"longrope\"}"), "of the type 'longrope'");
    says(with("\"llama\"", "\"qwen2\", \"use_sliding_window\": true"), "a window in some of its layers");
    says(config, "the model sees 256 positions, and --length is 512", "--length 512");
    says(config, "--devices takes a whole number", "--devices 0");
    says(config, "there is no hardware 'h1000'", "--hardware h1000");
    MemoryFiles none;
    CHECK(holds(init(none, "--devices 4").err, "--devices says more about --from"));
    CHECK(holds(init(none, "--from nothing.json").err, "E0702"));
    CHECK(none.files.empty());
}

} // namespace shard
